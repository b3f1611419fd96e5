import { labelIndex } from './label-index.js'
import type { LabelSelector } from './selector.js'
import type { Topology } from './topology.js'
import type { UserDefinedNetwork } from './user-defined-network.js'

type NetworkSelection = (selector: LabelSelector) => readonly UserDefinedNetwork[]

const known = new WeakMap<Topology, NetworkSelection>()

/**
 * The primary user-defined networks that pods of an EgressIP can be on: those of whose namespaces it selects one, in the order of the
 * topology. The namespaces of a topology are indexed once.
 */
export function networksSelectedBy(
  topology: Topology,
  { namespaceSelector }: { readonly namespaceSelector: LabelSelector },
): readonly UserDefinedNetwork[] {
  const select = known.get(topology) ?? selectionIn(topology)
  known.set(topology, select)
  return select(namespaceSelector)
}

function selectionIn({ namespaces, networks }: Topology): NetworkSelection {
  const served = new Set(networks.flatMap((network) => network.namespaces))
  const namespacesOf = labelIndex(namespaces.filter(({ name }) => served.has(name)))
  return (selector) => {
    const selected = new Set(namespacesOf(selector).map(({ name }) => name))
    return networks.filter((network) => network.namespaces.some((name) => selected.has(name)))
  }
}
