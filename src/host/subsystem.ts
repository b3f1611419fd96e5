import type { Change } from '../model/change.js'
import type { Language } from '../syntax/language.js'

/** What a subsystem of the host holds now. `own` carries our mark; `foreign` is everything else that could hold a key of ours. */
export interface Observed<E> {
  readonly own: readonly E[]
  readonly foreign: readonly E[]
}

/**
 * One subsystem of a host. Two of them hold this contract, the real one and the fake, and one suite tests both:
 * `apply` of what `diff` says makes the next `diff` empty; foreign entries come out as they went in; a change is applied
 * whole or, when `apply` throws, in a part that the next `observe` shows truly.
 */
export interface Subsystem<E> {
  readonly language: Language<E>
  observe(): Promise<Observed<E>>
  /** Makes the changes. Fails with HostFault. */
  apply(changes: readonly Change<E>[]): Promise<void>
}
