import type { Conntrack, Translated } from '../host/conntrack.js'
import { HostFault } from '../host/exec.js'
import type { Observed, Subsystem } from '../host/subsystem.js'
import type { Change } from '../model/change.js'
import type { SubsystemName } from '../model/cluster.js'
import { GUARD_COOKIE } from '../model/numbers.js'
import { type Problem, problem } from '../model/problem.js'
import { type Conflict, diff } from '../plan/diff.js'
import { SyntaxFault } from '../syntax/language.js'
import type { Entry } from '../syntax/languages.js'
import { tableOf } from '../syntax/nftables.js'
import { once } from '../syntax/recent.js'
import { staleConnections } from './conntrack.js'
import { type Entries, NO_ENTRIES, type Subsystems } from './entries.js'
import { isGuardTable } from './guard.js'

/** The subsystems of a host, and what is no subsystem because it has nothing to converge to: its connections. */
export type Host = Readonly<Record<SubsystemName, Subsystem<Entry>>> & { readonly conntrack: Conntrack }

/** The guard and everything else are passes of their own: nothing that is wrong with the rest delays a guard. */
export type Part = 'guard' | 'base'

/** What one pass is to reach. */
export interface Goal {
  readonly part: Part
  readonly entries: Entries
  /** Keys of entries that wait, by subsystem: what the host has under such a key stays as it is, unless it is a flow. */
  readonly waiting: ReadonlySet<string>
  /** Subsystems that the pass compares. */
  readonly subsystems: Subsystems
  /** Connections that passes which did not end may have left with an egress IP that is not theirs any more. */
  readonly stale: readonly Translated[]
  /** The entries that wait, as they stand in the bundle. */
  readonly awaited: readonly Entry[]
}

export const waitingKey = (subsystem: SubsystemName, key: string): string => `${subsystem} ${key}`

export interface PartPlan {
  readonly changes: readonly Change<Entry>[]
  readonly conflicts: readonly (Conflict<Entry> & { readonly subsystem: SubsystemName })[]
}

export type Observation = Readonly<Partial<Record<SubsystemName, Observed<Entry>>>>

/** What the subsystems hold now, asked all at once. Ends when every one of them has answered, or failed. */
export async function observe(host: Host, subsystems: Subsystems): Promise<Observation> {
  const found = await Promise.allSettled(subsystems.map((name) => host[name].observe()))
  const failed = found.find((each) => each.status === 'rejected')
  if (failed) throw failed.reason
  return Object.fromEntries(found.map((each, at) => [subsystems[at], (each as PromiseFulfilledResult<Observed<Entry>>).value]))
}

/** What turns the observation into the goal. Entries of the other part are foreign to this one. */
export function planPart(host: Host, goal: Goal, observed: Observation): PartPlan {
  const changes: Change<Entry>[] = []
  const conflicts: PartPlan['conflicts'][number][] = []
  for (const name of goal.subsystems) {
    const { own, foreign } = split(goal.part, observed[name])
    const found = diff<Entry>(host[name].language, goal.entries[name], own, foreign)
    changes.push(...found.changes.filter((change) => !(staysMeanwhile(change) && goal.waiting.has(waitingKey(name, change.key)))))
    conflicts.push(...found.conflicts.map((conflict) => ({ ...conflict, subsystem: name })))
  }
  return { changes, conflicts }
}

/**
 * Whether what would go may stay while the entry in its place waits. A flow may not: the number of the port that it sends to may be given to
 * another network meanwhile.
 */
const staysMeanwhile = ({ op, from }: Change<Entry>): boolean => op === 'delete' && from !== null && !('cookie' in from)

const NOTHING: Observed<Entry> = { own: [], foreign: [] }
const SPLIT = { guard: new WeakMap<Observed<Entry>, Observed<Entry>>(), base: new WeakMap<Observed<Entry>, Observed<Entry>>() }

/** What belongs to a part, and everything else as foreign to it. */
export const split = (part: Part, observed: Observed<Entry> = NOTHING): Observed<Entry> =>
  once((each: Observed<Entry>) => splitAnew(part, each), SPLIT[part])(observed)

function splitAnew(part: Part, observed: Observed<Entry>): Observed<Entry> {
  const mine = (entry: Entry) => isGuard(entry) === (part === 'guard')
  return { own: observed.own.filter(mine), foreign: [...observed.foreign, ...observed.own.filter((entry) => !mine(entry))] }
}

const isGuard = (entry: Entry): boolean =>
  'cookie' in entry ? entry.cookie === GUARD_COOKIE : 'kind' in entry && entry.family === 'netdev' && isGuardTable(entry.table)

/** Whether a change of the subsystem belongs to a step; `doomed` are the nft tables of which nothing is to stay. */
type Belongs = (change: Change<Entry>, doomed: ReadonlySet<string>) => boolean
/** A step changes a part of a subsystem, or ends connections: those of pods, those of flows. */
type Step = readonly [subsystem: SubsystemName, belongs: Belongs] | readonly [connections: 'of pods' | 'of flows']

const inDoomed: Belongs = ({ from }, doomed) => from !== null && 'kind' in from && doomed.has(tableOf(from))
const isTranslation: Belongs = ({ from }) => from !== null && 'kind' in from && from.kind === 'element' && from.map
const comes: Belongs = ({ op }) => op !== 'delete'
const goes: Belongs = ({ op }) => op === 'delete'

/**
 * The order across subsystems, in which no prefix lets a pod out with another address. What prevents a leak comes first, then what a rule
 * leads to, then the rules, then the flows, all of a bridge at one moment. What goes goes the other way round: the translation of a pod
 * before its connections, which would keep the address, and these before its rule, without which they would leave through another
 * interface; the filter last. A pod whose address changes meets the filter until its new rule is there.
 */
const STEPS: readonly Step[] = [
  ['nftables', (change, doomed) => !inDoomed(change, doomed) || isTranslation(change, doomed)],
  ['of pods'],
  ['neighbors', comes],
  ['addresses', comes],
  ['routes', comes],
  ['rules', comes],
  ['rules', goes],
  ['routes', goes],
  ['addresses', goes],
  ['neighbors', goes],
  ['openflow', () => true],
  ['of flows'],
  ['nftables', (change, doomed) => inDoomed(change, doomed) && !isTranslation(change, doomed)],
]

interface Act {
  readonly subsystem: SubsystemName
  /** What it changes; null where it ends connections. */
  readonly changes: readonly Change<Entry>[] | null
  readonly run: () => Promise<void>
}

/** What the changes ask for on the way to the goal, in order. */
function actsOf(
  host: Host,
  { entries, subsystems, stale }: Pick<Goal, 'entries' | 'subsystems' | 'stale'>,
  changes: readonly Change<Entry>[],
) {
  const doomed = new Set(
    changes.flatMap(({ op, from }) => (op === 'delete' && from && 'kind' in from && from.kind === 'table' ? tableOf(from) : [])),
  )
  const connections = staleConnections(changes, entries, stale, host.conntrack.keeps)
  const acts = STEPS.map(([name, belongs]): Act => {
    if (name === 'of pods' || name === 'of flows') {
      const chosen = connections.filter((each) => 'pod' in each === (name === 'of pods'))
      const run = async () => (chosen.length > 0 ? host.conntrack.forget(chosen) : undefined)
      return { subsystem: name === 'of pods' ? 'nftables' : 'openflow', changes: null, run }
    }
    const chosen = changes.filter((change) => change.subsystem === name && belongs?.(change, doomed))
    return { subsystem: name, changes: chosen, run: () => host[name].apply(chosen) }
  })
  return acts.filter(({ subsystem }) => subsystems.includes(subsystem))
}

/** What came of a pass. No problem means that the second plan is empty. */
export interface Outcome {
  /** The changes that the host has now; none when what the pass did was put back. */
  readonly made: readonly Change<Entry>[]
  readonly problems: readonly Problem[]
  /** Whether something was changed and put back. */
  readonly putBack?: true
}

/**
 * Makes the changes of one part, step by step, and looks again, unless there was nothing to do. When a step fails, or `check` says that
 * something does not hold afterwards, what the pass changed is put back as it was observed.
 */
export async function applyPart(
  host: Host,
  goal: Goal,
  before: Observation,
  { changes, conflicts }: PartPlan,
  check: () => Promise<readonly Problem[]> = async () => [],
): Promise<Outcome> {
  const touched = new Set<SubsystemName>()
  try {
    for (const act of actsOf(host, goal, changes)) {
      if (act.changes && act.changes.length > 0) touched.add(act.subsystem)
      await act.run()
    }
  } catch (error) {
    return { made: [], problems: [faultProblem(error), ...(await restore(host, goal.part, before, [...touched]))], putBack: true }
  }
  if (changes.length + conflicts.length === 0) return { made: [], problems: [] }
  const left = planPart(host, goal, await observe(host, goal.subsystems))
  const [first] = [...left.changes, ...left.conflicts]
  if (!first) {
    const failed = changes.length > 0 ? await check() : []
    if (failed.length === 0) return { made: changes, problems: [] }
    return { made: [], problems: [...failed, ...(await restore(host, goal.part, before, [...touched]))], putBack: true }
  }
  const count = left.changes.length + left.conflicts.length
  const message = `after the pass ${count} entries still differ, the first is ${first.subsystem} ${first.key}`
  return { made: changes, problems: [problem('NotConverged', { message })] }
}

/** Puts back what the named subsystems held, in the order of any other pass: what a failed one added may lead pods out already. */
async function restore(host: Host, part: Part, before: Observation, names: Subsystems): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  const changes: Change<Entry>[] = []
  const attempt = async (name: SubsystemName, act: () => Promise<void>): Promise<void> => {
    try {
      await act()
    } catch (error) {
      const { message, remedy } = faultProblem(error)
      problems.push(problem('CommandFailed', { message: `${name} could not be put back: ${message}`, remedy }))
    }
  }
  const was: Partial<Record<SubsystemName, readonly Entry[]>> = {}
  for (const name of names) {
    await attempt(name, async () => {
      was[name] = split(part, before[name]).own
      const { own, foreign } = split(part, await host[name].observe())
      changes.push(...diff<Entry>(host[name].language, was[name], own, foreign).changes)
    })
  }
  const entries = { ...NO_ENTRIES, ...was } as Entries
  for (const act of actsOf(host, { entries, subsystems: names, stale: [] }, changes)) {
    if (act.changes?.length !== 0) await attempt(act.subsystem, act.run)
  }
  // Who reports what the host holds is to know how it ended.
  for (const name of names) await host[name].observe().catch(() => [])
  return problems
}

/** What a host refused, or said in words that this agent cannot read, as a problem. Anything else is thrown again. */
export function faultProblem(error: unknown): Problem {
  if (error instanceof HostFault) return problem(error.code, { message: error.message, remedy: error.remedy })
  if (!(error instanceof SyntaxFault || error instanceof SyntaxError)) throw error
  const remedy =
    'See which program or file of this host says something unusual; egretta was tested with nft 1.0.6, Open vSwitch 3.1 and iproute2 6.1.'
  return problem('CommandFailed', { message: `what the host says cannot be read: ${error.message}`, remedy })
}
