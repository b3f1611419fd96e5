import type { SubsystemName } from './cluster.js'

export type Op = 'add' | 'update' | 'delete'

/** One difference between what should be and what is. `entry` is null for delete, `from` for add. */
export interface Change<E> {
  readonly subsystem: SubsystemName
  readonly op: Op
  /** Identity of the entry within the subsystem, printable. */
  readonly key: string
  readonly entry: E | null
  readonly from: E | null
}
