import type { Family } from '../model/address.js'
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
  return [
    ...contests.flatMap((contest) => overlappingSelection(contest, ours)),
    ...intent.objects.flatMap((object) => {
      const decided = (selected.get(object) ?? []).filter((pod) => winners.get(pod) === object)
      const lost = contests.filter(({ winner }) => winner === object)
      return ([4, 6] as const).flatMap((family) => missingFamily(object, decided, family, lost))
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

/** Pods that an object decides and that have an address of a family for which it has none. An object without any address has other faults. */
function missingFamily(
  object: EgressIPIntent,
  decided: readonly ClusterPod[],
  family: Family,
  lost: readonly Contest[],
): readonly Problem[] {
  if (has(object, family) || !has(object, family === 4 ? 6 : 4)) return []
  const without = decided.filter(({ addresses }) => addresses.some((address) => address.family === family))
  if (without.length === 0) return []
  const other = lost.find(({ loser }) => has(loser, family) && !has(loser, family === 4 ? 6 : 4))?.loser
  const kind = `IPv${family}`
  const verb = without.length === 1 ? 'has' : 'have'
  const message = other
    ? `${tell(without)} ${verb} an ${kind} address, and ${object.name} has none for it; ${other.name} has, but two objects do not make a dual-stack pair.`
    : `${tell(without)} ${verb} an ${kind} address, and ${object.name} has none for it: that traffic leaves with the address of its node.`
  const remedy = other ? { remedy: `Put the addresses of ${object.name} and ${other.name} into one object.` } : {}
  return [problem('MissingFamily', { object: object.name, message, source: object.source.at(['spec', 'egressIPs']), ...remedy })]
}
