import { type Family, parseAddress } from '../model/address.js'
import type { NodeReason } from '../model/assignment.js'
import type { Inputs } from '../model/inputs.js'
import type { Candidates } from './candidates.js'
import type { Claim } from './claims.js'
import { type Capacity, type Field, type Held, isFull } from './eligibility.js'
import type { Excluded } from './explain.js'
import type { AddressOwners } from './owners.js'

const NOTHING: Held = { ipv4: 0, ipv6: 0 }

const plus = (held: Held, family: Family): Held => (family === 4 ? { ...held, ipv4: held.ipv4 + 1 } : { ...held, ipv6: held.ipv6 + 1 })

/** What each node holds of EgressIPs that are not ours: what their status says, where no object of ours has the better right. */
export function foreignHeld({ intent }: Inputs, field: Field, owners: AddressOwners): readonly Held[] {
  const held = field.nodes.map(() => NOTHING)
  for (const object of intent.foreign) {
    for (const [text, node] of object.status) {
      const index = field.indexOf.get(node)
      const address = parseAddress(text)
      if (address && index !== undefined && owners.ownerOf(text) === object.name) held[index] = plus(held[index] as Held, address.family)
    }
  }
  return held
}

/** What each node holds when the claims stand where `nodeOf` says, on top of `base`. */
export function count(claims: readonly Claim[], nodeOf: (claim: Claim) => number | null, base: readonly Held[]): readonly Held[] {
  const held = [...base]
  for (const claim of claims) {
    const index = nodeOf(claim)
    if (index !== null) held[index] = plus(held[index] as Held, claim.address.family)
  }
  return held
}

/** Why each node does not take a claim, when the claims stand where `nodeOf` says. What is the same for many claims is counted once. */
export function exclusions(
  field: Field,
  claims: readonly Claim[],
  nodeOf: (claim: Claim) => number | null,
  held: readonly Held[],
): (claim: Claim) => Excluded {
  const places = placesBy(claims, nodeOf)
  const isOpen = (node: number, family: Family) => !isFull(field.capacity[node] as Capacity, held[node] as Held, family)
  const countOnce = perCandidates((candidates, family) => {
    const counts: Partial<Record<NodeReason, number>> = {}
    for (const node of field.nodes.keys()) {
      const reason = candidates.exclusionOn(node) ?? (isOpen(node, family) ? null : 'CapacityExhausted')
      if (reason) counts[reason] = (counts[reason] ?? 0) + 1
    }
    return counts
  })
  return (claim) => {
    const { candidates, address, object } = claim
    const own = places.get(object.name) ?? new Set()
    const shared = [...own].filter((node) => candidates.exclusionOn(node) === null && isOpen(node, address.family)).length
    const reasonOn = (node: number): NodeReason | null =>
      candidates.exclusionOn(node) ?? (isOpen(node, address.family) ? (own.has(node) ? 'HoldsSameObject' : null) : 'CapacityExhausted')
    return {
      counts: { ...countOnce(candidates, address.family), ...(shared > 0 && { HoldsSameObject: shared }) },
      *nodes() {
        for (const [index, { name }] of field.nodes.entries()) {
          const reason = reasonOn(index)
          if (reason) yield { node: name, reason }
        }
      },
    }
  }
}

/** How many nodes would do for a claim, beside the claims that stay and what the nodes hold with them. */
export function choicesBeside(field: Field, staying: readonly Claim[], held: readonly Held[]): (claim: Claim) => number {
  const places = placesBy(staying, ({ holder }) => holder)
  const isOpen = (node: number, family: Family) => !isFull(field.capacity[node] as Capacity, held[node] as Held, family)
  const countOnce = perCandidates(({ pool }, family) => pool.nodes.filter((node) => isOpen(node, family)).length)
  return ({ candidates, address, object }) => {
    const own = [...(places.get(object.name) ?? [])]
    const taken = own.filter((node) => candidates.exclusionOn(node) === null && isOpen(node, address.family))
    return countOnce(candidates, address.family) - taken.length
  }
}

/** Object to the nodes that hold it. */
export function placesBy(claims: readonly Claim[], nodeOf: (claim: Claim) => number | null): ReadonlyMap<string, ReadonlySet<number>> {
  const places = new Map<string, Set<number>>()
  for (const claim of claims) {
    const node = nodeOf(claim)
    if (node === null) continue
    const nodes = places.get(claim.object.name)
    if (nodes) nodes.add(node)
    else places.set(claim.object.name, new Set([node]))
  }
  return places
}

/** Works something out once for all claims that have the same candidates and family. */
export function perCandidates<T>(work: (candidates: Candidates, family: Family) => T): (candidates: Candidates, family: Family) => T {
  const known = { 4: new Map<Candidates, T>(), 6: new Map<Candidates, T>() }
  return (candidates, family) => {
    const found = known[family].get(candidates)
    if (found !== undefined) return found
    const made = work(candidates, family)
    known[family].set(candidates, made)
    return made
  }
}
