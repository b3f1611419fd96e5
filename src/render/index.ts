import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { renderAddresses } from './addresses.js'
import { renderNeighbors } from './neighbors.js'
import { renderGuardTable, renderNftables } from './nftables.js'
import { renderFlows, renderGuardFlows, renderPorts } from './openflow.js'
import { renderRoutes } from './routes.js'
import { renderRules } from './rules.js'

/** How a file is rendered, and all parts of a state that it is made from. */
interface Rendering {
  readonly parts: readonly (keyof NodeState)[]
  readonly render: (state: NodeState) => Artefact | null
}

const from = <K extends keyof NodeState>(parts: readonly K[], render: (state: Pick<NodeState, K>) => Artefact | null): Rendering => ({
  parts,
  render,
})

const RENDERINGS: readonly Rendering[] = [
  from(['egressAddresses', 'masqueradeAddresses', 'secondary'], renderAddresses),
  from(['neighbors'], renderNeighbors),
  from(['node', 'bridge', 'externalBridge'], renderFlows),
  from(['bridge', 'externalBridge'], renderPorts),
  from(['node', 'bridge', 'nodeAddresses', 'announcing'], renderGuardFlows),
  from(['bridge', 'guardDevice', 'silenced', 'secondary', 'nftVersion'], renderGuardTable),
  from(['externalBridge', 'secondary'], renderNftables),
  from(['routes', 'secondary', 'routeTableBase'], renderRoutes),
  from(['node', 'externalBridge', 'secondary', 'routeTableBase'], renderRules),
]

/**
 * Every file of a node's bundle but `bundle.json`, sorted by path. The order of the lists in the state does not matter. A file whose parts of
 * the state are the same objects in `known` is the file rendered for that: printed once, and seen to be equal without being read.
 */
export const render = (state: NodeState, known?: { readonly state: NodeState; readonly files: readonly Artefact[] }): readonly Artefact[] =>
  RENDERINGS.flatMap(({ parts, render: renderFile }) => {
    const file = renderFile(state)
    const isSame = known && parts.every((part) => state[part] === known.state[part])
    return (isSame ? known.files.find(({ path }) => path === file?.path) : file) ?? []
  }).sort((a, b) => (a.path < b.path ? -1 : 1))
