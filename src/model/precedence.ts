import type { EgressIPIntent } from './egressip.js'

/** When an object was made, in milliseconds since 1970; one without creationTimestamp is the newest. */
export const ageOf = (object: Pick<EgressIPIntent, 'created'>): number => object.created ?? Number.POSITIVE_INFINITY

type Ranked = Pick<EgressIPIntent, 'name' | 'created'>

/** The order in which objects are served: the older first, then by name. */
export function compareObjects(a: Ranked, b: Ranked): number {
  if (ageOf(a) !== ageOf(b)) return ageOf(a) < ageOf(b) ? -1 : 1
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
