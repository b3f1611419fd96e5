import { compareAddresses, parseAddress, printPrefix } from '../model/address.js'
import { type Assignment, type Placement, type PlacementOptions, removal, type Unassigned } from '../model/assignment.js'
import type { Inputs } from '../model/inputs.js'
import { type Problem, problem } from '../model/problem.js'
import type { ClusterNode } from '../model/topology.js'
import { adviceOn } from './advice.js'
import { type Claim, claimsOf } from './claims.js'
import { type Capacity, type Field, fieldOf, type Held } from './eligibility.js'
import { explain, refused, withoutNode } from './explain.js'
import { marksOf } from './marks.js'
import { addressOwners } from './owners.js'
import { seek } from './seek.js'
import { choicesBeside, count, exclusions, foreignHeld } from './tally.js'

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
  const { found, optimalityGap } = seek(field, staying, looking, foreign, options.rebalance ?? 0)
  const nodeOf = (claim: Claim): number | null => found.get(claim) ?? claim.holder

  const held = count(claims, nodeOf, foreign)
  const excluded = exclusions(field, claims, nodeOf, held)
  const choices = choicesBeside(
    field,
    staying,
    count(staying, ({ holder }) => holder, foreign),
  )

  const assignments: Assignment[] = removals(inputs)
  const unassigned: Unassigned[] = []
  const note = (entry: { readonly unassigned: Unassigned; readonly problem: Problem | null }) => {
    unassigned.push(entry.unassigned)
    if (entry.problem) problems.push(entry.problem)
  }
  for (const refusal of refusals) note(refused(refusal))
  for (const claim of claims) {
    const index = nodeOf(claim)
    if (index === null) note(withoutNode(claim, excluded(claim)))
    else assignments.push(assignmentOf(inputs, field, claim, index, choices))
    if (draining(claim) && index === claim.holder) problems.push(stuck(claim, explain(excluded(claim)).because))
  }
  const placed = claims.flatMap((claim) => {
    const index = nodeOf(claim)
    return index === null ? [] : [{ claim, index }]
  })
  const { marks, problems: markProblems } = marksOf(inputs)
  problems.push(...unknownNodes(field, options), ...overfull(field, held), ...markProblems, ...adviceOn(inputs, field, placed, held))
  return { assignments: sorted(assignments), unassigned: sorted(unassigned), marks, optimalityGap, problems }
}

/** `choices`: how many nodes would do for a claim beside what stays where it is. */
function assignmentOf({ cluster }: Inputs, field: Field, claim: Claim, index: number, choices: (claim: Claim) => number): Assignment {
  const { name: node } = field.nodes[index] as ClusterNode
  const hosting = claim.candidates.hosts.on.get(index)
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
    certain: cluster.placement === 'enforced' || kept || choices(claim) < 2,
  }
}

/** The addresses that nobody asks for any more, unless their object does. */
function removals({ intent }: Inputs): Assignment[] {
  const gone = new Map(intent.removed.map((entry) => [JSON.stringify([entry.object, entry.egressIP]), entry]))
  for (const { name, addresses } of intent.objects) for (const { address } of addresses) gone.delete(JSON.stringify([name, address?.text]))
  for (const { name, texts } of intent.invalid) for (const text of texts) gone.delete(JSON.stringify([name, parseAddress(text)?.text]))
  return [...gone.values()].map(({ object, egressIP, node }) => removal(object, egressIP, node))
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
    const { ip, ipv4, ipv6 } = field.capacity[index] as Capacity
    const now = held[index] as Held
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

const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

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
