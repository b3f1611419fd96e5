import { type Address, parseAddress } from './address.js'
import { NOTHING_LIVE, readEgressIP } from './egressip.js'
import { isEqual } from './equal.js'
import type { Inputs } from './inputs.js'
import type { EgressIPIntent, Intent } from './intent.js'
import { compareObjects } from './precedence.js'
import { selectionOf } from './selection.js'
import type { ClusterPod, Topology } from './topology.js'

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

/** Works an answer out once for the same two objects: compilation and plan ask the same. */
function once<A extends object, B extends object, T>(answer: (a: A, b: B) => T): (a: A, b: B) => T {
  const known = new WeakMap<A, WeakMap<B, T>>()
  return (a, b) => {
    const ofA = known.get(a) ?? new WeakMap<B, T>()
    known.set(a, ofA)
    if (!ofA.has(b)) ofA.set(b, answer(a, b))
    return ofA.get(b) as T
  }
}

type Held = Pick<Inputs, 'intent' | 'current'>

const now = once((intent: Intent, current: Inputs['current']): readonly Speaker[] =>
  [...intent.objects, ...intent.gone, ...intent.foreign].map((object) =>
    speaker(object, liveSelectors(object), [...(current.get(object.name)?.keys() ?? [])]),
  ),
)

/** Who speaks for pods now: the selectors as the cluster has them, the addresses as they are held. */
export const speakersNow = ({ intent, current }: Held): readonly Speaker[] => now(intent, current)

/** The same once the cluster has the selectors of the intent, with the addresses where they are: what becomes of an advisory placement. */
export const speakersSoon = ({ intent, current }: Held): readonly Speaker[] =>
  [...intent.objects, ...intent.gone, ...intent.foreign].map((object) =>
    speaker(object, object, [...(current.get(object.name)?.keys() ?? [])]),
  )

/** An address of an object and its node; null where it leaves its node. */
interface Placed {
  readonly object: string
  readonly egressIP: string
  readonly node: string | null
}

const then = once((intent: Intent, assignments: readonly Placed[]): readonly Speaker[] => {
  const placed = new Map<string, string[]>()
  for (const { object, egressIP, node } of assignments) {
    if (node === null) continue
    const addresses = placed.get(object)
    if (addresses) addresses.push(egressIP)
    else placed.set(object, [egressIP])
  }
  return [
    ...intent.objects.map((object) => speaker(object, object, placed.get(object.name) ?? [])),
    ...intent.foreign.map((object) => speaker(object, object, [...object.status.keys()])),
  ]
})

/** Who will speak for them once a placement is there. */
export const speakersThen = (
  { intent }: Pick<Inputs, 'intent'>,
  { assignments }: { readonly assignments: readonly Placed[] },
): readonly Speaker[] => then(intent, assignments)

/** Of several objects with addresses that select a pod the first by precedence decides, whether it is ours or not. */
export const voicesOf = once((topology: Topology, speakers: readonly Speaker[]): Voices => {
  const podsOf = selectionOf(topology)
  const found = new Map<ClusterPod, Voice>()
  for (const one of [...speakers].sort(compareObjects)) {
    const addresses = one.addresses.flatMap((text) => parseAddress(text) ?? [])
    if (addresses.length === 0) continue
    // Most pods of an object have the same families, and so one voice.
    const shared = new Map<number, Voice>()
    for (const pod of podsOf(one)) {
      if (found.has(pod)) continue
      let families = 0
      for (const { family } of pod.addresses) families |= family === 4 ? 1 : 2
      let voice = shared.get(families)
      if (!voice) {
        const own = addresses.filter((address) => speaks(pod, address)).map(({ text }) => text)
        voice = { object: one.name, addresses: new Set(own) }
        shared.set(families, voice)
      }
      found.set(pod, voice)
    }
  }
  return found
})

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
