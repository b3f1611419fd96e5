import type { EgressIPIntent } from '../model/egressip.js'
import type { Inputs } from '../model/inputs.js'
import { isProbing } from '../model/probe.js'
import { type LabelSelector, matches, printSelector } from '../model/selector.js'
import type { ProbedNode, ProbeSet } from './explanation.js'

/** The objects whose selectors count: those of the intent, and those that only the cluster has. */
export const probingObjects = ({ intent }: Inputs): readonly EgressIPIntent[] =>
  [...intent.objects, ...intent.foreign].sort((a, b) => (a.name < b.name ? -1 : 1))

/**
 * The nodes that ovnkube probes: the union of the egressNodeSelectors of all objects (seed 003), of which the Ready ones, and
 * none where the reachability check is off (seed 001). Upstream probes them one after another, every 5 s.
 */
export function probeSet(inputs: Inputs): ProbeSet {
  const { topology } = inputs
  const groups = new Map<string, { readonly selector: LabelSelector; readonly objects: string[] }>()
  for (const { name, egressNodeSelector } of probingObjects(inputs)) {
    const key = printSelector(egressNodeSelector)
    const group = groups.get(key) ?? { selector: egressNodeSelector, objects: [] }
    group.objects.push(name)
    groups.set(key, group)
  }
  const last = new Map(topology.probes.map((probe) => [probe.node, probe]))
  const counts = new Map<LabelSelector, number>()
  const nodes = [...topology.nodes]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, labels, ready }): ProbedNode => {
      const selecting = [...groups.values()].filter(({ selector }) => matches(selector, labels))
      for (const { selector } of selecting) counts.set(selector, (counts.get(selector) ?? 0) + 1)
      const why = selecting.length === 0 ? 'NotSelected' : !isProbing(topology.facts) ? 'CheckOff' : ready ? 'Probed' : 'NotReady'
      const objects = selecting.flatMap((group) => group.objects).sort()
      return { node: name, probed: why === 'Probed', why, objects, last: last.get(name) ?? null }
    })
  const selectors = [...groups.values()]
    .map(({ selector, objects }) => ({ selector: printSelector(selector), objects, nodes: counts.get(selector) ?? 0 }))
    .sort((a, b) => (a.selector < b.selector ? -1 : 1))
  return {
    timeout: topology.facts.reachabilityTimeout,
    nodes,
    selectors,
    everything: selectors.find(({ selector }) => selector === '')?.objects ?? [],
  }
}
