import { type Address, parseAddress } from '../model/address.js'
import type { Placement } from '../model/assignment.js'
import { NOTHING_LIVE, readEgressIP } from '../model/egressip.js'
import type { Inputs } from '../model/inputs.js'
import type { EgressIPIntent } from '../model/intent.js'
import { compareObjects } from '../model/precedence.js'
import { selectionOf } from '../model/selection.js'
import type { ClusterPod } from '../model/topology.js'

type Selectors = Pick<EgressIPIntent, 'namespaceSelector' | 'podSelector'>

/**
 * Number of running pods whose egress addresses change: because their object gets or loses one of their family, or because
 * the selectors of an object select them anew or no more. Of several objects with addresses that select a pod the first by
 * precedence decides, whether it is ours or not. Where the addresses live does not matter to a server.
 */
export function podsAffected({ intent, topology, current }: Inputs, placement: Placement): number {
  const podsOf = selectionOf(topology)
  const collect = (objects: Iterable<readonly [Selectors, Iterable<string>]>): ReadonlyMap<ClusterPod, ReadonlySet<string>> => {
    const egress = new Map<ClusterPod, ReadonlySet<string>>()
    for (const [selectors, texts] of objects) {
      const addresses = [...texts].flatMap((text) => parseAddress(text) ?? [])
      if (addresses.length === 0) continue
      for (const pod of podsOf(selectors)) {
        if (!egress.has(pod)) egress.set(pod, new Set(addresses.filter((address) => speaks(pod, address)).map(({ text }) => text)))
      }
    }
    return egress
  }
  const then = new Map<string, string[]>()
  for (const { object, egressIP, node } of placement.assignments) {
    if (node !== null) then.set(object, [...(then.get(object) ?? []), egressIP])
  }
  const foreign = new Set(intent.foreign)
  const now = [...intent.objects, ...intent.gone, ...intent.foreign].sort(compareObjects)
  const before = collect(now.map((object) => [liveSelectors(object), current.get(object.name)?.keys() ?? []] as const))
  const wanted = [...intent.objects, ...intent.foreign].sort(compareObjects)
  const after = collect(
    wanted.map((object) => [object, foreign.has(object) ? object.status.keys() : (then.get(object.name) ?? [])] as const),
  )
  return [...new Set([...before.keys(), ...after.keys()])].filter((pod) => !equal(before.get(pod), after.get(pod))).length
}

/** What the cluster selects now; where it does not have the object yet, what the intent says. */
const liveSelectors = (object: EgressIPIntent): Selectors =>
  object.live && object.live !== object.source ? (readEgressIP(object.live, NOTHING_LIVE).intent ?? object) : object

const speaks = (pod: ClusterPod, { family }: Address): boolean => pod.addresses.some((own) => own.family === family)

const NONE: ReadonlySet<string> = new Set()

function equal(a = NONE, b = NONE): boolean {
  return a.size === b.size && [...a].every((text) => b.has(text))
}
