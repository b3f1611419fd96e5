import type { Inputs } from '../model/inputs.js'
import { labelIndex } from '../model/label-index.js'
import type { Problem } from '../model/problem.js'
import { selectionOf } from '../model/selection.js'
import { imbalance } from './advice-balance.js'
import { cloudAdvice } from './advice-clouds.js'
import { networkAdvice } from './advice-networks.js'
import { podAdvice } from './advice-pods.js'
import { selectorAdvice } from './advice-selectors.js'
import type { Field, Held } from './eligibility.js'
import type { Placed } from './placed.js'

/** What is worth knowing about a placement although no address is refused for it. `held` is what each node holds at the end. */
export function adviceOn(inputs: Inputs, field: Field, placed: readonly Placed[], held: readonly Held[]): readonly Problem[] {
  const { intent, topology } = inputs
  const podsOf = selectionOf(topology)
  const namespacesOf = labelIndex(topology.namespaces)
  const selected = new Map([...intent.objects, ...intent.foreign].map((object) => [object, podsOf(object)]))
  return [
    ...intent.objects.flatMap((object) => selectorAdvice(inputs, field, object, namespacesOf, selected.get(object)?.length ?? 0)),
    ...podAdvice(inputs, selected),
    ...networkAdvice(inputs, field, placed),
    ...cloudAdvice(inputs, field, placed, held),
    ...imbalance(field, placed, held),
  ]
}
