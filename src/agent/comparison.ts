import { readText } from '../host/files.js'
import type { LiveRoute } from '../host/routes.js'
import type { Change } from '../model/change.js'
import { type Problem, problem } from '../model/problem.js'
import type { Entry } from '../syntax/languages.js'
import type { Bundle } from './bundle.js'
import { type Leftover, leftoverProblem, leftoverRoutes } from './leftovers.js'
import { type Goal, type Host, type Observation, type PartPlan, planPart } from './reconcile.js'
import { elsewhere, tooManyRemovals } from './removals.js'

/** What turns a host into the goal, and what keeps a pass from doing so. */
export interface Comparison {
  readonly plan: PartPlan
  /** The observation from which the plan starts. */
  readonly seen: Observation
  /** Of subsystems that are only verified. */
  readonly differences: readonly Change<Entry>[]
  /** With one of these the pass changes nothing. */
  readonly stops: readonly Problem[]
  readonly warnings: readonly Problem[]
}

/**
 * Compares what was found with the goal for the subsystems that the agent manages, and with that for those that it only verifies.
 * `released` are addresses that the node gave back: what goes with them does not count as removed.
 */
export function compare(
  host: Host,
  {
    bundle: folder,
    maxRemove,
    replaceServiceRoutes,
  }: { readonly bundle: string; readonly maxRemove: number; readonly replaceServiceRoutes?: boolean },
  bundle: Bundle,
  [managed, verified]: readonly [managed: Goal, verified: Goal],
  found: Observation,
  released: ReadonlySet<string>,
): Comparison {
  const leftovers = leftoversOf(managed, found)
  const adopted = replaceServiceRoutes ? leftovers.filter(({ replaceable }) => replaceable) : []
  const seen = adopting(found, adopted)
  const plan = planPart(host, managed, seen)
  const inTheWay = leftovers.filter((each) => !adopted.includes(each))
  const moved = new Set([...elsewhere(readIndex(folder), bundle), ...released])
  return {
    plan,
    seen,
    differences: differencesOf(planPart(host, verified, found)),
    stops: [
      ...conflictProblems(plan, inTheWay),
      ...(managed.subsystems.includes('routes') ? inTheWay.map((each) => leftoverProblem(each, 'error')) : []),
      ...(managed.part === 'base' ? tooManyRemovals(plan.changes, seen, managed.awaited, moved, maxRemove) : []),
    ],
    warnings: verified.subsystems.includes('routes') ? leftovers.map((each) => leftoverProblem(each, 'warning')) : [],
  }
}

/** Who only verifies sees an entry of somebody else that means something else as one more difference. */
const differencesOf = ({ changes, conflicts }: PartPlan): readonly Change<Entry>[] => [
  ...changes,
  ...conflicts.map(({ subsystem, key, desired, foreign }) => ({ subsystem, op: 'update' as const, key, entry: desired, from: foreign })),
]

/** Left-over routes have a problem of their own. */
const conflictProblems = ({ conflicts }: PartPlan, leftovers: readonly Leftover[]): readonly Problem[] =>
  conflicts
    .filter(({ foreign }) => !leftovers.some(({ route }) => route === foreign))
    .map(({ subsystem, key }) =>
      problem('ForeignConflict', {
        message: `${subsystem}: the host has another entry for "${key}", which egretta did not make and which means something else`,
      }),
    )

/** Routes of others in the place of those to services; none where the pass does not compare routes. */
const leftoversOf = ({ entries }: Goal, { routes }: Observation): readonly Leftover[] =>
  leftoverRoutes(entries.routes, (routes?.foreign ?? []) as readonly LiveRoute[])

/** The observation with left-over routes as ours, so that the pass replaces them. */
function adopting(seen: Observation, leftovers: readonly Leftover[]): Observation {
  if (!seen.routes) return seen
  const adopted = new Set<Entry>(leftovers.map(({ route }) => route))
  const { own, foreign } = seen.routes
  return { ...seen, routes: { own: [...own, ...adopted], foreign: foreign.filter((entry) => !adopted.has(entry)) } }
}

/** `index.json` of the rendering that the bundle is part of: two folders up. Null where there is none. */
function readIndex(bundle: string): string | null {
  try {
    return readText(`${bundle}/../../index.json`)
  } catch {
    return null
  }
}
