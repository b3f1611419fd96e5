import type { EgressIPIntent } from './egressip.js'

/** When an object was made, in milliseconds since 1970; one without creationTimestamp is the newest. */
export const ageOf = (object: EgressIPIntent): number => object.created ?? Number.POSITIVE_INFINITY

/** The order in which objects are served: the older first, then by name. */
export function compareObjects(a: EgressIPIntent, b: EgressIPIntent): number {
  if (ageOf(a) !== ageOf(b)) return ageOf(a) < ageOf(b) ? -1 : 1
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
