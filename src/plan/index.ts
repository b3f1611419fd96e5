import { compareAddresses, parseAddress } from '../model/address.js'
import type { Assignment, NMinusOne, Placement, PlacementOptions, Unassigned } from '../model/assignment.js'
import type { Artefact } from '../model/bundle.js'
import type { PlacementMode, SubsystemName } from '../model/cluster.js'
import type { Inputs } from '../model/inputs.js'
import type { Problem } from '../model/problem.js'
import { type Speaker, speakersNow, speakersThen, voicesOf } from '../model/speaker.js'
import { countChanges } from './diff.js'
import { type Disruption, disruptionsOf } from './disruptions.js'
import type { ObjectChange } from './object-change.js'
import { type PlanOptions, planOptions } from './options.js'
import type { PlanStep } from './order.js'
import { podsAffected } from './pods.js'
import { planSteps } from './steps.js'

/** How many entries of one subsystem a host adds, rewrites and deletes. */
export interface EntryCount {
  readonly add: number
  readonly update: number
  readonly delete: number
}

export interface PlanSummary {
  /** Of the intent: assigned + unassigned. */
  readonly addresses: number
  readonly assigned: number
  readonly unassigned: number
  readonly kept: number
  readonly added: number
  readonly moved: number
  /** Addresses that nobody asks for any more; they are not among `addresses`. */
  readonly removed: number
  /** Running pods whose source address becomes another one, appears or vanishes. A move of an address changes none. */
  readonly podsAffected: number
  /** See `Placement.optimalityGap`: 0 where the placement is proven to be the best. */
  readonly optimalityGap: number
}

export interface NodeChanges {
  readonly node: string
  readonly changes: Readonly<Partial<Record<SubsystemName, EntryCount>>>
}

/** What `egretta plan -o json` prints; schema: `schema/plan.json`. */
export interface Plan {
  readonly apiVersion: 'egretta.dev/v1alpha1'
  readonly kind: 'Plan'
  readonly inputDigest: string
  readonly placement: PlacementMode
  /** What the placement was asked for beside the inputs: `synth --plan` takes it from here. */
  readonly options: PlanOptions
  /** Only with `--previous`: what the changes are compared with instead of the current assignment. */
  readonly previous?: PlanOrigin
  readonly summary: PlanSummary
  readonly assignments: readonly Assignment[]
  readonly unassigned: readonly Unassigned[]
  /** In which order the addresses change their nodes. Empty where placement is advisory. */
  readonly steps: readonly PlanStep[]
  /** What pods notice of moves and new addresses, in the order of the assignments. */
  readonly disruptions: readonly Disruption[]
  /** Nodes whose host changes, by name. */
  readonly nodes: readonly NodeChanges[]
  /** Only with `--n-minus-1`: whether the cluster could lose any one egress node once the plan is applied. */
  readonly nMinusOne?: NMinusOne
  readonly problems: readonly Problem[]
}

/** An earlier plan, or inputs of which one was made. */
export interface PlanOrigin {
  /** As the user names it: a file or a folder. */
  readonly name: string
  readonly inputDigest: string
}

/** What a plan is made of: the outcome of an EgressCluster is this, among other things. */
export interface PlanSubject {
  readonly inputs: Inputs
  /** What `placement` was made with. */
  readonly options: PlacementOptions
  readonly placement: Placement
  /** Node to the files its host has agreed with until now. */
  readonly before: ReadonlyMap<string, readonly Artefact[]>
  /** Node to the files it will agree with. */
  readonly after: ReadonlyMap<string, readonly Artefact[]>
  readonly problems: readonly Problem[]
  /** Set by `comparedWith`: where the changes are not against the current assignment. */
  readonly previous?: PlanOrigin
  /** Set where it was asked for. */
  readonly nMinusOne?: NMinusOne
  /** Who has spoken for pods until now; absent: the cluster as it is. */
  readonly speakers?: readonly Speaker[]
}

/** The plan: pure, and the same for the same inputs in any order. */
export function buildPlan(subject: PlanSubject): Plan {
  const { inputs, options, placement, before, after, problems, previous, nMinusOne } = subject
  const assignments = [...placement.assignments].sort(compareEntries)
  const unassigned = [...placement.unassigned].sort(compareEntries)
  const count = (change: Assignment['change']) => assignments.filter((one) => one.change === change).length
  const assigned = assignments.length - count('remove')
  const voices = {
    before: voicesOf(inputs.topology, subject.speakers ?? speakersNow(inputs)),
    after: voicesOf(inputs.topology, speakersThen(inputs, placement)),
  }
  return {
    apiVersion: 'egretta.dev/v1alpha1',
    kind: 'Plan',
    inputDigest: inputs.digest,
    placement: inputs.cluster.placement,
    options: planOptions(options),
    ...(previous && { previous: { name: previous.name, inputDigest: previous.inputDigest } }),
    summary: {
      addresses: assigned + unassigned.length,
      assigned,
      unassigned: unassigned.length,
      kept: count('keep'),
      added: count('add'),
      moved: count('move'),
      removed: count('remove'),
      podsAffected: inputs.unreadable ? 0 : podsAffected(voices.before, voices.after),
      optimalityGap: placement.optimalityGap,
    },
    assignments: assignments.map(assignmentOf),
    unassigned: unassigned.map(unassignedOf),
    steps: planSteps(inputs, { ...placement, assignments, unassigned }),
    disruptions: disruptionsOf(inputs.topology, assignments, voices),
    nodes: hostChanges(before, after),
    ...(nMinusOne && { nMinusOne }),
    problems: problems.map(({ severity, code, object, message, remedy, source }) => ({ severity, code, object, message, remedy, source })),
  }
}

/** Whether applying the plan changes anything: addresses, objects (`changedObjects`), or what a host holds. */
export function hasDifferences({ summary, unassigned, nodes }: Plan, objects: readonly ObjectChange[]): boolean {
  const lost = unassigned.some(({ from }) => from !== null)
  return summary.added + summary.moved + summary.removed > 0 || lost || nodes.length > 0 || objects.length > 0
}

function hostChanges(before: PlanSubject['before'], after: PlanSubject['after']): readonly NodeChanges[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((node) => {
    const changes = countChanges(before.get(node) ?? [], after.get(node) ?? [])
    return Object.keys(changes).length > 0 ? [{ node, changes }] : []
  })
}

/** By object, then IPv4 before IPv6, then value; texts that are no address come last, as text. */
function compareEntries(a: Assignment | Unassigned, b: Assignment | Unassigned): number {
  if (a.object !== b.object) return a.object < b.object ? -1 : 1
  const left = parseAddress(a.egressIP)
  const right = parseAddress(b.egressIP)
  if (left && right) return compareAddresses(left, right)
  if (left || right) return left ? -1 : 1
  return a.egressIP < b.egressIP ? -1 : a.egressIP > b.egressIP ? 1 : 0
}

const assignmentOf = (one: Assignment): Assignment => ({
  egressIP: one.egressIP,
  object: one.object,
  node: one.node,
  network: one.network,
  networkType: one.networkType,
  interface: one.interface,
  change: one.change,
  from: one.from,
  certain: one.certain,
})

const unassignedOf = (one: Unassigned): Unassigned => ({
  egressIP: one.egressIP,
  object: one.object,
  reason: one.reason,
  message: one.message,
  from: one.from,
  reasons: Object.fromEntries(Object.entries(one.reasons).sort(([a], [b]) => (a < b ? -1 : 1))),
  nodes: one.nodes.map(({ node, reason }) => ({ node, reason })),
})
