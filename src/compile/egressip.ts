import { type Address, compareAddresses, parseAddress } from '../model/address.js'
import type { Hosting } from '../model/assignment.js'
import { hostingNetworks, hostOf } from '../model/hosting.js'
import { type Position, type Problem, problem } from '../model/problem.js'
import type { ClusterFacts, ClusterNode } from '../model/topology.js'
import { nameOf } from './audience.js'

/** An egress IP (RFC 5952) of an EgressIP object on a node. */
export interface Held {
  readonly egressIP: string
  readonly object: string
  readonly node: string
}

/** The same with its address read, and the intent it comes from as `EgressIP/<name>`. */
export interface HeldAddress {
  readonly address: Address
  readonly for: string
}

/** Each address once, in order; of several objects with one address on one node the first by name stands for it. */
export const each = <T extends HeldAddress>(held: readonly T[]): readonly T[] => {
  const sorted = [...held].sort((a, b) => compareAddresses(a.address, b.address) || (a.for < b.for ? -1 : 1))
  return sorted.filter((one, at) => at === 0 || compareAddresses(one.address, (sorted[at - 1] as T).address) !== 0)
}

/** An egress IP on a node, and the network of the node that hosts it; null where none does. */
export interface Hosted extends HeldAddress {
  readonly hosting: Hosting | null
}

/** The egress IPs that a node holds, in no order. */
export function hostedAddresses(node: ClusterNode, facts: ClusterFacts, held: readonly Held[]): readonly Hosted[] {
  if (held.length === 0) return []
  const networks = hostingNetworks(node, facts)
  return held.flatMap(({ egressIP, object, node: holder }) => {
    const address = holder === node.name ? parseAddress(egressIP) : undefined
    return address ? [{ address, for: `EgressIP/${object}`, hosting: hostOf(address, networks) }] : []
  })
}

/** Those of the primary network: they are on the bridge of the node. */
export const primaryAddresses = (hosted: readonly Hosted[]): readonly HeldAddress[] =>
  each(hosted.filter(({ hosting }) => hosting?.type === 'primary')).map(({ address, for: object }) => ({ address, for: object }))

/** Addresses that are a node's own whatever else they are said to be: those of its gateway and node-primary-ifaddr. */
export const certainAddresses = (node: ClusterNode): readonly Address[] =>
  [...(node.gateway?.addresses ?? []), ...node.primary].map(({ address }) => address)

/** Addresses that a node lists: its own, and maybe egress IPs. */
export const listedAddresses = (node: ClusterNode): readonly Address[] => [
  ...node.internalIPs,
  ...node.hostPrefixes.map(({ address }) => address),
]

/** A node's own addresses, and the egress IPs that it holds: never the same one in both. */
export interface NodeAddresses {
  readonly own: readonly Address[]
  readonly egress: readonly HeldAddress[]
  readonly problems: readonly Problem[]
}

/**
 * Divides the addresses of a node. The certain ones are its own: a guard that silenced one would cut the node off. Its InternalIPs and host-cidrs can also list egress IPs, its own or, where the snapshot is older than a move,
 * another node's: those are not the node's.
 */
export function divideAddresses(
  node: ClusterNode,
  egress: readonly HeldAddress[],
  egressIPs: ReadonlySet<string>,
  sourceOf: (name: string) => Position | null,
): NodeAddresses {
  const certain = certainAddresses(node)
  const isCertain = new Set(certain.map(({ text }) => text))
  const held = new Set(node.heldEgressIPs.map(({ text }) => text))
  const own = [...certain, ...listedAddresses(node).filter(({ text }) => !egressIPs.has(text) && !held.has(text))]
  return {
    own: [...new Map(own.map((address) => [address.text, address])).values()].sort(compareAddresses),
    egress: egress.filter(({ address }) => !isCertain.has(address.text)),
    problems: egress
      .filter(({ address }) => isCertain.has(address.text))
      .map(({ address, for: object }) =>
        problem('AddressConflict', {
          severity: 'warning',
          object: nameOf(object),
          source: sourceOf(nameOf(object)),
          message: `${address.text} is node ${node.name}'s own address, so its bundle does not treat it as an egress IP.`,
        }),
      ),
  }
}
