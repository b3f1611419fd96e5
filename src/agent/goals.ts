import type { Exec } from '../host/exec.js'
import { isLoadable } from '../host/nftables.js'
import { type Problem, problem } from '../model/problem.js'
import type { Bundle } from './bundle.js'
import { ownershipOf } from './lifecycle.js'
import type { Goal } from './reconcile.js'

/** Before kernel 5.16 netdev chains have no hook egress. A guard without that chain is better than no guard. */
export async function withoutMissingHook(exec: Exec, goal: Goal): Promise<{ readonly goal: Goal; readonly warning: Problem | null }> {
  const entries = goal.entries.nftables
  const speaking = new Set(entries.flatMap((entry) => (entry.kind === 'chain' && entry.hook?.hook === 'egress' ? entry.name : [])))
  if (goal.part !== 'guard' || speaking.size === 0 || (await isLoadable(exec, entries))) return { goal, warning: null }
  const rest = entries.filter((entry) => !speaking.has(entry.kind === 'chain' ? entry.name : entry.kind === 'rule' ? entry.chain : ''))
  if (!(await isLoadable(exec, rest))) return { goal, warning: null }
  const message =
    'this kernel has no nftables hook egress for devices, so the guard is loaded without the chain that keeps the node from speaking'
  return { goal: { ...goal, entries: { ...goal.entries, nftables: rest } }, warning: problem('NoEgressHook', { message }) }
}

/** The goal for the subsystems that the agent manages, and for those that it only verifies. */
export function byOwnership(bundle: Bundle, goal: Goal): readonly [managed: Goal, verified: Goal] {
  const of = (ownership: 'manage' | 'verify') => ({
    ...goal,
    subsystems: goal.subsystems.filter((name) => ownershipOf(bundle, name) === ownership),
  })
  return [of('manage'), of('verify')]
}
