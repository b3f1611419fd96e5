import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { PATHS } from '../syntax/languages.js'
import { type HostRoute, routes } from '../syntax/routes.js'
import { deviceOf, tableOfDevice } from '../syntax/symbols.js'
import { artefact } from './artefact.js'
import { secondaryNetworks } from './secondary.js'

/**
 * `routes.json`: the main table's routes to services and masquerade addresses, and for each secondary network one entry that stands for a copy
 * of its interface's routes. Null where there is no route.
 */
export function renderRoutes(state: Pick<NodeState, 'routes' | 'secondary' | 'routeTableBase'>): Artefact | null {
  const networks = secondaryNetworks(state)
  if (state.routes.length + networks.length === 0) return null
  return artefact(PATHS.routes, ['steady', 'startup', 'shutdown'], routes.print, () => [
    ...state.routes.map(
      ({ destination, gateway, interface: dev, source, mtu, for: object }): HostRoute => ({
        dst: destination,
        family: destination.address.family,
        gateway,
        dev,
        src: source,
        mtu,
        metric: null,
        // Without a gateway the kernel would choose `link`; ovnkube's have `global`.
        scope: gateway === null && destination.address.family === 4 ? 'global' : null,
        table: 'main',
        for: object,
      }),
    ),
    ...networks.map(
      ({ network, for: object }): HostRoute => ({
        dst: null,
        family: network.address.family,
        gateway: null,
        dev: deviceOf(network),
        src: null,
        mtu: null,
        metric: null,
        scope: null,
        table: tableOfDevice(state.routeTableBase, deviceOf(network)),
        for: object,
      }),
    ),
  ])
}
