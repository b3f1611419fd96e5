import { type Path, printPath } from './json.js'
import type { Position } from './problem.js'
import { type SourceObject, subject } from './source.js'

/** A value, and the place that says it. */
export interface Said<T> {
  readonly value: T
  /** The object, as a problem names it: `Cluster/prod`. */
  readonly object: string
  /** The field: `spec.gatewayMode`. */
  readonly field: string
  readonly source: Position
}

/** What the object says at the path. */
export const said = <T>(value: T, object: SourceObject, path: Path): Said<T> => ({
  value,
  object: subject(object),
  field: printPath(path),
  source: object.at(path),
})
