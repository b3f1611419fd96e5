import { labelIndex } from './label-index.js'
import { podExclusion } from './pod.js'
import type { LabelSelector } from './selector.js'
import { matches } from './selector.js'
import type { ClusterPod, Topology } from './topology.js'

interface Selecting {
  readonly namespaceSelector: LabelSelector
  readonly podSelector: LabelSelector
}

/**
 * Which pods an EgressIP speaks for: those of a matching namespace whose labels match, that run, have an address, and do
 * not share the host's network (seed 003). Returns a function so that the pods of a large cluster are indexed once.
 */
export function selectionOf(topology: Topology): (object: Selecting) => readonly ClusterPod[] {
  const byNamespace = new Map<string, ClusterPod[]>()
  for (const pod of topology.pods) {
    if (podExclusion(pod) !== null) continue
    const list = byNamespace.get(pod.namespace)
    if (list) list.push(pod)
    else byNamespace.set(pod.namespace, [pod])
  }
  const namespacesOf = labelIndex(topology.namespaces)
  return ({ namespaceSelector, podSelector }) =>
    namespacesOf(namespaceSelector)
      .flatMap((namespace) => byNamespace.get(namespace.name) ?? [])
      .filter((pod) => matches(podSelector, pod.labels))
}
