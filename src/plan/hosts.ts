import type { Artefact } from '../model/bundle.js'
import type { Inputs } from '../model/inputs.js'
import { type Problem, problem } from '../model/problem.js'
import { needsOfFiles } from './needs.js'
import { preflight } from './preflight.js'

/** What keeps hosts from doing what they are to hold, for each node of which the inputs have HostFacts. */
export function hostProblems({ topology, cluster }: Inputs, after: ReadonlyMap<string, readonly Artefact[]>): readonly Problem[] {
  const known = new Set(topology.nodes.map(({ name }) => name))
  return topology.hosts.flatMap(({ facts, source }) => {
    const files = after.get(facts.node)
    if (files) return preflight(needsOfFiles(files, cluster), facts, (path) => source.at(path))
    // a node without a bundle has a problem of its own
    if (known.has(facts.node)) return []
    return [
      problem('UnknownNode', {
        severity: 'warning',
        object: `HostFacts/${facts.node}`,
        message: `HostFacts/${facts.node}: the topology has no node ${facts.node}.`,
        remedy: 'Correct the name, or add the node to the topology.',
        source: source.at(['metadata', 'name']),
      }),
    ]
  })
}
