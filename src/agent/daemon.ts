import type { DriftEvent } from '../host/drift.js'
import { type Listen, serve } from '../host/endpoint.js'
import { createExec, type ExecOptions } from '../host/exec.js'
import { type Ready, readyNft } from '../host/load-now.js'
import { lockHost } from '../host/lock.js'
import type { Phase } from '../model/bundle.js'
import { type Problem, problem } from '../model/problem.js'
import { createAlarm } from './alarm.js'
import { bridgesOf } from './bundle.js'
import { arrive, hasDeparted } from './departure.js'
import { statusAnswers } from './endpoint.js'
import { createFollowUp } from './follow-up.js'
import { prepareGuard } from './prepare.js'
import { faultProblem } from './reconcile.js'
import { type Report, type Request, run } from './run.js'
import type { Given, Source } from './source.js'
import { noStatus, recordPass, recordSource } from './status.js'
import { appliedCopy, appliedRevision, type Copy, copyBundle, markApplied } from './store.js'
import { createSync, type SyncOptions } from './sync.js'
import { openWatches } from './watches.js'

export interface DaemonOptions extends SyncOptions, Omit<Request, 'command' | 'bundle' | 'phase' | 'exec'> {
  readonly source: Source
  readonly version: string
  /** Where the status is told; null for nowhere. */
  readonly listen: Listen | null
  /** Milliseconds between two comparisons when nothing happens. */
  readonly period: number
  /** Whether the guard is kept ready for the moment when the node leaves. */
  readonly onTerm: 'guard' | 'leave'
  readonly exec?: ExecOptions
  /** Told of every pass that changed something or failed in another way than the one before it. */
  readonly told: (report: Report) => void
  /** Told what is wrong with the source or the check, once. */
  readonly complained: (problems: readonly Problem[]) => void
}

export interface Daemon {
  /**
   * Stops. With `onTerm` guard the node falls silent first: one transaction of nft that stands ready, then the whole shutdown phase. The
   * last report is that of the shutdown phase; null where there was none.
   */
  stop(): Promise<Report | null>
}

const older = (revision: string | null, applied: string | null): Problem =>
  problem('OlderBundle', { message: `commit ${revision} came before ${applied}, which was applied; what was applied stays` })

/** What happens at one time is repaired by one pass. */
const TOGETHER = 50
/** After passes that had nothing to do, events wait for this many times what such a pass takes, but never long. */
const CALM = 4
const CALM_AT_MOST = 500
/** For so long after it ended, a pass that changed something is the reason of what the watches see. */
const ECHO = 200
const RETRY = { first: 1_000, longest: 30_000 }
const backoff = (times: number): number => Math.min(RETRY.first * 2 ** (times - 1), RETRY.longest)
/** Who writes a bundle writes several files. */
const SOURCE_TOGETHER = 100
/** The first pass waits so long for the source, when there is a bundle of an earlier run. */
const SOURCE_FIRST = 1_000

/** Keeps a node doing what its source says until it is stopped. Fails with HostFault when another agent is there, or nobody can listen. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { source, node, stateDir, onTerm, version } = options
  const lock = await lockHost(stateDir, options.exec ?? {})
  const stopper = new AbortController()
  const exec: ExecOptions = { ...options.exec, signal: stopper.signal }
  let status = noStatus(node, version, 'startup')
  const endpoint = await (options.listen
    ? serve(
        options.listen,
        statusAnswers(() => status),
      )
    : null)
  const alarm = createAlarm()
  const sync = createSync(
    options,
    createExec(exec),
    () => alarm.within(0),
    (problem) => options.complained([problem]),
  )
  const followUp = createFollowUp(createExec(exec), () => alarm.within(0))
  let phase: Phase = 'startup'
  let stopping = false
  let ready: Ready | null = null
  let failures = 0
  /** Ends with the pass that runs, when it is known what it applied. */
  let applying: Promise<void> = Promise.resolve()
  /** The passes in a row that were put back. The watches see that too: before this time it is no reason to try the bundle again. */
  let setback = { bundle: '', times: 0, until: 0 }
  /** The bundle that the last pass refused or could not even begin. */
  let refused: string | null = null
  let [calm, lastEnd, echoUntil] = [0, 0, 0]
  /** Whether the host may be another one since the guard was made ready. */
  let stirred = true
  let events: DriftEvent[] = []
  let wanted: { readonly copy: Copy; readonly revision: string | null } | null = null
  arrive(stateDir)
  let applied = appliedCopy(stateDir, node)

  const now = () => performance.now()
  const watches = openWatches(options.exec ?? {}, options.rundir, (event) => {
    stirred = true
    if (event && now() >= echoUntil) events.push(event)
    alarm.within(Math.max(TOGETHER, lastEnd + calm - now()))
  })
  const requestFor = (copy: Copy, over: Partial<Request> = {}): Request => ({
    ...options,
    command: 'apply',
    bundle: copy.folder,
    loaded: copy.bundle,
    phase,
    exec,
    ...over,
  })

  // Only to be recognized: its texts are copied.
  let given: WeakRef<Given> | null = null
  let complaint = ''
  const complain = (problems: readonly Problem[]) => {
    const text = problems.map(({ message }) => message).join('; ')
    if (problems.length > 0 && text !== complaint) options.complained(problems)
    complaint = text
    status = recordSource(status, problems.length > 0 ? text : null, new Date())
  }
  /** The applied revision, where what the source says came before it; else null. What a pass is about to apply counts as applied. */
  const appliedBefore = async ({ revision }: Given): Promise<string | null> => {
    for (;;) {
      const judged = applying
      await judged
      const before = appliedRevision(stateDir, node)
      const isOlder = await source.precedes(revision, before)
      if (judged === applying) return isOlder ? before : null
    }
  }
  const take = async (): Promise<void> => {
    try {
      const found = await source.read()
      if (stopping) return
      if (!('files' in found)) return complain(found)
      if (found !== given?.deref()) {
        const revision = options.allowOlder ? null : await appliedBefore(found)
        if (stopping) return
        // From here to `wanted` nothing waits: a pass that ends removes every copy that nobody wants.
        const copy = copyBundle(stateDir, node, found)
        if (!('bundle' in copy)) return complain(copy)
        if (revision !== null && applied?.name !== copy.name) return complain([older(found.revision, revision)])
        given = new WeakRef(found)
        if (wanted?.copy.name !== copy.name) alarm.within(0)
        wanted = { copy, revision: found.revision }
      }
      complain([])
    } catch (error) {
      if (!stopping) complain([faultProblem(error)])
    }
  }
  let reading: Promise<void> = take()
  let soon: NodeJS.Timeout | undefined
  const sourceWatch = source.watch(() => {
    clearTimeout(soon)
    soon = setTimeout(() => {
      reading = reading.then(take)
    }, SOURCE_TOGETHER)
  })

  /** Keeps the guard of this moment at hand. */
  const prepare = async (copy: Copy): Promise<void> => {
    stirred = false
    try {
      const text = await prepareGuard(requestFor(copy))
      if (stopping || text === ready?.text) return
      ready?.discard()
      ready = text === null ? null : readyNft(exec, text)
    } catch (error) {
      faultProblem(error)
    }
  }

  const pass = async (): Promise<void> => {
    if (hasDeparted(stateDir)) phase = 'shutdown'
    else if (phase === 'shutdown') phase = 'startup'
    const copy = wanted?.copy ?? applied
    if (!copy) return
    watches.follow(bridgesOf(copy.bundle))
    await followUp.rest()
    const [started, seen] = [now(), events]
    events = []
    // A bundle that is refused is no reason to leave the one before it to its fate. It comes first: what the host has lost meanwhile does
    // not count among what the new one would remove.
    if (refused === copy.name && applied && applied.name !== copy.name) await run(requestFor(applied))
    const rest = setback.bundle === copy.name && phase !== 'shutdown' ? setback.until - now() : 0
    if (rest > 0) return alarm.within(rest)
    const running = run(requestFor(copy))
    applying = running.then(
      () => {},
      () => {},
    )
    const report = await running
    if (stopping) return
    followUp.follow(report)
    const seconds = (now() - started) / 1000
    const changed = report.changes.length > 0
    if (report.exitCode !== 1) {
      markApplied(stateDir, copy.name, wanted?.copy === copy ? wanted.revision : null, wanted ? [wanted.copy.name] : [])
      applied = copy
      failures = 0
    } else {
      failures++
    }
    refused = report.exitCode === 1 && !changed ? copy.name : null
    ;[lastEnd, calm] = [now(), changed ? 0 : Math.min(CALM * (now() - started), CALM_AT_MOST)]
    const times = report.putBack ? setback.times + 1 : 0
    setback = { bundle: copy.name, times, until: times > 0 ? lastEnd + backoff(times) : 0 }
    if (changed || report.putBack) {
      echoUntil = lastEnd + ECHO
      events = []
    }
    const revision = wanted?.copy === copy ? wanted.revision : null
    status = recordPass(status, report, {
      time: new Date(),
      seconds,
      bundle: { digest: copy.bundle.manifest.digest, source: source.text, revision },
      events: seen,
    })
    options.told(report)
    if (onTerm === 'guard' && (stirred || changed)) await prepare(copy)
    const wait = phase === 'startup' ? sync.after(report, now()) : null
    if (wait === 0) phase = 'steady'
    if (wait !== null) alarm.within(wait)
    if (failures > 0) alarm.within(backoff(failures))
    alarm.within(options.period)
  }

  const work = async (): Promise<void> => {
    if (applied) await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, SOURCE_FIRST))])
    else await reading
    alarm.within(0)
    for (await alarm.rung(); !stopping; await alarm.rung()) {
      try {
        await pass()
      } catch (error) {
        complain([faultProblem(error)])
        alarm.within(RETRY.longest)
      }
    }
  }
  const working = work()

  return {
    async stop() {
      stopping = true
      const rested = followUp.rest()
      // Nothing may take away what comes now.
      if (onTerm === 'guard') {
        stopper.abort()
        ready?.load()
      }
      alarm.stop()
      watches.close()
      sourceWatch.close()
      clearTimeout(soon)
      await Promise.race([Promise.all([working, rested]), new Promise((resolve) => setTimeout(resolve, RETRY.first * 5))])
      stopper.abort()
      const copy = applied ?? wanted?.copy
      const last = onTerm === 'guard' && copy ? await run(requestFor(copy, { phase: 'shutdown', exec: options.exec ?? {} })) : null
      endpoint?.close()
      lock.release()
      return last
    },
  }
}
