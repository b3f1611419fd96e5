import { readLabels } from './labels.js'
import type { Problem } from './problem.js'
import type { Labels } from './selector.js'
import type { SourceObject } from './source.js'

export interface ClusterNamespace {
  readonly name: string
  readonly labels: Labels
}

/** A namespace and its labels. */
export function readNamespace(object: SourceObject): { namespace: ClusterNamespace; problems: readonly Problem[] } {
  const { labels, problems } = readLabels(object)
  return { namespace: { name: object.name, labels }, problems }
}
