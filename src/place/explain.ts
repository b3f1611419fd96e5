import type { NodeReason, Unassigned, UnassignedReason } from '../model/assignment.js'
import { type Problem, problem } from '../model/problem.js'
import type { Claim, Refusal } from './claims.js'

/** How many excluded nodes an unassigned address names; `reasons` counts them all. */
const NAMED_NODES = 20

/** The filters of placement in their order: the reason of an address whose last candidate they removed, and what they say of a node. */
const FILTERS: readonly (readonly [NodeReason, UnassignedReason, one: string, many: string])[] = [
  ['SelectorMismatch', 'NoMatchingNode', 'does not match egressNodeSelector', 'do not match egressNodeSelector'],
  ['NotReady', 'NoAvailableNode', 'is not Ready', 'are not Ready'],
  ['Unreachable', 'NoAvailableNode', 'is unreachable', 'are unreachable'],
  ['InvalidNode', 'NoAvailableNode', 'has a malformed annotation', 'have a malformed annotation'],
  ['Draining', 'NoAvailableNode', 'is being drained', 'are being drained'],
  ['NoHostingNetwork', 'NoHostingNetwork', 'has no network that contains it', 'have no network that contains it'],
  ['CapacityExhausted', 'CapacityExhausted', 'has no capacity left', 'have no capacity left'],
  ['HoldsSameObject', 'AntiColocation', 'holds another address of the object', 'hold another address of the object'],
]

type ExcludedNode = Unassigned['nodes'][number]

/** Why no node takes an address, from the first rule that excludes each (sorted by node): the filter that removed the last one. */
export function explain(
  excluded: readonly ExcludedNode[],
): Pick<Unassigned, 'reason' | 'reasons' | 'nodes'> & { readonly because: string } {
  let reason: UnassignedReason = 'NoMatchingNode'
  const reasons: Partial<Record<NodeReason, number>> = {}
  const parts: string[] = []
  for (const [nodeReason, addressReason, one, many] of FILTERS) {
    const count = excluded.filter((node) => node.reason === nodeReason).length
    if (count === 0) continue
    reason = addressReason
    reasons[nodeReason] = count
    parts.push(`${count} ${count === 1 ? one : many}`)
  }
  const because =
    parts.length === 0 ? 'the cluster has no node' : `of ${excluded.length} ${excluded.length === 1 ? 'node' : 'nodes'}, ${list(parts)}`
  return { reason, reasons, nodes: excluded.slice(0, NAMED_NODES), because }
}

/** "a", "a and b", "a, b and c" */
export const list = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

/** An address that no node takes, with its problem. */
export function withoutNode(
  claim: Claim,
  excluded: readonly ExcludedNode[],
): { readonly unassigned: Unassigned; readonly problem: Problem } {
  const { because, ...why } = explain(excluded)
  const message = `${claim.address.text} of ${claim.object.name} is on no node: ${because}.`
  return {
    unassigned: { egressIP: claim.address.text, object: claim.object.name, message, from: claim.from, ...why },
    problem: problem(why.reason, { object: claim.object.name, message, source: claim.source }),
  }
}

/** An address that is refused for what it is, with its problem. */
export function refused({ object, egressIP, reason, message, from, source }: Refusal): {
  readonly unassigned: Unassigned
  readonly problem: Problem
} {
  return {
    unassigned: { egressIP, object, reason, message, from, reasons: {}, nodes: [] },
    problem: problem(reason, { object, message, source }),
  }
}
