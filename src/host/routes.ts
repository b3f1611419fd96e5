import { type Address, type Family, networkOf, type Prefix, parseAddress, parsePrefix, printPrefix } from '../model/address.js'
import type { Change } from '../model/change.js'
import { OWN_PROTOCOL } from '../model/numbers.js'
import { type HostRoute, routes as language } from '../syntax/routes.js'
import { batchAll } from './batch.js'
import { type Exec, HostFault } from './exec.js'
import { FAMILIES, familyOption, readFamily, tableName } from './family.js'
import { SCOPES } from './links.js'
import type { Subsystem } from './subsystem.js'

/** A route as the kernel lists it. Its `dev` is empty where it says more than an entry can: several next hops, an encapsulation, `blackhole`; and where it needs none. */
export interface LiveRoute extends HostRoute {
  readonly dst: Prefix
  /** Who put it there, a number of rtnetlink.h: 2 the kernel, 3 ip(8), 230 egretta. */
  readonly protocol: number
  /** Whether an entry says all of it, so that it can be put back by what was read of it. */
  readonly whole: boolean
}

/** A route as `ip -N -d -j route` prints it. */
interface Listed {
  readonly type: string
  readonly dst: string
  readonly gateway?: string
  readonly via?: { readonly host: string }
  readonly dev?: string
  readonly table: string
  readonly protocol?: string
  readonly scope?: string
  readonly prefsrc?: string
  readonly metric?: number
  readonly metrics?: readonly { readonly mtu?: number }[]
  readonly flags?: readonly string[]
  readonly pref?: string
  readonly nexthops?: readonly unknown[]
  readonly encap?: string
  readonly tos?: string
  readonly from?: string
}

/** RTN_UNICAST and RTN_UNREACHABLE of rtnetlink.h. */
const UNICAST = '1'
const UNREACHABLE = '7'
/** RT_TABLE_LOCAL, where the kernel keeps the addresses of the host. */
const LOCAL = '255'

/**
 * Every route of the host, in all tables but that of its own addresses. Routes for one type of service or one network of sources are left
 * out: the kernel keeps them beside others of their destination, so that none can stand where one of ours is to be.
 */
export async function readRoutes(exec: Exec): Promise<readonly LiveRoute[]> {
  const found: LiveRoute[] = []
  for (const family of FAMILIES) {
    for (const listed of (await readFamily(exec, family, ['route', 'show', 'table', 'all'])) as readonly Listed[]) {
      const route = listed.table === LOCAL || listed.tos !== undefined || listed.from !== undefined ? null : readRoute(listed, family)
      if (route) found.push(route)
    }
  }
  return found
}

function readRoute(listed: Listed, family: Family): LiveRoute | null {
  const dst = destinationOf(listed.dst, family)
  if (!dst) return null
  const isPlain = listed.type === UNICAST && listed.nexthops === undefined && listed.encap === undefined
  return {
    dst,
    ...(listed.type === UNREACHABLE && { type: 'unreachable' }),
    family,
    gateway: parseAddress(listed.gateway ?? listed.via?.host ?? '') ?? null,
    dev: isPlain ? (listed.dev ?? '') : '',
    src: parseAddress(listed.prefsrc ?? '') ?? null,
    mtu: listed.metrics?.find(({ mtu }) => mtu !== undefined)?.mtu ?? null,
    metric: listed.metric ?? null,
    scope: family === 4 ? (SCOPES[listed.scope ?? '0'] ?? listed.scope ?? null) : null,
    table: tableName(listed.table),
    for: null,
    protocol: Number(listed.protocol ?? 0),
    whole: (isPlain || listed.type === UNREACHABLE) && isWhole(listed),
  }
}

/** What of a listed route an entry says; `flags` and `pref` where they are the usual ones. */
const FIELDS: ReadonlySet<string> = new Set('type dst gateway via dev table protocol scope prefsrc metric metrics flags pref'.split(' '))

function isWhole(listed: Listed): boolean {
  const { flags = [], pref = 'medium', metrics = [] } = listed
  return (
    Object.keys(listed).every((field) => FIELDS.has(field)) &&
    metrics.every((each) => Object.keys(each).every((name) => name === 'mtu')) &&
    !flags.includes('onlink') &&
    pref === 'medium'
  )
}

function destinationOf(dst: string, family: Family): Prefix | undefined {
  if (dst === 'default') return parsePrefix(family === 4 ? '0.0.0.0/0' : '::/0')
  return parsePrefix(dst.includes('/') ? dst : `${dst}/${family === 4 ? 32 : 128}`)
}

/**
 * Addresses that a route of the main table names as its source (`src`). The kernel does so for the network of an interface's address and
 * DHCP clients for the default route, so they are addresses of the node itself; an egress address has neither.
 */
export const preferredSources = (routes: readonly LiveRoute[]): readonly Address[] =>
  routes.flatMap(({ src, table }) => (src && table === 'main' ? src : []))

/** Any address of the internet: what the default route leads to. */
const OUTSIDE = { 4: '192.0.0.8', 6: '2000::8' } as const

/** The addresses that the host chooses as its source towards the internet, at most one of each family. An IPv6 egress address is never chosen. */
export async function readChosenSources(exec: Exec): Promise<readonly Address[]> {
  const found = await Promise.all(
    FAMILIES.map(async (family) => {
      const { code, stdout } = await exec('ip', [familyOption(family), '-j', 'route', 'get', OUTSIDE[family]])
      // Without a route there is no source either.
      const [route] = code === 0 ? (JSON.parse(stdout || '[]') as readonly { prefsrc?: string }[]) : []
      return parseAddress(route?.prefsrc ?? '') ?? []
    }),
  )
  return found.flat()
}

/**
 * Routes of all tables, ours by `protocol` 230, whatever protocol a copied route has where it comes from; every other route is foreign.
 * An update takes the place of the old route at one moment. A change of a route that somebody else made says so by the protocol of that route:
 * only who was told to replace it makes one.
 */
export function hostRoutes(exec: Exec): Subsystem<HostRoute> {
  const observe = async () => {
    const routes = await readRoutes(exec)
    const isOwn = ({ protocol }: LiveRoute) => protocol === OWN_PROTOCOL
    return { own: routes.filter(isOwn), foreign: routes.filter((route) => !isOwn(route)) }
  }
  return {
    language,
    observe,
    async apply(changes) {
      const updates = changes.filter(({ op }) => op === 'update')
      const taken = new Set(updates.length > 0 ? (await observe()).foreign.map(language.key) : [])
      const clash = updates.find(({ key, from }) => taken.has(key) && !(from && isForeign(from)))
      // Which of the two the kernel would replace depends on their order.
      if (clash)
        throw new HostFault('CommandFailed', `${clash.key}: somebody else has a second route of this destination`, 'Remove that one.')
      for (const family of FAMILIES) {
        const ofFamily = changes.filter(({ entry, from }) => (entry ?? from)?.family === family)
        await batchAll(exec, [familyOption(family)], ofFamily.sort(byReach), command)
      }
    },
  }
}

const isForeign = (route: HostRoute): route is LiveRoute => 'protocol' in route && route.protocol !== OWN_PROTOCOL

const OPS = { delete: 0, update: 1, add: 2 } as const

/** A gateway must be reachable while a route through it is there: its network comes before the route and goes after it. */
function byReach(a: Change<HostRoute>, b: Change<HostRoute>): number {
  const direct = ({ entry, from }: Change<HostRoute>) => Number((entry ?? from)?.gateway === null)
  return OPS[a.op] - OPS[b.op] || (a.op === 'delete' ? direct(a) - direct(b) : direct(b) - direct(a))
}

function command({ op, entry, from }: Change<HostRoute>): string {
  const verb = { add: 'add', update: 'replace', delete: 'del' }[op]
  const route = (entry ?? from) as HostRoute
  return `route ${verb} ${words(route)} protocol ${isForeign(route) ? route.protocol : OWN_PROTOCOL}`
}

/**
 * The route in the words of ip-route(8). `onlink` in a table of an interface: where the source of a copy has it, the copy needs it, and
 * elsewhere it says nothing new, because the gateway answers on that interface.
 */
function words({ dst, type, family, gateway, dev, src, mtu, metric, scope, table }: HostRoute): string {
  return [
    ...(type ? [type] : []),
    dst ? printPrefix(networkOf(dst)) : '',
    ...(gateway ? ['via', ...(gateway.family === family ? [] : [`inet${gateway.family === 6 ? '6' : ''}`]), gateway.text] : []),
    ...(dev ? ['dev', dev] : []),
    ...(src ? ['src', src.text] : []),
    ...(mtu === null ? [] : ['mtu', String(mtu)]),
    ...(metric === null ? [] : ['metric', String(metric)]),
    ...(scope === null || family === 6 ? [] : ['scope', scope]),
    ...(gateway && table !== 'main' ? ['onlink'] : []),
    ...['table', table],
  ].join(' ')
}
