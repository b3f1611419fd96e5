import { isGlobalUnicast } from '../model/address.js'
import type { NodeReason, Unassigned, UnassignedReason } from '../model/assignment.js'
import { NODE_REASONS } from '../model/node-reason.js'
import { type Problem, problem } from '../model/problem.js'
import type { Claim, Refusal } from './claims.js'

/** How many excluded nodes an unassigned address names; `reasons` counts them all. */
const NAMED_NODES = 20

/** The filters of placement in their order, each with the reason of an address whose last candidate it removed. */
const FILTERS: readonly (readonly [NodeReason, UnassignedReason])[] = [
  ['SelectorMismatch', 'NoMatchingNode'],
  ['NotReady', 'NoAvailableNode'],
  ['Unreachable', 'NoAvailableNode'],
  ['InvalidNode', 'NoAvailableNode'],
  ['Draining', 'NoAvailableNode'],
  ['NoHostingNetwork', 'NoHostingNetwork'],
  ['CapacityExhausted', 'CapacityExhausted'],
  ['HoldsSameObject', 'AntiColocation'],
]

/** The first rule that excludes each node: how many nodes there are of each, and all of them by name. */
export interface Excluded {
  readonly counts: Readonly<Partial<Record<NodeReason, number>>>
  nodes(): Iterable<Unassigned['nodes'][number]>
}

type Part = (typeof NODE_REASONS)[NodeReason] & { readonly count: number }

/**
 * "the only node is not Ready", "none of the 3 nodes is Ready", "all 3 nodes are unreachable", "of 3 nodes, 1 is not Ready and 2
 * have no capacity left"
 */
function tell(parts: readonly Part[], total: number): string {
  const [first] = parts
  if (!first) return 'there is no Node among the inputs'
  if (parts.length > 1) return `of ${total} nodes, ${list(parts.map(({ count, one, many }) => `${count} ${count === 1 ? one : many}`))}`
  if (total === 1) return `the only node ${first.one}`
  return first.none === undefined ? `all ${total} nodes ${first.many}` : `none of the ${total} nodes ${first.none}`
}

/** Why no node takes an address, from the first rule that excludes each: the filter that removed the last one. */
export function explain(excluded: Excluded): Pick<Unassigned, 'reason' | 'reasons' | 'nodes'> & { readonly because: string } {
  let reason: UnassignedReason = 'NoMatchingNode'
  const reasons: Partial<Record<NodeReason, number>> = {}
  const parts: Part[] = []
  let total = 0
  for (const [nodeReason, addressReason] of FILTERS) {
    const count = excluded.counts[nodeReason] ?? 0
    if (count === 0) continue
    total += count
    reason = addressReason
    reasons[nodeReason] = count
    parts.push({ count, ...NODE_REASONS[nodeReason] })
  }
  return { reason, reasons, nodes: first(excluded.nodes(), NAMED_NODES), because: tell(parts, total) }
}

function first<T>(all: Iterable<T>, most: number): readonly T[] {
  const some: T[] = []
  for (const one of all) if (some.push(one) === most) break
  return some
}

/** "a", "a and b", "a, b and c" */
const list = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

/** An address that no node takes, with its problem. */
export function withoutNode(claim: Claim, excluded: Excluded): { readonly unassigned: Unassigned; readonly problem: Problem } {
  const { because, ...why } = explain(excluded)
  const odd = why.reason === 'NoHostingNetwork' && !isGlobalUnicast(claim.address)
  const message = `${claim.address.text} of ${claim.object.name} is on no node: ${odd ? 'no network hosts an address that is not global unicast' : because}.`
  return {
    unassigned: { egressIP: claim.address.text, object: claim.object.name, message, from: claim.from, ...why },
    problem: problem(why.reason, {
      object: claim.object.name,
      message,
      source: claim.source,
      ...(why.nodes.length === 0 ? { remedy: 'Add the nodes to the topology: kubectl get nodes -o yaml.' } : {}),
    }),
  }
}

/** An address that is refused for what it is, with its problem unless that of its object says it. */
export function refused({ object, egressIP, reason, message, from, source, reported }: Refusal): {
  readonly unassigned: Unassigned
  readonly problem: Problem | null
} {
  return {
    unassigned: { egressIP, object, reason, message, from, reasons: {}, nodes: [] },
    problem: reported ? null : problem(reason, { object, message, source }),
  }
}
