import { labelIndex } from './label-index.js'
import { podExclusion } from './pod.js'
import type { LabelSelector } from './selector.js'
import { matches } from './selector.js'
import type { ClusterPod, Topology } from './topology.js'

interface Selecting {
  readonly namespaceSelector: LabelSelector
  readonly podSelector: LabelSelector
}

type Selection = (object: Selecting) => readonly ClusterPod[]

const known = new WeakMap<Topology, Selection>()

/**
 * Which pods an EgressIP speaks for: those of a matching namespace whose labels match, that run, have an address, and do
 * not share the host's network (seed 003). The pods of a topology are indexed once, and what equal selectors find is found once:
 * a plan asks for it several times.
 */
export function selectionOf(topology: Topology): Selection {
  const selection = known.get(topology) ?? remembering(selectionIn(topology))
  known.set(topology, selection)
  return selection
}

function remembering(select: Selection): Selection {
  const found = new Map<string, readonly ClusterPod[]>()
  return ({ namespaceSelector, podSelector }) => {
    const key = JSON.stringify([namespaceSelector, podSelector])
    const pods = found.get(key) ?? select({ namespaceSelector, podSelector })
    found.set(key, pods)
    return pods
  }
}

function selectionIn(topology: Topology): Selection {
  const byNamespace = new Map<string, ClusterPod[]>()
  for (const pod of topology.pods) {
    if (podExclusion(pod) !== null) continue
    const list = byNamespace.get(pod.namespace)
    if (list) list.push(pod)
    else byNamespace.set(pod.namespace, [pod])
  }
  const namespacesOf = labelIndex(topology.namespaces)
  return ({ namespaceSelector, podSelector }) => {
    const pods: ClusterPod[] = []
    for (const { name } of namespacesOf(namespaceSelector)) {
      for (const pod of byNamespace.get(name) ?? []) if (matches(podSelector, pod.labels)) pods.push(pod)
    }
    return pods
  }
}
