import { isSingle } from '../host/addresses.js'
import type { LiveRoute } from '../host/routes.js'
import { networkOf, printPrefix } from '../model/address.js'
import { type Problem, problem } from '../model/problem.js'
import { type HostRoute, routes } from '../syntax/routes.js'

/** The management port of OVN-Kubernetes. */
const MANAGEMENT_PORT = 'ovn-k8s-mp0'

/** A route of others to a subnet of services that stands in the place of ours, or before it. */
export interface Leftover {
  readonly route: LiveRoute
  /** Whether it can be put back when the pass that replaces it fails: an entry says all of it, and it has its place alone. */
  readonly replaceable: boolean
  /** What should be there. */
  readonly desired: HostRoute
}

/** In IPv4 a route without a metric has the metric 0, in IPv6 1024. */
const metricOf = ({ metric, family }: HostRoute): number => metric ?? (family === 4 ? 0 : 1024)

/**
 * Routes of the main table that lead services elsewhere than `desired` says and are not ours: those of another gateway mode or release stay
 * behind when it changes, and services fail without a word (seed 004). One with a greater metric is never asked, and one of a network that
 * an interface itself is in was not left behind. Sorted as they come.
 */
export function leftoverRoutes(desired: readonly HostRoute[], foreign: readonly LiveRoute[]): readonly Leftover[] {
  const services = desired.filter(({ dst, table }) => dst !== null && !isSingle(dst) && table === 'main')
  return foreign.flatMap((route) => {
    if (!route.dst || route.table !== 'main' || (route.gateway === null && route.dev !== '')) return []
    const network = printPrefix(networkOf(route.dst))
    const service = services.find(({ dst }) => dst && printPrefix(networkOf(dst)) === network)
    if (!service || metricOf(route) > metricOf(service) || routes.same(route, service)) return []
    const isAlone = foreign.filter((other) => routes.key(other) === routes.key(route)).length === 1
    return [{ route, desired: service, replaceable: route.whole && isAlone }]
  })
}

/** What a left-over route is, which form of OVN-Kubernetes it is of, and the command that removes it. */
export function leftoverProblem({ route, desired, replaceable }: Leftover, severity: 'error' | 'warning'): Problem {
  const [is, should] = [wordsOf(route), wordsOf(desired)]
  // The kernel may know it by more than its words, such as a next hop object, and finds it by less.
  const command = `ip ${route.family === 6 ? '-6 ' : ''}route del ${route.whole ? is : wordsOf({ ...route, gateway: null, dev: '' })}`
  return problem('LeftoverServiceRoute', {
    severity,
    message: `the main table has "${is}", ${formOf(route, desired)}, where "${should}" should be: services cannot be reached through it`,
    remedy: `Remove it with "${command}"${replaceable ? ', or let apply --replace-service-routes replace it' : '; it is more than apply --replace-service-routes could put back'}.`,
  })
}

function formOf({ dev, src, gateway }: HostRoute, desired: HostRoute): string {
  if (dev === MANAGEMENT_PORT) return 'the form of local gateway mode before release 4.10'
  if (src !== null) return 'the form of today with other addresses'
  const isBridge = dev === desired.dev || desired.dev === MANAGEMENT_PORT
  return gateway && isBridge ? 'the form of shared gateway mode before release 4.10' : 'no form of OVN-Kubernetes'
}

/** The route in the words of ip-route(8), as far as they tell it from others. */
const wordsOf = ({ type, dst, gateway, dev, metric }: HostRoute): string =>
  [
    ...(type ? [type] : []),
    dst ? printPrefix(networkOf(dst)) : '',
    ...(gateway ? ['via', gateway.text] : []),
    ...(dev ? ['dev', dev] : []),
    ...(metric === null ? [] : ['metric', String(metric)]),
  ].join(' ')
