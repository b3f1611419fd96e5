import type { Family } from '../model/address.js'
import { canonicalJson } from '../model/bundle.js'
import type { Inputs } from '../model/inputs.js'
import type { EgressIPIntent } from '../model/intent.js'
import { compareObjects } from '../model/precedence.js'
import { type Problem, problem } from '../model/problem.js'
import type { ClusterPod } from '../model/topology.js'

type Selected = ReadonlyMap<EgressIPIntent, readonly ClusterPod[]>

/** Pods that two objects select. */
interface Contest {
  readonly winner: EgressIPIntent
  readonly loser: EgressIPIntent
  readonly pods: ClusterPod[]
}

/** What is wrong between objects and the pods that they select: two objects for one pod, or no address of one of its families. */
export function podAdvice({ intent }: Inputs, selected: Selected): readonly Problem[] {
  const { winners, contests } = decide(selected)
  const ours = new Set(intent.objects)
  const counterpartOf = counterparts(intent.objects)
  return [
    ...contests.flatMap((contest) => overlappingSelection(contest, ours)),
    ...intent.objects.flatMap((object) => {
      const decided = (selected.get(object) ?? []).filter((pod) => winners.get(pod) === object)
      const lost = contests.filter(({ winner }) => winner === object)
      const missing = ([4, 6] as const).flatMap((family) => missingFamily(object, decided, family, lost))
      return missing.length > 0 ? missing : splitPair(object, counterpartOf(object))
    }),
  ]
}

/** Only one object can decide the address of a pod. Upstream takes whichever it sees first; here it is the older one, then the first by name. */
function decide(selected: Selected): { readonly winners: ReadonlyMap<ClusterPod, EgressIPIntent>; readonly contests: readonly Contest[] } {
  const winners = new Map<ClusterPod, EgressIPIntent>()
  const contests: Contest[] = []
  for (const loser of [...selected.keys()].sort(compareObjects)) {
    const lost = new Map<EgressIPIntent, Contest>()
    for (const pod of selected.get(loser) ?? []) {
      const winner = winners.get(pod)
      if (!winner) {
        winners.set(pod, loser)
        continue
      }
      const contest = lost.get(winner) ?? { winner, loser, pods: [] }
      contest.pods.push(pod)
      lost.set(winner, contest)
    }
    contests.push(...lost.values())
  }
  return { winners, contests }
}

function overlappingSelection({ winner, loser, pods }: Contest, ours: ReadonlySet<EgressIPIntent>): readonly Problem[] {
  const subject = ours.has(loser) ? loser : winner
  if (!ours.has(subject)) return []
  const verb = pods.length === 1 ? 'is' : 'are'
  const message = `${tell(pods)} ${verb} selected by both ${winner.name} and ${loser.name}; ${winner.name} decides the address.`
  return [problem('OverlappingSelection', { object: subject.name, message, source: subject.source.at(['spec', 'namespaceSelector']) })]
}

/** "The pod web/one", "3 pods, such as web/one", sorted by name. */
function tell(pods: readonly ClusterPod[]): string {
  let first: string | null = null
  for (const { namespace, name } of pods) {
    const text = `${namespace}/${name}`
    if (first === null || text < first) first = text
  }
  return pods.length === 1 ? `The pod ${first}` : `${pods.length} pods, such as ${first},`
}

const has = (object: EgressIPIntent, family: Family): boolean => object.addresses.some(({ address }) => address?.family === family)

/** The one family that an object has addresses of; null where it has both or none. */
function onlyFamily(object: EgressIPIntent): Family | null {
  if (has(object, 4) === has(object, 6)) return null
  return has(object, 4) ? 4 : 6
}

/**
 * For the first of the objects that select the same and have one family each the first one that has the other. Whatever pods there are:
 * such a pair is meant as one dual-stack object.
 */
function counterparts(objects: readonly EgressIPIntent[]): (object: EgressIPIntent) => EgressIPIntent | null {
  const ofOne = objects.filter((object) => onlyFamily(object) !== null).sort(compareObjects)
  if (new Set(ofOne.map(onlyFamily)).size < 2) return () => null
  const selectionOf = ({ namespaceSelector, podSelector }: EgressIPIntent) => canonicalJson([namespaceSelector, podSelector])
  const alike = new Map<string, EgressIPIntent[]>()
  for (const object of ofOne) {
    const key = selectionOf(object)
    const group = alike.get(key)
    if (group) group.push(object)
    else alike.set(key, [object])
  }
  const found = new Map<EgressIPIntent, EgressIPIntent>()
  for (const [first, ...later] of alike.values()) {
    const other = first && later.find((one) => onlyFamily(one) !== onlyFamily(first))
    if (first && other) found.set(first, other)
  }
  return (object) => found.get(object) ?? null
}

/** Two objects for one family each, of which no pod in the inputs tells. */
function splitPair(object: EgressIPIntent, other: EgressIPIntent | null): readonly Problem[] {
  if (!other) return []
  const [mine, others] = [object, other].map((one) => `IPv${onlyFamily(one)}`)
  const message = `${object.name} has ${mine} alone and ${other.name}, which selects the same pods, ${others} alone: two objects do not make a dual-stack pair.`
  const source = object.source.at(['spec', 'egressIPs'])
  return [problem('MissingFamily', { object: object.name, message, source, remedy: mergeRemedy(object, other) })]
}

const mergeRemedy = (one: EgressIPIntent, other: EgressIPIntent): string =>
  `Put the addresses of ${one.name} and ${other.name} into one object.`

/** Pods that an object decides and that have an address of a family for which it has none. An object without any address has other faults. */
function missingFamily(
  object: EgressIPIntent,
  decided: readonly ClusterPod[],
  family: Family,
  lost: readonly Contest[],
): readonly Problem[] {
  if (onlyFamily(object) !== (family === 4 ? 6 : 4)) return []
  const without = decided.filter(({ addresses }) => addresses.some((address) => address.family === family))
  if (without.length === 0) return []
  const other = lost.find(({ loser }) => onlyFamily(loser) === family)?.loser
  const kind = `IPv${family}`
  const verb = without.length === 1 ? 'has' : 'have'
  const message = other
    ? `${tell(without)} ${verb} an ${kind} address, and ${object.name} has none for it; ${other.name} has, but two objects do not make a dual-stack pair.`
    : `${tell(without)} ${verb} an ${kind} address, and ${object.name} has none for it: that traffic leaves with the address of its node.`
  const remedy = other ? { remedy: mergeRemedy(object, other) } : {}
  return [problem('MissingFamily', { object: object.name, message, source: object.source.at(['spec', 'egressIPs']), ...remedy })]
}
