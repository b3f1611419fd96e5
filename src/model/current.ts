import { compareAddresses, parseAddress } from './address.js'
import type { PlacementMode } from './cluster.js'
import type { Intent, LiveObjects } from './intent.js'
import type { Lock, LockedObject } from './lock.js'

/** Object to (RFC 5952 address to node). */
export type Holders = ReadonlyMap<string, ReadonlyMap<string, string>>

/**
 * Who has each address now. Advisory: the live status. Enforced: status and lock merged: where the live status is
 * another than the one the lock has seen, something happened since (a fail-over), and the status wins; else the lock does.
 * An object that the topology does not have says nothing, and the lock wins.
 */
export function currentHolders(live: LiveObjects, lock: Lock | null, mode: PlacementMode): Holders {
  const locked = mode === 'enforced' && lock !== null ? lock.objects : {}
  const names = [...new Set([...live.keys(), ...Object.keys(locked)])].sort()
  const holders = names.map((name) => {
    const status = live.get(name)?.status
    const decided: LockedObject['addresses'] = (Object.hasOwn(locked, name) && locked[name]?.addresses) || {}
    const held = new Map(status)
    for (const [address, { node, seen }] of Object.entries(decided)) {
      if (status === undefined || (status.get(address) ?? null) === seen) held.set(address, node)
    }
    return [name, sortByAddress(held)] as const
  })
  return new Map(holders.filter(([, held]) => held.size > 0))
}

/**
 * Addresses of our objects that somebody holds and no object of that name asks for any more: dropped from a spec, or of an object
 * that is gone. In advisory mode the lock still tells which objects are ours. Those of an invalid object are not listed.
 */
export function removedAddresses(intent: Intent, current: Holders, lock: Lock | null): Intent['removed'] {
  const asked = new Map(intent.objects.map((object) => [object.name, new Set(object.addresses.map(({ address }) => address?.text))]))
  const notOurs = new Set([...intent.foreign, ...intent.invalid].map(({ name }) => name))
  const gone = (name: string) => lock !== null && Object.hasOwn(lock.objects, name)
  return [...current].flatMap(([object, held]) => {
    if (notOurs.has(object) || !(asked.has(object) || gone(object))) return []
    return [...held].flatMap(([egressIP, node]) => (asked.get(object)?.has(egressIP) ? [] : [{ object, egressIP, node }]))
  })
}

function sortByAddress(held: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const parsed = [...held].flatMap(([text, node]) => {
    const address = parseAddress(text)
    return address ? [{ address, node }] : []
  })
  return new Map(parsed.sort((a, b) => compareAddresses(a.address, b.address)).map(({ address, node }) => [address.text, node]))
}
