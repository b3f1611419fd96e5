import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { renderAddresses } from './addresses.js'
import { renderNeighbors } from './neighbors.js'
import { renderGuardTable } from './nftables.js'
import { renderGuardFlows } from './openflow.js'

/** Every file of a node's bundle but `bundle.json`, sorted by path. The order of the lists in the state does not matter. */
export const render = (state: NodeState): readonly Artefact[] =>
  [renderAddresses(state), renderNeighbors(state), renderGuardFlows(state), renderGuardTable(state)].sort((a, b) =>
    a.path < b.path ? -1 : 1,
  )
