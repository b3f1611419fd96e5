import { createExec, type Exec, type ExecOptions } from '../host/exec.js'
import { writtenAt } from '../host/files.js'
import { lockState, type RunLock } from '../host/lock.js'
import { removeProbes } from '../host/probe.js'
import type { Pending } from '../host/resolve.js'
import type { Address } from '../model/address.js'
import type { Change } from '../model/change.js'
import { type Problem, problem } from '../model/problem.js'
import type { Entry } from '../syntax/languages.js'
import { type Bundle, loadBundle } from './bundle.js'
import { type Checks, failedChecks, NO_CHECKS } from './checks.js'
import { compare } from './comparison.js'
import { staleConnections } from './conntrack.js'
import type { Entries } from './entries.js'
import { byOwnership, withoutMissingHook } from './goals.js'
import {
  announceAll,
  CLAIM_AFTER,
  type Handover,
  leaving,
  type Move,
  NO_TURN,
  notedMoves,
  quietGuard,
  type Turn,
  takeTurn,
  withheldBy,
} from './handover.js'
import { ownershipOf } from './lifecycle.js'
import { writeMoves } from './moves.js'
import { preflightProblems } from './preflight.js'
import { applyPart, faultProblem, type Goal, observe, planPart } from './reconcile.js'
import { recorded, type Seen } from './seen.js'
import { look, type Place } from './sight.js'
import { closeJournal, isLeftBehind, openJournal } from './state.js'
import { viewBridges } from './view.js'

export interface Request extends Place {
  readonly command: 'diff' | 'apply'
  /** The folder of the bundle. */
  readonly bundle: string
  /** What that folder holds, where whoever asks has read it and nobody can change it. */
  readonly loaded?: Bundle
  /** Percent of a subsystem that one run may remove. */
  readonly maxRemove: number
  /** Whether routes of others to services, left over from another gateway mode or release, are replaced. */
  readonly replaceServiceRoutes?: boolean
  /** An egress IP that is given back, or taken again. */
  readonly move?: Move
  /** Seconds for which an egress IP is left to another station that answers for it; 30 unless given. */
  readonly claimAfter?: number
  /** Whether a bundle may be one that was left behind. */
  readonly allowOlder?: boolean
  /** What must hold after a pass that changed something, unless the node leaves. */
  readonly checks?: Checks
  /** How programs are started; in tests, where. */
  readonly exec?: ExecOptions
}

/** What a run found and did. */
export interface Report {
  readonly node: string
  readonly phase: Place['phase']
  /** Differences: of `diff` all, of `apply` those that it made and those of subsystems that it only verifies. */
  readonly changes: readonly Change<Entry>[]
  readonly pending: readonly Pending[]
  readonly problems: readonly Problem[]
  /** Egress IPs that came to this node, and those that wait for another one to give them back; absent where there are none. */
  readonly handover?: Handover
  /** What the pass saw; absent where it was refused before it looked. */
  readonly seen?: Seen
  /** A part of the host was changed and put back; absent where none was. */
  readonly putBack?: true
  /** 0 converged, 1 failed or refused, 2 differences that stay, 4 converged except for what is pending. */
  readonly exitCode: 0 | 1 | 2 | 4
}

/**
 * Compares a bundle with the host, and with `apply` makes the host agree. Never throws for what the host or the bundle is like.
 * A phase is several passes, the base and the guards. One that conflicts with others, or fails, changes nothing; a guard is loaded all the same.
 */
export async function run(request: Request): Promise<Report> {
  const { command, node, phase } = request
  let silenced: Report['changes'] = []
  const refuse = (problems: readonly Problem[]): Report => ({ node, phase, changes: silenced, pending: [], problems, exitCode: 1 })
  try {
    const bundle = request.loaded ?? loadBundle(request.bundle)
    if (!('manifest' in bundle)) return refuse(bundle)
    if (bundle.manifest.node !== node) {
      const message = `the bundle is that of node ${bundle.manifest.node}, this is ${node}; nothing was changed`
      return refuse([problem('WrongNode', { message })])
    }
    if (command === 'diff') return await work(request, bundle, createExec(request.exec))
    if (phase === 'shutdown') silenced = await silence(request, bundle, createExec(request.exec))
    const lock = await lockOrFault(request)
    try {
      const report = await ('fd' in lock
        ? work(request, bundle, createExec({ ...request.exec, inherit: lock.fd }))
        : work(request, bundle, createExec(request.exec), [lock]))
      return { ...report, changes: [...silenced, ...report.changes] }
    } finally {
      if ('fd' in lock) lock.release()
    }
  } catch (error) {
    return refuse([faultProblem(error)])
  }
}

/** The lock. Without it nothing but guards is loaded, each of which is one transaction; the steady phase has none to load. */
async function lockOrFault({ phase, stateDir, exec = {} }: Request): Promise<RunLock | Problem> {
  try {
    return await lockState(stateDir, exec)
  } catch (error) {
    if (phase === 'steady') throw error
    return faultProblem(error)
  }
}

/**
 * Loads the nft guard before anything else, one transaction that waits for no other agent, no Open vSwitch and no file of the state
 * folder. What goes wrong here goes wrong again, and is said, in the pass of the guard, which also loads one whose device is a symbol.
 */
async function silence(request: Request, bundle: Bundle, exec: Exec): Promise<Report['changes']> {
  try {
    const { host, goals } = await look(request, bundle, exec, null)
    const [guard] = goals
    if (!guard?.entries.nftables.some(({ kind }) => kind === 'chain')) return []
    const { goal } = await withoutMissingHook(exec, byOwnership(bundle, guard)[0])
    const seen = await observe(host, goal.subsystems)
    return (await applyPart(host, goal, seen, planPart(host, goal, seen))).made
  } catch (error) {
    faultProblem(error)
    return []
  }
}

async function work(request: Request, bundle: Bundle, exec: Exec, faults: readonly Problem[] = []): Promise<Report> {
  const { command, node, phase, stateDir, rundir, claimAfter = CLAIM_AFTER } = request
  const noted = notedMoves(request, bundle, faults.length === 0)
  const seeing = (answered: Turn['answered']) =>
    look(request, bundle, exec, () => viewBridges(rundir), withheldBy(bundle, noted.moves, answered))
  let sight = await seeing(new Map())
  const { state, goals } = sight
  const recorder = recorded(sight.host)
  const { host } = recorder
  const written = writtenAt(`${request.bundle}/bundle.json`) ?? Date.now()
  const problems: Problem[] = [...faults, ...noted.problems, ...sight.problems]
  if (phase !== 'shutdown' && !request.allowOlder && isLeftBehind(bundle, written, state)) problems.push(leftBehind())
  const changes: Change<Entry>[] = []
  const passing = new Set<string>()
  let turn = NO_TURN
  let waiting = noted.moves.waiting
  let claimed: Turn['claims'] = []
  let remaining = 0
  let putBack: Pick<Report, 'putBack'> = {}
  /** Silences addresses until the guard of the phase is compared, which is the last of a steady pass. */
  const quiet = async (tables: Entries): Promise<readonly Problem[]> => {
    const guard: Goal = { part: 'guard', entries: tables, waiting: new Set(), subsystems: ['nftables'], stale: [], awaited: [] }
    const { goal, warning } = await withoutMissingHook(exec, guard)
    const [managed] = byOwnership(bundle, goal)
    const seen = await observe(host, managed.subsystems)
    const { made, problems: wrong } = await applyPart(host, managed, seen, planPart(host, managed, seen))
    for (const { op, key } of made) if (op === 'add') passing.add(key)
    changes.push(...made)
    return [...(warning ? [warning] : []), ...wrong]
  }
  const { probes } = sight.view
  if (
    command === 'apply' &&
    phase !== 'shutdown' &&
    faults.length === 0 &&
    probes.length > 0 &&
    ownershipOf(bundle, 'nftables') === 'manage'
  ) {
    await removeProbes(exec, probes)
  }
  for (const first of goals) {
    // A guard that fails does not keep the other from being loaded; everything else waits for what failed before it.
    if (problems.some(isError) && (first.part === 'base' || phase === 'steady')) break
    try {
      let asked = first
      const observing = observe(host, first.subsystems)
      if (command === 'apply' && first.part === 'base' && phase !== 'shutdown') {
        const unsilence = (spoken: readonly Address[]) => quiet(quietGuard(bundle, sight, [], spoken))
        const asking = takeTurn(createExec(request.exec), rundir, bundle, sight, first, noted.moves.waiting, claimAfter, unsilence)
        // Whatever becomes of one of them, the other has ended too.
        await Promise.allSettled([asking, observing])
        turn = await asking
        waiting = turn.since
        problems.push(...turn.problems)
        if (turn.waiting.length > 0) {
          sight = await seeing(turn.answered)
          asked = sight.goals.find(({ part }) => part === 'base') ?? first
        }
      }
      const found = await observing
      const { goal, warning } = await withoutMissingHook(exec, asked)
      if (warning) problems.push(warning)
      const [managed, verified] = byOwnership(bundle, goal)
      const { plan, seen, stops, differences, warnings } = compare(host, request, bundle, [managed, verified], found, noted.moves.released)
      const unfit = stops.length === 0 && goal.part === 'base' ? await preflightProblems(sight.reads, bundle, phase, plan.changes) : []
      remaining += differences.length
      problems.push(...stops, ...unfit, ...warnings)
      if (command === 'diff') changes.push(...plan.changes)
      else if (stops.length === 0 && !unfit.some(isError)) {
        const going = goal.part === 'base' && phase !== 'shutdown' ? leaving(bundle, sight, managed) : []
        const failed = going.length > 0 ? await quiet(quietGuard(bundle, sight, going)) : []
        problems.push(...failed)
        if (failed.some(isError)) break
        const stale = staleConnections(plan.changes, managed.entries, managed.stale, host.conntrack.keeps)
        // A guard needs no journal: the marks on its entries say enough, and no full disk may delay it.
        if (goal.part === 'base' && plan.changes.length > 0) openJournal(stateDir, bundle, state, stale)
        // What a check leaves running holds no lock.
        const check = () => failedChecks(createExec(request.exec), rundir, sight.view, managed, request.checks ?? NO_CHECKS)
        const outcome = await applyPart(host, managed, seen, plan, goal.part === 'base' && phase !== 'shutdown' ? check : undefined)
        changes.push(...outcome.made)
        if (outcome.putBack) putBack = { putBack: true }
        // What was put back speaks again.
        if (going.length > 0 && outcome.made.length === 0) problems.push(...(await quiet(quietGuard(bundle, sight, []))))
        problems.push(...outcome.problems)
        if (goal.part === 'base' && !outcome.problems.some(isError)) claimed = turn.claims
      }
      changes.push(...differences)
    } catch (error) {
      problems.push(faultProblem(error))
    }
  }
  const failed = problems.some(isError)
  if (command === 'apply' && !failed) closeJournal(stateDir, bundle, state, written)
  if (command === 'apply' && faults.length + noted.problems.length === 0) writeMoves(stateDir, { ...noted.moves, waiting })
  problems.push(...(await announceAll(createExec(request.exec), claimed)))
  const { pending } = sight
  const due = Math.min(...turn.since.values()) + claimAfter
  const handover = claimed.length + turn.waiting.length > 0 ? { handover: { claimed, waiting: turn.waiting, due } } : {}
  const differs = command === 'diff' ? changes.length > 0 : remaining > 0
  const exitCode = failed ? 1 : differs ? 2 : pending.length > 0 ? 4 : 0
  return {
    node,
    phase,
    changes: lasting(changes, passing),
    pending,
    problems,
    ...handover,
    ...putBack,
    seen: recorder.seen(bundle, sight.goals, lasting(changes, passing), exitCode === 0 || exitCode === 4),
    exitCode,
  }
}

/** The changes without those that silenced addresses for the time of the pass. */
function lasting(changes: readonly Change<Entry>[], passing: ReadonlySet<string>): readonly Change<Entry>[] {
  const gone = new Set(changes.flatMap(({ op, key }) => (op === 'delete' && passing.has(key) ? key : [])))
  return changes.filter(({ key }) => !gone.has(key))
}

const leftBehind = (): Problem =>
  problem('OlderBundle', { message: 'the bundle was applied before the last one, and was written before it; nothing was changed' })

const isError = ({ severity }: Problem): boolean => severity === 'error'
