import { isHostMasquerade, isSingle } from '../host/addresses.js'
import { isGlobalUnicast, networkOf, parseAddress, parsePrefix, printPrefix } from '../model/address.js'
import type { SubsystemName } from '../model/cluster.js'
import {
  EGRESS_NODE_MARK,
  EGRESS_RULE_PRIORITY,
  EGRESS_TABLE,
  GUARD_COOKIE,
  MARK_RULE_PRIORITY,
  OWN_COOKIE,
  OWN_COOKIE_MASK,
  ROUTE_TABLE_BASE,
} from '../model/numbers.js'
import { diff } from '../plan/diff.js'
import type { HostAddress } from '../syntax/addresses.js'
import { egressElement, egressTable, podSubnetsIn } from '../syntax/egress-nat.js'
import type { Entry } from '../syntax/languages.js'
import type { Neighbor } from '../syntax/neighbors.js'
import { asObject, type Json } from '../syntax/nft-json.js'
import { type NftEntry, nftables, tableOf } from '../syntax/nftables.js'
import type { Flow } from '../syntax/openflow.js'
import type { PortFlag } from '../syntax/port-flags.js'
import { once } from '../syntax/recent.js'
import { type HostRoute, routes } from '../syntax/routes.js'
import { type HostRule, rules } from '../syntax/rules.js'
import { deviceOf, symbolsIn } from '../syntax/symbols.js'
import { areGuardFlows, isGuardTable } from './guard.js'

/** No packet is larger. */
const MOST_BYTES = 65535
/** The kernel numbers its tables with 32 bits; there is room for the index of an interface. */
const LAST_TABLE = 2 ** 31 - 1

/** OVN writes this bridge, with cookies that can look like ours: it is neither read nor written. */
export const OVN_BRIDGE = 'br-int'

/** What of the entries of a file no rendered bundle has, in sentences. An agent that runs as root does not take a file's word for it. */
export function faultsOf(subsystem: SubsystemName, guard: boolean, entries: readonly Entry[], node: string): readonly string[] {
  const each = <E>(fault: (entry: E) => string | undefined) => (entries as readonly E[]).flatMap((entry) => fault(entry) ?? [])
  switch (subsystem) {
    case 'openflow': {
      const wrong = each<Flow | PortFlag>((entry) => ('flag' in entry ? flagFault(entry) : flowFault(entry, guard)))
      return wrong.length > 0 || !guard || areGuardFlows(entries as readonly Flow[], node)
        ? wrong
        : ['these are not the guard flows that egretta renders for its addresses']
    }
    case 'nftables':
      return nftFaults(entries as readonly NftEntry[], guard)
    case 'neighbors':
      return each<Neighbor>(({ dev }) => nameFault(dev))
    case 'addresses':
      return each<HostAddress>(addressFault)
    case 'rules':
      return each<HostRule>(ruleFault)
    case 'routes':
      return each<HostRoute>(routeFault)
  }
}

const bridgeFault = (bridge: string): string | undefined =>
  bridge === OVN_BRIDGE ? `${OVN_BRIDGE} belongs to OVN; egretta has no flows on it` : undefined

function flowFault({ bridge, cookie }: Flow, guard: boolean): string | undefined {
  const own = guard ? cookie === GUARD_COOKIE : (cookie & OWN_COOKIE_MASK) === OWN_COOKIE && cookie >> 32n === 0n
  return bridgeFault(bridge) ?? (own ? undefined : `the cookie 0x${cookie.toString(16)} is not one of egretta's for this file`)
}

const flagFault = ({ bridge, port }: PortFlag): string | undefined =>
  bridgeFault(bridge) ?? (/^patch\([^()]+\)$/.test(port) ? undefined : `${JSON.stringify(port)} is not the patch port of a network`)

function nftFaults(entries: readonly NftEntry[], guard: boolean): readonly string[] {
  const isExpected = ({ family, table }: NftEntry) =>
    guard ? family === 'netdev' && isGuardTable(table) : family === 'inet' && table === EGRESS_TABLE
  const other = entries.find((entry) => !isExpected(entry))
  if (other) return [`the table ${tableOf(other)} is not one of egretta's for this file`]
  const frame = entries.filter(({ kind }) => kind !== 'element')
  return guard ||
    (diff(nftables, frame, renderedFrame(frame)).changes.length === 0 &&
      entries.every((entry) => entry.kind !== 'element' || isRenderedElement(entry)))
    ? []
    : ['this is not the table that egretta renders for its pods and egress IPs']
}

/** The table that egretta renders for the pod subnets and the gateway mode that the entries speak of, without pods. */
function renderedFrame(entries: readonly NftEntry[]): readonly NftEntry[] {
  const isLocal = entries.some((entry) => entry.kind === 'chain' && entry.hook?.hook === 'prerouting')
  return egressTable(isLocal ? 'local' : 'shared', podSubnetsIn(entries), [])
}

/** Whether an element is the one that egretta renders for its pod, its interface and its egress IP. */
const isRenderedElement = once((entry: NftEntry & { readonly kind: 'element' }): boolean => {
  const [pod, device, address] = [...concatIn(entry.value), entry.to].map((part) => (typeof part === 'string' ? part : ''))
  const [from, to] = [parseAddress(pod ?? ''), parseAddress(address ?? '')]
  if (!from || !to || device === undefined || symbolFault(device) !== undefined) return false
  const made = egressElement({ pod: from, device, address: to, for: entry.comment ?? '' })
  return diff(nftables, [entry], [made]).changes.length === 0
}, new WeakMap<NftEntry, boolean>())

const concatIn = (value: Json): readonly Json[] => {
  const parts = asObject(value)?.concat
  return Array.isArray(parts) ? (parts as readonly Json[]) : []
}

function addressFault({ address, dev }: HostAddress): string | undefined {
  if (isSingle(address) && isGlobalUnicast(address.address)) return deviceFault(dev)
  if (isHostMasquerade(address)) return nameFault(dev)
  return `${printPrefix(address)} is not a single global address, as an egress IP is, nor the host masquerade address of its network`
}

function ruleFault(rule: HostRule): string | undefined {
  const { priority, src, fwmark, table } = rule
  const isPod = priority === EGRESS_RULE_PRIORITY && fwmark === null && isSingle(src) && deviceOfTable(table) !== null
  const isMark = priority === MARK_RULE_PRIORITY && fwmark === EGRESS_NODE_MARK && src.length === 0 && table === 'main'
  return isPod || isMark ? undefined : `the rule "${rules.key(rule)}" is not one that egretta renders`
}

function routeFault(route: HostRoute): string | undefined {
  const { dst, dev, table, mtu, metric } = route
  const isCopy = dst === null && deviceOfTable(table) === dev && route.gateway === null && route.src === null
  const isMain = dst !== null && dst.length > 0 && table === 'main' && metric === null && (mtu ?? 0) <= MOST_BYTES
  return isCopy || (isMain && nameFault(dev) === undefined) ? undefined : `the route "${routes.key(route)}" is not one that egretta renders`
}

/** The symbol of the interface whose table this is; null where it is no such table. */
function deviceOfTable(table: string): string | null {
  const [, base, dev = ''] = /^(\d+)\+ifindex\((.*)\)$/.exec(table) ?? []
  return Number(base) >= ROUTE_TABLE_BASE && Number(base) <= LAST_TABLE && symbolFault(dev) === undefined ? dev : null
}

/** The kernel's own rule for names of devices (dev_valid_name); a name also ends up as one word in a batch of ip(8), and it is no symbol. */
const nameFault = (dev: string): string | undefined =>
  /^[^\s/:"'\\#]{1,15}$/.test(dev) && dev !== '.' && dev !== '..' && symbolsIn(dev).length === 0
    ? undefined
    : `${JSON.stringify(dev)} is not the name of a network device`

/** Of the symbols, only the one of an interface by its network names a device here. */
function symbolFault(dev: string): string | undefined {
  const network = parsePrefix(/^network\((.*)\)$/.exec(dev)?.[1] ?? '')
  return network && deviceOf(networkOf(network)) === dev ? undefined : `${JSON.stringify(dev)} is not the interface of a network`
}

const deviceFault = (dev: string): string | undefined => (symbolFault(dev) === undefined ? undefined : nameFault(dev))
