import { type Address, parseAddress } from '../model/address.js'
import type { Placement } from '../model/assignment.js'
import { NOTHING_LIVE, readEgressIP } from '../model/egressip.js'
import { isEqual } from '../model/equal.js'
import type { Inputs } from '../model/inputs.js'
import type { EgressIPIntent } from '../model/intent.js'
import { compareObjects } from '../model/precedence.js'
import { selectionOf } from '../model/selection.js'
import type { ClusterPod, Topology } from '../model/topology.js'

/** An EgressIP as pods see it: whom it selects, and the addresses of it that are on a node (RFC 5952). */
export type Speaker = Pick<EgressIPIntent, 'name' | 'created' | 'namespaceSelector' | 'podSelector'> & {
  readonly addresses: readonly string[]
}

/** The object that decides the addresses of a pod, and those of them that the pod has the family for. */
export interface Voice {
  readonly object: string
  readonly addresses: ReadonlySet<string>
}

export type Voices = ReadonlyMap<ClusterPod, Voice>

/** Who speaks for pods now: the selectors as the cluster has them, the addresses as they are held. */
export function speakersNow({ intent, current }: Pick<Inputs, 'intent' | 'current'>): readonly Speaker[] {
  return [...intent.objects, ...intent.gone, ...intent.foreign].map((object) =>
    speaker(object, liveSelectors(object), [...(current.get(object.name)?.keys() ?? [])]),
  )
}

/** Who will speak for them once a placement is there. */
export function speakersThen({ intent }: Pick<Inputs, 'intent'>, placement: Placement): readonly Speaker[] {
  const then = new Map<string, string[]>()
  for (const { object, egressIP, node } of placement.assignments) {
    if (node === null) continue
    const addresses = then.get(object)
    if (addresses) addresses.push(egressIP)
    else then.set(object, [egressIP])
  }
  return [
    ...intent.objects.map((object) => speaker(object, object, then.get(object.name) ?? [])),
    ...intent.foreign.map((object) => speaker(object, object, [...object.status.keys()])),
  ]
}

/** Of several objects with addresses that select a pod the first by precedence decides, whether it is ours or not. */
export function voicesOf(topology: Topology): (speakers: readonly Speaker[]) => Voices {
  const podsOf = selectionOf(topology)
  return (speakers) => {
    const voices = new Map<ClusterPod, Voice>()
    for (const one of [...speakers].sort(compareObjects)) {
      const addresses = one.addresses.flatMap((text) => parseAddress(text) ?? [])
      if (addresses.length === 0) continue
      // Most pods of an object have the same families, and so one voice.
      const shared = new Map<number, Voice>()
      for (const pod of podsOf(one)) {
        if (voices.has(pod)) continue
        let families = 0
        for (const { family } of pod.addresses) families |= family === 4 ? 1 : 2
        let voice = shared.get(families)
        if (!voice) {
          const own = addresses.filter((address) => speaks(pod, address)).map(({ text }) => text)
          voice = { object: one.name, addresses: new Set(own) }
          shared.set(families, voice)
        }
        voices.set(pod, voice)
      }
    }
    return voices
  }
}

/**
 * Number of running pods whose egress addresses change: because their object gets or loses one of their family, or because
 * the selectors of an object select them anew or no more. Where the addresses live does not matter to a server.
 */
export function podsAffected(before: Voices, after: Voices): number {
  let count = 0
  for (const [pod, { addresses }] of after) if (!equal(before.get(pod)?.addresses, addresses)) count++
  for (const [pod, { addresses }] of before) if (!after.has(pod) && addresses.size > 0) count++
  return count
}

type Selectors = Pick<EgressIPIntent, 'namespaceSelector' | 'podSelector'>

const speaker = (
  { name, created }: EgressIPIntent,
  { namespaceSelector, podSelector }: Selectors,
  addresses: readonly string[],
): Speaker => ({
  name,
  created,
  namespaceSelector,
  podSelector,
  addresses,
})

/** What the cluster selects now; where it does not have the object yet, what the intent says. */
function liveSelectors(object: EgressIPIntent): Selectors {
  const { live, source } = object
  if (!live || isEqual(live.value.spec, source.value.spec)) return object
  return readEgressIP(live, NOTHING_LIVE).intent ?? object
}

const speaks = (pod: ClusterPod, { family }: Address): boolean => pod.addresses.some((own) => own.family === family)

const NONE: ReadonlySet<string> = new Set()

function equal(a = NONE, b = NONE): boolean {
  if (a.size !== b.size) return false
  for (const text of a) if (!b.has(text)) return false
  return true
}
