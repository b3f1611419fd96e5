import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { guardTable } from '../syntax/guard.js'
import { PATHS } from '../syntax/languages.js'
import { replaceCommands } from '../syntax/nftables.js'
import { uplinkOf } from '../syntax/symbols.js'
import { artefact } from './artefact.js'
import { templates } from './templates.js'

/** `guard.nftables.json`: the shutdown guard (seed 000). A node without egress IPs has one too; it silences nothing. */
export const renderGuardTable = (state: NodeState): Artefact =>
  artefact(PATHS.guardNftables, ['shutdown'], () => {
    const entries = guardTable(state.silenced, state.guardDevice ?? uplinkOf(state.bridge), state.nftVersion)
    return templates['nftables/guard.json']({ commands: replaceCommands(entries) })
  })
