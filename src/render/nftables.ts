import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { egressTable } from '../syntax/egress-nat.js'
import { guardTable, secondaryGuardTable } from '../syntax/guard.js'
import { PATHS } from '../syntax/languages.js'
import { type NftEntry, replaceCommands } from '../syntax/nftables.js'
import { deviceOf, uplinkOf } from '../syntax/symbols.js'
import { artefact } from './artefact.js'
import { egressPods, secondaryAddresses, secondaryNetworks } from './secondary.js'
import { templates } from './templates.js'

/** `nftables.json`: the table of secondary egress IPs. A node without any has it too; it translates nothing. */
export const renderNftables = (state: Pick<NodeState, 'externalBridge' | 'secondary'>): Artefact =>
  artefact(PATHS.nftables, ['steady', 'startup', 'shutdown'], print, () => {
    const podSubnets = state.externalBridge.networks.filter(({ name }) => name === 'default').flatMap(({ subnets }) => subnets)
    return egressTable(state.externalBridge.mode, podSubnets, egressPods(state))
  })

/**
 * `guard.nftables.json`: the shutdown guard (seed 000), and that of secondary interfaces where the node holds addresses on any. A node
 * without egress IPs has a guard too; it silences nothing.
 */
export const renderGuardTable = (state: Pick<NodeState, 'bridge' | 'guardDevice' | 'silenced' | 'secondary' | 'nftVersion'>): Artefact =>
  artefact(PATHS.guardNftables, ['shutdown'], print, () => {
    const { silenced, guardDevice, bridge, nftVersion } = state
    const secondary = secondaryAddresses(state).map(({ egressIP }) => egressIP)
    const devices = secondaryNetworks(state).map(({ network }) => deviceOf(network))
    return [
      ...guardTable(silenced, guardDevice ?? uplinkOf(bridge), nftVersion),
      ...(secondary.length > 0 ? secondaryGuardTable(secondary, devices, nftVersion) : []),
    ]
  })

const print = (entries: readonly NftEntry[]): string => templates['nftables/tables.json']({ commands: replaceCommands(entries) })
