import { type Prefix, parsePrefix } from '../model/address.js'
import { LAST_METRIC } from '../model/numbers.js'
import { type HostRoute, routes } from '../syntax/routes.js'
import { isSingle } from './addresses.js'
import type { Link } from './links.js'
import type { LiveRoute } from './routes.js'

const DEFAULTS = { 4: parsePrefix('0.0.0.0/0') as Prefix, 6: parsePrefix('::/0') as Prefix }

/**
 * What a copy of all routes of a device stands for: in the table of the copy, those of the family that lead out of the device alone, from
 * the main table or that of its VRF. Metric, scope, gateway and MTU are kept, the source is not: the pod's address is one already. Where
 * none is a default route, one without a gateway is added, so that a packet for elsewhere never leaves by another interface. Behind them all
 * stands one that refuses packets: when the interface goes down, the kernel drops what leads out of it at once, and an established connection
 * would go on through another interface with the egress IP of this one. Sorted by key.
 *
 * The route that the kernel makes for a single IPv6 address is left out: the host never looks there for an address of its own, and a copy
 * would change with every egress IP.
 */
export function copiedRoutes(copy: HostRoute, { name, table, addresses }: Link, live: readonly LiveRoute[]): readonly HostRoute[] {
  const own = new Set(addresses.map(({ address }) => address.address.text))
  const found = live
    .filter((route) => route.family === copy.family && route.dev === name && route.table === table)
    .filter(({ dst }) => !(isSingle(dst) && own.has(dst.address.text)))
    .map(({ dst, family, gateway, mtu, metric, scope }): HostRoute => {
      return { dst, family, gateway, dev: name, src: null, mtu, metric, scope, table: copy.table, for: copy.for }
    })
  const scope = copy.family === 4 ? 'global' : null
  const outside = { ...copy, dst: DEFAULTS[copy.family], gateway: null, src: null, mtu: null, metric: null, scope }
  const missing = found.some(({ dst }) => dst?.length === 0) ? [] : [outside]
  const last: HostRoute = { ...outside, type: 'unreachable', dev: '', metric: LAST_METRIC }
  // Of several with one key, the kernel asks the first that it lists.
  const ordered = [last, ...[...found, ...missing].reverse()]
  return [...new Map(ordered.map((route) => [routes.key(route), route] as const))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, route]) => route)
}
