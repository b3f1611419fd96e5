import { type Address, parseAddress } from '../model/address.js'
import type { Placement } from '../model/assignment.js'
import { NOTHING_LIVE, readEgressIP } from '../model/egressip.js'
import type { Inputs } from '../model/inputs.js'
import type { EgressIPIntent } from '../model/intent.js'
import { selectionOf } from '../model/selection.js'
import type { ClusterPod } from '../model/topology.js'

type Selectors = Pick<EgressIPIntent, 'namespaceSelector' | 'podSelector'>

/**
 * Number of running pods whose egress addresses change: because their object gets or loses one of their family, or because
 * the selectors of an object select them anew or no more. Where the addresses live does not matter to a server.
 */
export function podsAffected({ intent, topology, current }: Inputs, placement: Placement): number {
  const podsOf = selectionOf(topology)
  const collect = (objects: Iterable<readonly [Selectors, Iterable<string>]>): ReadonlyMap<ClusterPod, ReadonlySet<string>> => {
    const egress = new Map<ClusterPod, Set<string>>()
    for (const [selectors, texts] of objects) {
      const addresses = [...texts].flatMap((text) => parseAddress(text) ?? [])
      if (addresses.length === 0) continue
      for (const pod of podsOf(selectors)) {
        const held = egress.get(pod) ?? new Set()
        for (const address of addresses) if (speaks(pod, address)) held.add(address.text)
        egress.set(pod, held)
      }
    }
    return egress
  }
  const then = new Map<string, string[]>()
  for (const { object, egressIP, node } of placement.assignments) {
    if (node !== null) then.set(object, [...(then.get(object) ?? []), egressIP])
  }
  const ours = [...intent.objects, ...intent.gone]
  const before = collect(ours.map((object) => [liveSelectors(object), current.get(object.name)?.keys() ?? []] as const))
  const after = collect(intent.objects.map((object) => [object, then.get(object.name) ?? []] as const))
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
