import { compareAddresses, type Family, parseAddress, printPrefix } from '../model/address.js'
import type { Assignment, NodeReason, Placement, PlacementOptions, Unassigned } from '../model/assignment.js'
import type { Inputs } from '../model/inputs.js'
import { type Problem, problem } from '../model/problem.js'
import type { ClusterNode } from '../model/topology.js'
import { adviceOn } from './advice.js'
import { type Claim, claimsOf } from './claims.js'
import { type Capacity, type Field, fieldOf, type Held, isFull } from './eligibility.js'
import { explain, refused, withoutNode } from './explain.js'
import { marksOf } from './marks.js'
import { type AddressOwners, addressOwners } from './owners.js'
import { solve } from './solver.js'

export const NO_OPTIONS: PlacementOptions = { drain: [], down: [], rebalance: null }

/**
 * Which node hosts which egress IP, and why not. Pure: the same inputs in any order give the same answer.
 *
 * Every valid current assignment stays (`Claim.holder`). The addresses of drained nodes are placed next, then all others: as
 * many as possible, by precedence; then with the least sum of squares of the addresses per node; then, taking the addresses by
 * name of their object and value, on the first node by name (`solve`). Addresses of EgressIPs that are not ours count into load
 * and capacity. A drained address that finds no place stays where it is.
 */
export function place(inputs: Inputs, options: PlacementOptions): Placement {
  const field = fieldOf(inputs, options)
  const owners = addressOwners(inputs)
  const { claims, refusals, problems: claimProblems } = claimsOf(inputs, field, owners)
  const problems: Problem[] = [...claimProblems]

  const draining = (claim: Claim) => claim.holder !== null && field.standing[claim.holder] === 'Draining'
  const staying = claims.filter((claim) => claim.holder !== null && !draining(claim))
  const looking = [...claims.filter(draining), ...claims.filter((claim) => claim.holder === null)]
  const foreign = foreignHeld(inputs, field, owners)
  const found = seek(field, staying, looking, foreign, options.rebalance ?? 0)
  const nodeOf = (claim: Claim): number | null => found.get(claim) ?? claim.holder

  const held = count(claims, nodeOf, foreign)
  const shared = new Set(claims.flatMap((claim) => (nodeOf(claim) === null ? [] : [`${nodeOf(claim)} ${claim.object.name}`])))
  const excluded = (claim: Claim): Unassigned['nodes'] =>
    field.nodes.flatMap((node, index) => {
      const full: NodeReason | null = isFull(capacityAt(field, index), heldAt(held, index), claim.address.family)
        ? 'CapacityExhausted'
        : null
      const reason = claim.exclusions[index] ?? full ?? (shared.has(`${index} ${claim.object.name}`) ? 'HoldsSameObject' : null)
      return reason ? [{ node: node.name, reason }] : []
    })

  const settled = count(staying, ({ holder }) => holder, foreign)
  const occupied = new Set(staying.map(({ holder, object }) => `${holder} ${object.name}`))
  const choices = ({ object, address, exclusions }: Claim): number =>
    exclusions.filter((reason, index) => {
      const open = reason === null && !occupied.has(`${index} ${object.name}`)
      return open && !isFull(capacityAt(field, index), heldAt(settled, index), address.family)
    }).length

  const assignments: Assignment[] = removals(inputs)
  const unassigned: Unassigned[] = []
  const note = (entry: { readonly unassigned: Unassigned; readonly problem: Problem }) => {
    unassigned.push(entry.unassigned)
    problems.push(entry.problem)
  }
  for (const refusal of refusals) note(refused(refusal))
  for (const claim of claims) {
    const index = nodeOf(claim)
    if (index === null) note(withoutNode(claim, excluded(claim)))
    else assignments.push(assignmentOf(inputs, field, claim, index, choices(claim)))
    if (draining(claim) && index === claim.holder) problems.push(stuck(claim, explain(excluded(claim)).because))
  }
  const placed = claims.flatMap((claim) => {
    const index = nodeOf(claim)
    return index === null ? [] : [{ claim, index }]
  })
  const { marks, problems: markProblems } = marksOf(inputs)
  problems.push(...unknownNodes(field, options), ...overfull(field, held), ...markProblems, ...adviceOn(inputs, field, placed, held))
  return { assignments: sorted(assignments), unassigned: sorted(unassigned), marks, problems }
}

/** Where the solver puts the claims; those that find no node are not in the answer. */
function seek(
  field: Field,
  staying: readonly Claim[],
  looking: readonly Claim[],
  foreign: readonly Held[],
  budget: number,
): ReadonlyMap<Claim, number> {
  const claims = [...staying, ...looking]
  const groups = new Map([...new Set(claims.map(({ object }) => object.name))].map((name, group) => [name, group]))
  const slots = claims.map(({ object, address, exclusions, holder }, slot) => ({
    group: groups.get(object.name) as number,
    family: address.family,
    nodes: exclusions.flatMap((reason, index) => (reason === null ? [index] : [])),
    home: slot < staying.length ? holder : null,
  }))
  const seats = field.nodes.map((_, index) => ({ capacity: capacityAt(field, index), held: heldAt(foreign, index) }))
  const ties = claims.map((_, slot) => slot).sort((a, b) => compareClaims(claims[a] as Claim, claims[b] as Claim))
  const nodes = solve({ slots, seats, groups: groups.size }, ties, budget)
  return new Map(claims.flatMap((claim, slot) => (typeof nodes[slot] === 'number' ? [[claim, nodes[slot]]] : [])))
}

/** By name of the object, then by address. */
function compareClaims(a: Claim, b: Claim): number {
  return compareNames(a.object.name, b.object.name) || compareAddresses(a.address, b.address)
}

const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const NOTHING: Held = { ipv4: 0, ipv6: 0 }
const heldAt = (held: readonly Held[], index: number): Held => held[index] ?? NOTHING
const capacityAt = (field: Field, index: number): Capacity => field.capacity[index] as Capacity

const plus = (held: Held, family: Family): Held => (family === 4 ? { ...held, ipv4: held.ipv4 + 1 } : { ...held, ipv6: held.ipv6 + 1 })

/** What each node holds of EgressIPs that are not ours: what their status says, where no object of ours has the better right. */
export function foreignHeld({ intent }: Inputs, field: Field, owners: AddressOwners): readonly Held[] {
  const held = field.nodes.map(() => NOTHING)
  for (const object of intent.foreign) {
    for (const [text, node] of object.status) {
      const index = field.indexOf.get(node)
      const address = parseAddress(text)
      if (address && index !== undefined && owners.ownerOf(text) === object.name) held[index] = plus(heldAt(held, index), address.family)
    }
  }
  return held
}

/** What each node holds when the claims stand where `nodeOf` says, on top of `base`. */
function count(claims: readonly Claim[], nodeOf: (claim: Claim) => number | null, base: readonly Held[]): readonly Held[] {
  const held = [...base]
  for (const claim of claims) {
    const index = nodeOf(claim)
    if (index !== null) held[index] = plus(heldAt(held, index), claim.address.family)
  }
  return held
}

/** `choices`: how many nodes would do beside what stays where it is. */
function assignmentOf({ cluster }: Inputs, field: Field, claim: Claim, index: number, choices: number): Assignment {
  const node = (field.nodes[index] as ClusterNode).name
  const hosting = claim.hostings[index]
  const kept = claim.from === node
  return {
    egressIP: claim.address.text,
    object: claim.object.name,
    node,
    network: hosting ? printPrefix(hosting.network) : null,
    networkType: hosting?.type ?? null,
    interface: null,
    change: kept ? 'keep' : claim.from === null ? 'add' : 'move',
    from: kept ? null : claim.from,
    certain: cluster.placement === 'enforced' || kept || choices < 2,
  }
}

/** The addresses that nobody asks for any more, unless their object does. */
function removals({ intent }: Inputs): Assignment[] {
  const gone = new Map(intent.removed.map((entry) => [JSON.stringify([entry.object, entry.egressIP]), entry]))
  for (const { name, addresses } of intent.objects) for (const { address } of addresses) gone.delete(JSON.stringify([name, address?.text]))
  for (const { name, texts } of intent.invalid) for (const text of texts) gone.delete(JSON.stringify([name, parseAddress(text)?.text]))
  return [...gone.values()].map(({ object, egressIP, node }) => ({
    egressIP,
    object,
    node: null,
    network: null,
    networkType: null,
    interface: null,
    change: 'remove',
    from: node,
    certain: true,
  }))
}

/** A drained address that stays, with the reason. */
function stuck({ object, address, source, from }: Claim, because: string): Problem {
  const message = `${address.text} of ${object.name} stays on ${from}, which is being drained, because it finds no other node: ${because}.`
  return problem('DrainIncomplete', { object: object.name, message, source })
}

/** A misspelt name would drain nothing without a word. */
function unknownNodes(field: Field, { drain, down }: PlacementOptions): readonly Problem[] {
  const names = [...new Set([...drain, ...down])].filter((name) => !field.indexOf.has(name)).sort()
  return names.map((name) =>
    problem('UnknownNode', { object: `Node/${name}`, message: `The cluster has no node ${name} to drain or to count as down.` }),
  )
}

/** Nodes that hold more than their capacity allows: nothing is taken from them for that. */
function overfull(field: Field, held: readonly Held[]): readonly Problem[] {
  const problems: Problem[] = []
  for (const [index, node] of field.nodes.entries()) {
    const { ip, ipv4, ipv6 } = capacityAt(field, index)
    const now = heldAt(held, index)
    const limits = [
      [ip, now.ipv4 + now.ipv6, 'egress IPs'],
      [ipv4, now.ipv4, 'IPv4 egress IPs'],
      [ipv6, now.ipv6, 'IPv6 egress IPs'],
    ] as const
    for (const [limit, used, what] of limits) {
      if (limit === null || used <= limit) continue
      problems.push(
        problem('CapacityExhausted', {
          severity: 'warning',
          object: `Node/${node.name}`,
          message: `${node.name} holds ${used} ${what}, but its capacity is ${limit}; they stay, and it takes no more.`,
          remedy: 'Remove addresses from the node, or raise its capacity.',
          source: node.source.at(['metadata', 'annotations', 'cloud.network.openshift.io/egress-ipconfig']),
        }),
      )
    }
  }
  return problems
}

/** By object, then IPv4 before IPv6, then by value; texts that are no address come last, as text. */
function sorted<T extends { readonly object: string; readonly egressIP: string }>(entries: readonly T[]): readonly T[] {
  const keyed = entries.map((entry) => ({ entry, address: parseAddress(entry.egressIP) }))
  keyed.sort((a, b) => {
    const byObject = compareNames(a.entry.object, b.entry.object)
    if (byObject !== 0) return byObject
    if (a.address && b.address) return compareAddresses(a.address, b.address)
    return Number(!a.address) - Number(!b.address) || compareNames(a.entry.egressIP, b.entry.egressIP)
  })
  return keyed.map(({ entry }) => entry)
}
