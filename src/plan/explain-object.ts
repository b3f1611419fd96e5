import type { EgressIPIntent } from '../model/egressip.js'
import type { Inputs } from '../model/inputs.js'
import { selectionOf } from '../model/selection.js'
import { matches, printSelector } from '../model/selector.js'
import type { ExplainSubject } from './explain-address.js'
import { type Deciding, podReference } from './explain-pod.js'
import type { ExplainedObject } from './explanation.js'

/** Where an EgressIP stands, which nodes its selector matches and which pods it decides. Null where there is no object of the name. */
export function explainObject({ inputs, placement }: ExplainSubject, deciders: Deciding, name: string): ExplainedObject | null {
  const { intent, topology } = inputs
  const [origin, object] = originOf(inputs, name)
  if (!object) return intent.invalid.some((one) => one.name === name) ? { ...NOTHING, name } : null
  const selected = selectionOf(topology)(object).map((pod) => ({ pod, winner: deciders.objectsOf(pod)[0] ?? object }))
  const decides = origin !== 'gone'
  return {
    name,
    origin,
    source: object.source.at(),
    created: object.created === null ? null : new Date(object.created).toISOString(),
    mark: placement.marks.get(name) ?? null,
    nodeSelector: printSelector(object.egressNodeSelector),
    matchingNodes: topology.nodes.filter(({ labels }) => matches(object.egressNodeSelector, labels)).length,
    pods: decides
      ? selected
          .filter(({ winner }) => winner.name === name)
          .map(({ pod }) => podReference(pod))
          .sort(byPod)
      : [],
    overruled: selected
      .filter(({ winner }) => winner.name !== name)
      .map(({ pod, winner }) => ({ pod: podReference(pod).pod, by: winner.name }))
      .sort(byPod),
  }
}

const byPod = (a: { readonly pod: string }, b: { readonly pod: string }): number => (a.pod < b.pod ? -1 : 1)

/** An object that cannot be read: nothing of it has an effect. */
const NOTHING: Omit<ExplainedObject, 'name'> = {
  origin: 'invalid',
  source: null,
  created: null,
  mark: null,
  nodeSelector: null,
  matchingNodes: 0,
  pods: [],
  overruled: [],
}

function originOf({ intent }: Inputs, wanted: string): readonly ['intent' | 'foreign' | 'gone', EgressIPIntent | undefined] {
  for (const [origin, objects] of [
    ['intent', intent.objects],
    ['foreign', intent.foreign],
    ['gone', intent.gone],
  ] as const) {
    const found = objects.find(({ name }) => name === wanted)
    if (found) return [origin, found]
  }
  return ['intent', undefined]
}
