import type { LabelSelector } from './selector.js'
import { matches } from './selector.js'
import type { ClusterPod, Topology } from './topology.js'

interface Selecting {
  readonly namespaceSelector: LabelSelector
  readonly podSelector: LabelSelector
}

const FINISHED = ['Succeeded', 'Failed']

/**
 * Which pods an EgressIP speaks for: those of a matching namespace whose labels match, that run, have an address, and do
 * not share the host's network (seed 003). Returns a function so that the pods of a large cluster are indexed once.
 */
export function selectionOf(topology: Topology): (object: Selecting) => readonly ClusterPod[] {
  const byNamespace = new Map<string, ClusterPod[]>()
  for (const pod of topology.pods) {
    if (pod.hostNetwork || pod.addresses.length === 0 || FINISHED.includes(pod.phase)) continue
    const list = byNamespace.get(pod.namespace)
    if (list) list.push(pod)
    else byNamespace.set(pod.namespace, [pod])
  }
  return ({ namespaceSelector, podSelector }) =>
    topology.namespaces
      .filter((namespace) => matches(namespaceSelector, namespace.labels))
      .flatMap((namespace) => byNamespace.get(namespace.name) ?? [])
      .filter((pod) => matches(podSelector, pod.labels))
}
