import { hostAddresses } from '../host/addresses.js'
import { createExec, type Exec, type ExecOptions } from '../host/exec.js'
import { readText } from '../host/files.js'
import { lockState } from '../host/lock.js'
import { hostNeighbors } from '../host/neighbors.js'
import { hostNftables, isLoadable } from '../host/nftables.js'
import { hostOpenflow } from '../host/openflow.js'
import type { Pending } from '../host/resolve.js'
import type { Subsystem } from '../host/subsystem.js'
import type { Phase } from '../model/bundle.js'
import type { Change } from '../model/change.js'
import { OVNKUBE_COOKIE } from '../model/numbers.js'
import { type Problem, problem } from '../model/problem.js'
import type { Entry } from '../syntax/languages.js'
import { type Bundle, loadBundle } from './bundle.js'
import { announcedAddresses, lifecycle, ownershipOf } from './lifecycle.js'
import { applyPart, faultProblem, type Goal, type Host, observe, type PartPlan, planPart, SUBSYSTEMS } from './reconcile.js'
import { elsewhere, tooManyRemovals } from './removals.js'
import { addressMarks, closeJournal, knownAddresses, knownBridges, openJournal, readState } from './state.js'
import { type HostView, viewHost } from './view.js'

export interface Request {
  readonly command: 'diff' | 'apply'
  readonly bundle: string
  readonly node: string
  readonly phase: Phase
  readonly stateDir: string
  /** OVS_RUNDIR */
  readonly rundir: string
  /** Percent of a subsystem that one run may remove. */
  readonly maxRemove: number
  /** How programs are started; in tests, where. */
  readonly exec?: ExecOptions
}

/** What a run found and did. */
export interface Report {
  readonly node: string
  readonly phase: Phase
  /** Differences: of `diff` all, of `apply` those that it made and those of subsystems that it only verifies. */
  readonly changes: readonly Change<Entry>[]
  readonly pending: readonly Pending[]
  readonly problems: readonly Problem[]
  /** 0 converged, 1 failed or refused, 2 differences that stay, 4 converged except for what is pending. */
  readonly exitCode: 0 | 1 | 2 | 4
}

/**
 * Compares a bundle with the host, and with `apply` makes the host agree. Never throws for what the host or the bundle is like.
 * A phase is several passes, the base and the guards. One that conflicts with others, or fails, changes nothing; a guard is loaded all the same.
 */
export async function run(request: Request): Promise<Report> {
  const refuse = (problems: readonly Problem[]): Report => ({
    node: request.node,
    phase: request.phase,
    changes: [],
    pending: [],
    problems,
    exitCode: 1,
  })
  try {
    const bundle = loadBundle(request.bundle)
    if (!('manifest' in bundle)) return refuse(bundle)
    if (bundle.manifest.node !== request.node) {
      const message = `the bundle is that of node ${bundle.manifest.node}, this is ${request.node}; nothing was changed`
      return refuse([problem('WrongNode', { message })])
    }
    if (request.command === 'diff') return await work(request, bundle, createExec(request.exec), refuse)
    const lock = await lockState(request.stateDir, request.exec ?? {})
    try {
      return await work(request, bundle, createExec({ ...request.exec, inherit: lock.fd }), refuse)
    } finally {
      lock.release()
    }
  } catch (error) {
    return refuse([faultProblem(error)])
  }
}

async function work(request: Request, bundle: Bundle, exec: Exec, refuse: (problems: readonly Problem[]) => Report): Promise<Report> {
  const { command, phase, stateDir, rundir } = request
  const state = readState(stateDir)
  const { view, fault } = await viewHost(exec, rundir, request.node, ownershipOf(bundle, 'nftables') !== 'off')
  const host = hostOf(exec, rundir, stateDir, view, knownBridges(bundle, state))
  const active = await ovnkubeActive(bundle, host, view)
  if (active) return refuse([active])
  const marked = new Set((await host.addresses.observe()).own.map((entry) => ('address' in entry ? entry.address.address.text : '')))
  const knowledge = { marked, known: knownAddresses(bundle, state), announced: announcedAddresses(bundle) }
  const { goals, pending, problems: refusals, notes } = lifecycle(bundle, phase, view, knowledge)
  if (refusals.length > 0) return refuse(refusals)

  const problems: Problem[] = [...notes, ...(fault ? [faultProblem(fault)] : [])]
  const changes: Change<Entry>[] = []
  let remaining = 0
  for (const asked of goals) {
    // A guard that fails does not keep the other from being loaded; everything else waits for what failed before it.
    if (problems.some(isError) && (asked.part === 'base' || phase === 'steady')) break
    try {
      const { goal, warning } = await withoutMissingHook(exec, asked)
      if (warning) problems.push(warning)
      const [managed, verified] = byOwnership(bundle, goal)
      const seen = await observe(host, goal.subsystems)
      const plan = planPart(host, managed, seen)
      const differences = differencesOf(planPart(host, verified, seen))
      const stops = [
        ...conflictProblems(plan),
        ...(asked.part === 'base'
          ? tooManyRemovals(plan.changes, seen, elsewhere(readIndex(request.bundle), bundle), request.maxRemove)
          : []),
      ]
      changes.push(...plan.changes, ...differences)
      remaining += differences.length
      problems.push(...stops)
      if (command === 'diff' || stops.length > 0) continue
      if (plan.changes.length > 0) openJournal(stateDir, bundle)
      problems.push(...(await applyPart(host, managed, seen, plan)))
    } catch (error) {
      problems.push(faultProblem(error))
    }
  }
  const failed = problems.some(isError)
  if (command === 'apply' && !failed) closeJournal(stateDir, bundle, state)
  const differs = command === 'diff' ? changes.length > 0 : remaining > 0
  return { node: request.node, phase, changes, pending, problems, exitCode: failed ? 1 : differs ? 2 : pending.length > 0 ? 4 : 0 }
}

const isError = ({ severity }: Problem): boolean => severity === 'error'

function hostOf(exec: Exec, rundir: string, stateDir: string, view: HostView, bridges: readonly string[]): Host {
  const served = bridges.filter((name) => view.bridges?.some((bridge) => bridge.name === name))
  const any = <E extends Entry>(subsystem: Subsystem<E>) => subsystem as unknown as Subsystem<Entry>
  return {
    nftables: any(hostNftables(exec)),
    openflow: any(hostOpenflow(exec, rundir, served)),
    neighbors: any(hostNeighbors(exec)),
    addresses: any(hostAddresses(exec, addressMarks(stateDir))),
  }
}

/** ovnkube-node replaces flows, addresses and tables by itself; two that manage the same would undo each other's work. */
async function ovnkubeActive(bundle: Bundle, host: Host, { ovnkube }: HostView): Promise<Problem | null> {
  const managed = SUBSYSTEMS.filter((name) => ownershipOf(bundle, name) === 'manage')
  if (managed.length === 0) return null
  const { foreign } = await host.openflow.observe()
  const flows = foreign.filter((entry) => 'cookie' in entry && entry.cookie === OVNKUBE_COOKIE).length
  const signs = [...ovnkube, ...(flows > 0 ? [`${flows} flows with cookie 0x${OVNKUBE_COOKIE.toString(16)}`] : [])]
  if (signs.length === 0) return null
  const message = `ovnkube-node is active on this host (${signs.join(', ')}), and the bundle is to manage ${managed.join(', ')}`
  return problem('OvnkubeActive', { message })
}

/** Before kernel 5.16 netdev chains have no hook egress. A guard without that chain is better than no guard. */
async function withoutMissingHook(exec: Exec, goal: Goal): Promise<{ readonly goal: Goal; readonly warning: Problem | null }> {
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
function byOwnership(bundle: Bundle, goal: Goal): readonly [managed: Goal, verified: Goal] {
  const of = (ownership: 'manage' | 'verify') => ({
    ...goal,
    subsystems: goal.subsystems.filter((name) => ownershipOf(bundle, name) === ownership),
  })
  return [of('manage'), of('verify')]
}

/** Who only verifies sees an entry of somebody else that means something else as one more difference. */
const differencesOf = ({ changes, conflicts }: PartPlan): readonly Change<Entry>[] => [
  ...changes,
  ...conflicts.map(({ subsystem, key, desired, foreign }) => ({ subsystem, op: 'update' as const, key, entry: desired, from: foreign })),
]

const conflictProblems = ({ conflicts }: PartPlan): readonly Problem[] =>
  conflicts.map(({ subsystem, key }) =>
    problem('ForeignConflict', {
      message: `${subsystem}: the host has another entry for "${key}", which egretta did not make and which means something else`,
    }),
  )

/** `index.json` of the rendering that the bundle is part of: two folders up. Null where there is none. */
function readIndex(bundle: string): string | null {
  try {
    return readText(`${bundle}/../../index.json`)
  } catch {
    return null
  }
}
