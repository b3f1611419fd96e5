import type { DriftEvent } from '../host/drift.js'
import type { Pending } from '../host/resolve.js'
import type { Phase } from '../model/bundle.js'
import type { Ownership, SubsystemName } from '../model/cluster.js'
import type { Problem } from '../model/problem.js'
import { SUBSYSTEMS } from './entries.js'
import type { Report } from './run.js'
import type { SeenSubsystem } from './seen.js'

/** What the daemon knows, as plain data: what `/status` answers and `egretta-agent status -o json` prints. Times are ISO 8601 in UTC. */
export interface AgentStatus {
  readonly kind: 'AgentStatus'
  readonly node: string
  readonly version: string
  readonly phase: Phase
  /** The bundle of the last pass; null before the first. */
  readonly bundle: BundleStatus | null
  /** Whether the node does all that the bundle says: steady, nothing failed, nothing differs, nothing waits. */
  readonly ready: boolean
  readonly subsystems: Readonly<Record<SubsystemName, SubsystemStatus>>
  /** Egress IPs on this host, in the order of addresses. */
  readonly held: readonly Held[]
  readonly passes: Passes
  /** Of the last pass. */
  readonly problems: readonly Problem[]
  /** Why the source cannot be read or is not taken, since when; the node goes on with what it had. Null while it can. */
  readonly sourceError: { readonly since: string; readonly text: string } | null
}

/** `source` as it was given, without its secrets; `revision` the commit of a git source. */
export interface BundleStatus {
  readonly digest: string
  readonly source: string
  readonly revision: string | null
}

export interface SubsystemStatus {
  readonly ownership: Ownership
  /** Digest of what the bundle asks for on this host, without what waits; null before the first pass, and where the subsystem is off. */
  readonly desired: string | null
  /** Digest of what the host held at the end of the last pass that could read it: `desired` where nothing differs. */
  readonly observed: string | null
  /** Digest of what this agent last brought the host to; null where it never did, as where it only verifies. */
  readonly applied: string | null
  readonly lastChange: string | null
  readonly lastError: string | null
  readonly lastErrorTime: string | null
  /** Entries that are asked for on this host, without those that wait. */
  readonly entries: number
  /** Entries that wait. */
  readonly pending: number
  /** What they wait for. */
  readonly waits: readonly Wait[]
  /** How often the host was found to have lost what it held, through nothing that this agent did. */
  readonly drift: number
  readonly lastDrift: Drift | null
}

/** Entries that wait for the same thing; `key` is that of the first. */
export interface Wait {
  readonly reason: string
  readonly count: number
  readonly key: string
}

/** `who` in words, as far as a watch saw it. `key` is the first entry that differed. */
export interface Drift {
  readonly time: string
  readonly who: string
  readonly key: string
}

export interface Held {
  readonly address: string
  readonly interface: string
  readonly since: string
}

export interface Passes {
  readonly count: number
  readonly failed: number
  readonly lastSeconds: number | null
  readonly lastEnd: string | null
}

/** A report with what the pass saw; without `seen` it was refused before it looked. */
export type PassReport = Omit<Report, 'changes'> & {
  readonly changes: readonly { readonly subsystem: SubsystemName; readonly key: string }[]
}

/** How a pass came about and ended. `events`: what the watches saw since the pass before it, the agent's own changes left out. */
export interface PassEnd {
  readonly time: Date
  readonly seconds: number
  /** Null where there was no bundle to work with. */
  readonly bundle: BundleStatus | null
  readonly events: readonly DriftEvent[]
}

const NOTHING_SEEN: SubsystemStatus = {
  ownership: 'manage',
  desired: null,
  observed: null,
  applied: null,
  lastChange: null,
  lastError: null,
  lastErrorTime: null,
  entries: 0,
  pending: 0,
  waits: [],
  drift: 0,
  lastDrift: null,
}

/** The status of an agent that has done nothing yet. */
export const noStatus = (node: string, version: string, phase: Phase): AgentStatus => ({
  kind: 'AgentStatus',
  node,
  version,
  phase,
  bundle: null,
  ready: false,
  subsystems: each(() => NOTHING_SEEN),
  held: [],
  passes: { count: 0, failed: 0, lastSeconds: null, lastEnd: null },
  problems: [],
  sourceError: null,
})

/** The status after a pass. */
export function recordPass(status: AgentStatus, report: PassReport, end: PassEnd): AgentStatus {
  const { time, seconds, bundle, events } = end
  const now = time.toISOString()
  const { seen, phase, problems, exitCode } = report
  const given = bundle && { ...bundle, source: withoutSecrets(bundle.source) }
  // Another bundle or phase asks for other things, so that what differs then is no drift.
  const sameTask = status.bundle !== null && status.bundle.digest === given?.digest && status.phase === phase
  const since = new Map(status.held.map((held) => [`${held.address} ${held.interface}`, held.since]))
  const passes = {
    count: status.passes.count + 1,
    failed: status.passes.failed + (exitCode === 1 ? 1 : 0),
    lastSeconds: seconds,
    lastEnd: now,
  }
  const next: AgentStatus = {
    ...status,
    phase,
    bundle: given ?? status.bundle,
    subsystems: each((name) => subsystemAfter(name, status.subsystems[name], report, { now, events, sameTask })),
    held: seen?.held ? seen.held.map((held) => ({ ...held, since: since.get(`${held.address} ${held.interface}`) ?? now })) : status.held,
    passes,
    problems: problems.map((problem) => ({ ...problem, message: withoutSecrets(problem.message) })),
  }
  return { ...next, ready: obstacles(next).length === 0 }
}

/** The status after an attempt to read the source: `text` says what went wrong, null that nothing did. */
export function recordSource(status: AgentStatus, text: string | null, time: Date): AgentStatus {
  const sourceError = text === null ? null : { since: status.sourceError?.since ?? time.toISOString(), text: withoutSecrets(text) }
  return { ...status, sourceError }
}

/** Why the node is not ready, one sentence each; none when it is. */
export function obstacles({ passes, phase, problems, subsystems }: AgentStatus): readonly string[] {
  if (passes.lastEnd === null) return ['no pass has ended yet']
  const errors = problems.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code}: ${message}`)
  const parts = SUBSYSTEMS.flatMap((name) => {
    const { ownership, desired, observed, pending, waits } = subsystems[name]
    if (ownership === 'off') return []
    const differs = desired === null ? 'was not looked at yet' : observed !== desired ? 'does not hold what the bundle says' : null
    return [
      ...(differs ? [`${name} ${differs}`] : []),
      ...(pending > 0 ? [`${name}: ${pending} waiting, the first because ${waits[0]?.reason}`] : []),
    ]
  })
  const phases = {
    startup: ['the data path has not synced yet: the guard of the start is loaded'],
    shutdown: ['the node has fallen silent'],
  }
  return [...(phase === 'steady' ? [] : phases[phase]), ...errors, ...parts]
}

interface Circumstances {
  readonly now: string
  readonly events: readonly DriftEvent[]
  readonly sameTask: boolean
}

function subsystemAfter(
  name: SubsystemName,
  before: SubsystemStatus,
  { seen, changes, pending, exitCode }: PassReport,
  { now, events, sameTask }: Circumstances,
): SubsystemStatus {
  if (!seen) return before
  const found = seen.subsystems[name]
  if (!found) return { ...before, ownership: 'off', desired: null, observed: null, entries: 0, pending: 0, waits: [] }
  const { ownership, entries, error } = found
  const converged = exitCode === 0 || exitCode === 4
  const waiting = pending.filter(({ subsystem }) => subsystem === name)
  const { desired, observed } = sameTask && converged && isUntouched(before, found, waiting) ? before : found.digests()
  const event = events.findLast(({ subsystem }) => subsystem === name)
  const lostKey = sameTask ? loss(before, { differed: found.differed, desired }, waiting, event !== undefined) : null
  const made = ownership === 'manage' && changes.some(({ subsystem }) => subsystem === name)
  const holds = ownership === 'manage' && exitCode !== 1 && observed === desired
  return {
    ownership,
    desired,
    observed: observed ?? before.observed,
    applied: holds ? desired : before.applied,
    lastChange: made ? now : before.lastChange,
    lastError: error === null ? before.lastError : withoutSecrets(error),
    lastErrorTime: error === null ? before.lastErrorTime : now,
    entries,
    pending: waiting.length,
    waits: waitsOf(waiting),
    drift: before.drift + (lostKey === null ? 0 : 1),
    lastDrift: lostKey === null ? before.lastDrift : { time: now, who: event?.who ?? 'somebody whom no watch saw', key: lostKey },
  }
}

/** Whether a subsystem still holds all that it held, so that its digests are what they were. */
const isUntouched = (before: SubsystemStatus, { entries, differed, error }: SeenSubsystem, waiting: readonly Pending[]): boolean =>
  holdsAll(before) && differed === null && error === null && entries === before.entries && waiting.length === before.pending

const holdsAll = ({ desired, observed }: SubsystemStatus): boolean => desired !== null && observed === desired

/**
 * Key of the first entry that a subsystem which held everything has lost since the last pass; null when it has lost none. What it is asked for
 * changes with the host, as the number of a table does with its interface, and what waits is more when a bridge is gone; but both change by
 * orders too, such as the release of an address. So they are drift only where a watch saw what happened.
 */
function loss(
  before: SubsystemStatus,
  { differed, desired }: Pick<SeenSubsystem, 'differed'> & { readonly desired: string | null },
  waiting: readonly Pending[],
  watched: boolean,
): string | null {
  if (!holdsAll(before)) return null
  const [first] = waiting
  if (first && waiting.length > before.pending) return watched ? first.key : null
  // What came back brings its entries with it.
  if (waiting.length < before.pending) return null
  return desired === before.desired || watched ? differed : null
}

function waitsOf(waiting: readonly Pending[]): readonly Wait[] {
  const byReason = new Map<string, Wait>()
  for (const { reason, key } of waiting) {
    const wait = byReason.get(reason) ?? { reason, count: 0, key }
    byReason.set(reason, { ...wait, count: wait.count + 1 })
  }
  return [...byReason.values()]
}

/** A URL in a text without the name and password in it: both can be a token. */
export const withoutSecrets = (text: string): string => text.replace(/:\/\/[^/@\s]*@/g, '://***@')

const each = (of: (name: SubsystemName) => SubsystemStatus): Readonly<Record<SubsystemName, SubsystemStatus>> =>
  Object.fromEntries(SUBSYSTEMS.map((name) => [name, of(name)])) as Record<SubsystemName, SubsystemStatus>
