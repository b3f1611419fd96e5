import { isSingle } from '../host/addresses.js'
import type { Link, LiveAddress } from '../host/links.js'
import { contains, networkOf, printPrefix } from '../model/address.js'
import { addresses, type HostAddress } from '../syntax/addresses.js'
import { type Neighbor, neighbors } from '../syntax/neighbors.js'
import type { Finding } from './finding.js'

/** What of a host decides which addresses ovnkube-node puts there. */
export interface AddressPlace {
  readonly links: readonly Link[]
  /** External bridges of the bundle. */
  readonly bridges: ReadonlySet<string>
  /** Egress IPs to which a flow of the bundle translates by mark. */
  readonly marked: ReadonlySet<string>
  /** Why an address is an egress IP that this node should not have, by its text. */
  readonly elsewhere: ReadonlyMap<string, string>
}

/** Whether an external bridge has a network with the address. Where it has none (a cloud with single node addresses), ovnkube-node serves the address in OVN alone. */
export const isOnBridge = (
  { links, bridges }: Pick<AddressPlace, 'links' | 'bridges'>,
  { address }: Pick<HostAddress['address'], 'address'>,
): boolean =>
  links.some(
    (link) =>
      bridges.has(link.name) && link.addresses.some((live) => !isSingle(live.address) && contains(networkOf(live.address), address)),
  )

/**
 * Compares addresses, whoever added them. An egress IP of the bridge is asked for only where a flow translates to it by mark: ovnkube-node has
 * every other one in OVN alone.
 */
export function addressFindings(asked: readonly HostAddress[], place: AddressPlace): readonly Finding[] {
  const live = place.links.flatMap((link) => link.addresses)
  const wanted = new Map(asked.map((entry) => [entry.address.address.text, entry]))
  const lacking = asked.flatMap((entry): readonly Finding[] => {
    const { address, dev } = entry
    const here = live.filter((each) => each.address.address.text === address.address.text)
    const there = here.find((each) => each.dev === dev && each.address.length === address.length)
    const isOptional =
      isSingle(address) && place.bridges.has(dev) && !(place.marked.has(address.address.text) && isOnBridge(place, address))
    const [other] = here
    if (!there && !other && isOptional) return []
    const finding = { subsystem: 'addresses', key: addresses.key(entry), for: entry.for } as const
    if (!there && other) return [{ ...finding, what: 'different', says: `it is ${printPrefix(other.address)} on ${other.dev}` }]
    if (!there) return [{ ...finding, what: 'missing', says: 'no interface has it, so nobody answers for it' }]
    return isSource(there)
      ? [{ ...finding, what: 'different', says: 'the host may choose it as a source: its preferred lifetime is not 0' }]
      : []
  })
  const stale = live.flatMap(({ address, dev }): readonly Finding[] => {
    const text = address.address.text
    const says = isSingle(address) && !wanted.has(text) ? place.elsewhere.get(text) : undefined
    const key = `${printPrefix(address)} dev ${dev}`
    return says === undefined ? [] : [{ subsystem: 'addresses', what: 'stale', key, says: `the node answers for it; ${says}`, for: null }]
  })
  return [...lacking, ...stale]
}

/** A preferred IPv6 address is one that the host chooses for its own packets. */
const isSource = ({ address, preferred }: LiveAddress): boolean => address.address.family === 6 && preferred !== 0

/** Compares permanent neighbors, whoever added them. */
export function neighborFindings(asked: readonly Neighbor[], live: readonly Neighbor[]): readonly Finding[] {
  const there = new Map(live.map((entry) => [neighbors.key(entry), entry]))
  return asked.flatMap((entry): readonly Finding[] => {
    const found = there.get(neighbors.key(entry))
    if (found && neighbors.same(found, entry)) return []
    const finding = { subsystem: 'neighbors', key: neighbors.key(entry), for: entry.for } as const
    return [
      found
        ? { ...finding, what: 'different', says: `its MAC is ${found.lladdr}, not ${entry.lladdr}` }
        : { ...finding, what: 'missing', says: `it should be permanent, with the MAC ${entry.lladdr}` },
    ]
  })
}
