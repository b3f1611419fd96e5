import { hostPrefix } from '../model/address.js'
import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { addresses } from '../syntax/addresses.js'
import { PATHS } from '../syntax/languages.js'
import { deviceOf } from '../syntax/symbols.js'
import { artefact } from './artefact.js'
import { secondaryAddresses } from './secondary.js'

/**
 * `addresses.json`: the egress IPs on the node's interfaces, each as a single address (/32 or /128), and the host masquerade addresses on its
 * bridge, with the length of their subnet (seed 002).
 */
export const renderAddresses = (state: Pick<NodeState, 'egressAddresses' | 'masqueradeAddresses' | 'secondary'>): Artefact =>
  artefact(PATHS.addresses, ['steady', 'startup', 'shutdown'], addresses.print, () => [
    ...state.egressAddresses.map(({ address, interface: dev, for: object }) => ({ address: hostPrefix(address), dev, for: object })),
    ...state.masqueradeAddresses.map(({ address, interface: dev, for: object }) => ({ address, dev, for: object })),
    ...secondaryAddresses(state).map(({ network, egressIP }) => ({
      address: hostPrefix(egressIP.address),
      dev: deviceOf(network),
      for: egressIP.for,
    })),
  ])
