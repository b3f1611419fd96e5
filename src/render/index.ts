import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { renderAddresses } from './addresses.js'
import { renderNeighbors } from './neighbors.js'
import { renderGuardTable, renderNftables } from './nftables.js'
import { renderFlows, renderGuardFlows, renderPorts } from './openflow.js'
import { renderRoutes } from './routes.js'
import { renderRules } from './rules.js'

/** Every file of a node's bundle but `bundle.json`, sorted by path. The order of the lists in the state does not matter. */
export const render = (state: NodeState): readonly Artefact[] =>
  [
    renderAddresses(state),
    renderNeighbors(state),
    renderFlows(state),
    renderPorts(state),
    renderGuardFlows(state),
    renderGuardTable(state),
    renderNftables(state),
    renderRoutes(state),
    renderRules(state),
  ]
    .flatMap((file) => file ?? [])
    .sort((a, b) => (a.path < b.path ? -1 : 1))
