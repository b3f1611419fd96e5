import { HostFault } from '../host/exec.js'
import type { Observed, Subsystem } from '../host/subsystem.js'
import type { Change } from '../model/change.js'
import type { SubsystemName } from '../model/cluster.js'
import { GUARD_COOKIE, GUARD_TABLE } from '../model/numbers.js'
import { type Problem, problem } from '../model/problem.js'
import { type Conflict, diff } from '../plan/diff.js'
import { SyntaxFault } from '../syntax/language.js'
import type { Entry } from '../syntax/languages.js'
import { tableOf } from '../syntax/nftables.js'
import type { Entries } from './bundle.js'

/** The subsystems of a host that this agent knows. */
export type Host = Readonly<Record<keyof Entries, Subsystem<Entry>>>
export type Subsystems = readonly (keyof Entries)[]
/** The order of every list of changes; the order of steps is that of `STEPS`. */
export const SUBSYSTEMS: Subsystems = ['nftables', 'openflow', 'neighbors', 'addresses']

/** The guard and everything else are passes of their own: nothing that is wrong with the rest delays a guard. */
export type Part = 'guard' | 'base'

/** What one pass is to reach. */
export interface Goal {
  readonly part: Part
  readonly entries: Entries
  /** Keys of entries that wait, by subsystem: what the host has under such a key stays as it is. */
  readonly waiting: ReadonlySet<string>
  /** Subsystems that the pass compares. */
  readonly subsystems: Subsystems
}

export const waitingKey = (subsystem: SubsystemName, key: string): string => `${subsystem} ${key}`

export interface PartPlan {
  readonly changes: readonly Change<Entry>[]
  readonly conflicts: readonly (Conflict<Entry> & { readonly subsystem: SubsystemName })[]
}

export type Observation = Readonly<Partial<Record<keyof Entries, Observed<Entry>>>>

/** What the subsystems hold now. */
export async function observe(host: Host, subsystems: Subsystems): Promise<Observation> {
  const found: Partial<Record<keyof Entries, Observed<Entry>>> = {}
  for (const name of subsystems) found[name] = await host[name].observe()
  return found
}

/** What turns the observation into the goal. Entries of the other part are foreign to this one. */
export function planPart(host: Host, goal: Goal, observed: Observation): PartPlan {
  const changes: Change<Entry>[] = []
  const conflicts: PartPlan['conflicts'][number][] = []
  for (const name of goal.subsystems) {
    const { own, foreign } = split(goal.part, observed[name])
    const found = diff<Entry>(host[name].language, goal.entries[name], own, foreign)
    changes.push(...found.changes.filter(({ op, key }) => op !== 'delete' || !goal.waiting.has(waitingKey(name, key))))
    conflicts.push(...found.conflicts.map((conflict) => ({ ...conflict, subsystem: name })))
  }
  return { changes, conflicts }
}

/** What belongs to a part, and everything else as foreign to it. */
export function split(part: Part, observed: Observed<Entry> = { own: [], foreign: [] }): Observed<Entry> {
  const mine = (entry: Entry) => isGuard(entry) === (part === 'guard')
  return { own: observed.own.filter(mine), foreign: [...observed.foreign, ...observed.own.filter((entry) => !mine(entry))] }
}

const isGuard = (entry: Entry): boolean =>
  'cookie' in entry ? entry.cookie === GUARD_COOKIE : 'kind' in entry && entry.table === GUARD_TABLE

/** Whether a change belongs to a step; `doomed` are the nft tables of which nothing is to stay. */
type Step = readonly [subsystem: keyof Entries, belongs: (change: Change<Entry>, doomed: ReadonlySet<string>) => boolean]

const inDoomed = ({ from }: Change<Entry>, doomed: ReadonlySet<string>): boolean =>
  from !== null && 'kind' in from && doomed.has(tableOf(from))

/**
 * The order across subsystems, in which no prefix lets a pod out with another address: what prevents a leak comes first, then what a flow
 * leads to, then the flows, all of a bridge at one moment; what goes goes in the opposite order, the filter last.
 */
const STEPS: readonly Step[] = [
  ['nftables', (change, doomed) => !inDoomed(change, doomed)],
  ['neighbors', ({ op }) => op !== 'delete'],
  ['addresses', ({ op }) => op !== 'delete'],
  ['addresses', ({ op }) => op === 'delete'],
  ['neighbors', ({ op }) => op === 'delete'],
  ['openflow', () => true],
  ['nftables', inDoomed],
]

/** What came of a pass. No problem means that the second plan is empty. */
export interface Outcome {
  /** The changes that the host has now; none when what the pass did was put back. */
  readonly made: readonly Change<Entry>[]
  readonly problems: readonly Problem[]
}

/** Makes the changes of one part, step by step, and looks again. When a step fails, what the pass changed is put back as it was observed. */
export async function applyPart(host: Host, goal: Goal, before: Observation, { changes }: PartPlan): Promise<Outcome> {
  const doomed = new Set(
    changes.flatMap(({ op, from }) => (op === 'delete' && from && 'kind' in from && from.kind === 'table' ? tableOf(from) : [])),
  )
  const done: (keyof Entries)[] = []
  try {
    for (const [name, belongs] of STEPS) {
      const chosen = changes.filter((change) => change.subsystem === name && belongs(change, doomed))
      if (!goal.subsystems.includes(name)) continue
      if (chosen.length > 0) done.unshift(name)
      await host[name].apply(chosen)
    }
  } catch (error) {
    return { made: [], problems: [faultProblem(error), ...(await restore(host, goal.part, before, [...new Set(done)]))] }
  }
  const left = planPart(host, goal, await observe(host, goal.subsystems))
  const [first] = [...left.changes, ...left.conflicts]
  if (!first) return { made: changes, problems: [] }
  const count = left.changes.length + left.conflicts.length
  const message = `after the pass ${count} entries still differ, the first is ${first.subsystem} ${first.key}`
  return { made: changes, problems: [problem('NotConverged', { message })] }
}

/** Puts back what the named subsystems held, in the order of the names. */
async function restore(host: Host, part: Part, before: Observation, names: Subsystems): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  for (const name of names) {
    try {
      const was = split(part, before[name]).own
      const { own, foreign } = split(part, await host[name].observe())
      await host[name].apply(diff<Entry>(host[name].language, was, own, foreign).changes)
    } catch (error) {
      const { message, remedy } = faultProblem(error)
      problems.push(problem('CommandFailed', { message: `${name} could not be put back: ${message}`, remedy }))
    }
  }
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
