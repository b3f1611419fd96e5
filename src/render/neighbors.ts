import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { PATHS } from '../syntax/languages.js'
import { neighbors } from '../syntax/neighbors.js'
import { artefact } from './artefact.js'

/** `neighbors.json`: permanent neighbors for the masquerade addresses (seed 002), and for the gateway of the node's pods. */
export const renderNeighbors = (state: Pick<NodeState, 'neighbors'>): Artefact =>
  artefact(PATHS.neighbors, ['steady', 'startup', 'shutdown'], neighbors.print, () =>
    state.neighbors.map(({ address, mac, interface: dev, for: object }) => ({ dst: address, lladdr: mac, dev, for: object })),
  )
