import type { Position } from './problem.js'

/** What a file may say: what is wanted, what is there now, or (a dump of a live cluster) both. */
export type Role = 'intent' | 'topology' | 'both'

/** One input file as read: `file` is the path as the user wrote it (`-` for stdin). */
export interface SourceFile {
  readonly file: string
  readonly text: string
  readonly role: Role
}

/** One Kubernetes object of a source file; the items of a List stand for themselves. */
export interface SourceObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace: string | null
  readonly role: Role
  /** The parsed value, as JSON. */
  readonly value: Readonly<Record<string, unknown>>
  /** Where the object, or the value at a path in it such as `['spec', 'egressIPs', 0]`, stands. Falls back to the nearest parent that is there. */
  at(path?: readonly (string | number)[]): Position
}
