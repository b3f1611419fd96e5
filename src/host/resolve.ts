import type { SubsystemName } from '../model/cluster.js'
import { addresses, type HostAddress } from '../syntax/addresses.js'
import { type Neighbor, neighbors } from '../syntax/neighbors.js'
import { deviceSymbols, type NftEntry, nftables, tableOf, withDevices } from '../syntax/nftables.js'
import { type Flow, openflow, portSymbols, withoutOutputs, withPorts } from '../syntax/openflow.js'
import { type PortFlag, portFlags } from '../syntax/port-flags.js'
import { once } from '../syntax/recent.js'
import { type HostRoute, routes } from '../syntax/routes.js'
import { type HostRule, rules } from '../syntax/rules.js'
import { type HostSymbol, substitute, symbolsIn } from '../syntax/symbols.js'
import { isSingle } from './addresses.js'
import { copiedRoutes } from './copied-routes.js'
import type { Link } from './links.js'
import type { Bridge } from './ovsdb.js'
import { bridgeOf, type HostNames, isMissing, linkOf, type Missing, portOf } from './symbols.js'

/** An entry that waits for something that the host does not have yet. */
export interface Pending {
  readonly subsystem: SubsystemName
  readonly key: string
  readonly reason: string
}

/** Entries whose symbols are replaced by what this host has for them, and those that wait. */
export interface Resolved<E> {
  readonly entries: readonly E[]
  readonly pending: readonly Pending[]
}

/**
 * Flows with OpenFlow port numbers for their symbols, without those that the datapath of their bridge cannot have. A flow that sends to
 * several networks waits for the port of each, and serves the others meanwhile.
 */
export function resolveFlows(entries: readonly Flow[], host: HostNames): Resolved<Flow> {
  const names = JSON.stringify([host.node, host.bridges])
  const found = FLOWS.get(entries)
  if (found?.names === names) return found.resolved
  const resolved = placeFlows(entries, host)
  FLOWS.set(entries, { names, resolved })
  return resolved
}

/** What became of flows on a host with these bridges. */
const FLOWS = new WeakMap<readonly Flow[], { readonly names: string; readonly resolved: Resolved<Flow> }>()

function placeFlows(entries: readonly Flow[], host: HostNames): Resolved<Flow> {
  const bridgeNamed = once((name: string) => bridgeOf(host, name))
  const portsOf = once((bridge: Bridge) => {
    const found = new Map<string, ReturnType<typeof portOf>>()
    return (symbol: HostSymbol) => once(() => portOf(host, bridge, symbol), found)(symbol.text)
  })
  return resolve(openflow(''), entries, (flow) => {
    const bridge = bridgeNamed(flow.bridge)
    if (isMissing(bridge)) return bridge
    if (bridge.datapath === 'netdev' && reassembles(flow)) return []
    const ports = new Map<string, string>()
    const absent = new Map<string, Missing>()
    for (const symbol of portSymbols(flow)) {
      const port = portsOf(bridge)(symbol)
      if (isMissing(port)) absent.set(symbol.text, port)
      else ports.set(symbol.text, String(port.ofport))
    }
    const [missing] = absent.values()
    if (!missing) return [withPorts(flow, ports)]
    const rest = withoutOutputs(flow, new Set(absent.keys()))
    return rest ? { ...missing, meanwhile: [withPorts(rest, ports)] } : missing
  })
}

/** Whether a flow sends fragments through conntrack so that it puts them together, which only the datapath of the kernel does. */
const reassembles = ({ match, actions }: Flow): boolean => match.some(([field]) => field === 'nw_frag') && actions.startsWith('ct(')

/** Flags with OpenFlow port numbers for their symbols. */
export const resolvePortFlags = (entries: readonly PortFlag[], host: HostNames): Resolved<PortFlag> =>
  resolve(portFlags(''), entries, (entry) => {
    const bridge = bridgeOf(host, entry.bridge)
    if (isMissing(bridge)) return bridge
    const [symbol] = symbolsIn(entry.port)
    if (!symbol) return [entry]
    const port = portOf(host, bridge, symbol)
    return isMissing(port) ? port : [{ ...entry, port: String(port.ofport) }]
  })

/** nft entries with device names. A base chain whose device is not there waits, and its rules with it; the rest of the table does not. */
export function resolveNft(entries: readonly NftEntry[], host: HostNames): Resolved<NftEntry> {
  const waiting = new Map<string, Missing>()
  const chainOf = (entry: NftEntry, name: string) => `${tableOf(entry)} ${name}`
  const links = new Map<string, ReturnType<typeof linkOf>>()
  const linkNamed = (dev: string | HostSymbol) => once(() => linkOf(host, dev), links)(typeof dev === 'string' ? `device ${dev}` : dev.text)
  const chains = resolve(
    nftables,
    entries.filter((entry) => entry.kind === 'chain'),
    (chain) => {
      const found = deviceEntry(chain, linkNamed)
      if (isMissing(found) && chain.kind === 'chain') waiting.set(chainOf(chain, chain.name), found)
      return found
    },
  )
  const others = resolve(
    nftables,
    entries.filter((entry) => entry.kind !== 'chain'),
    (entry) => (entry.kind === 'rule' && waiting.get(chainOf(entry, entry.chain))) || deviceEntry(entry, linkNamed),
  )
  return { entries: [...chains.entries, ...others.entries], pending: [...chains.pending, ...others.pending] }
}

/** An entry with device names; the device of a hook must be there, whoever named it. */
function deviceEntry(entry: NftEntry, linkNamed: (dev: string | HostSymbol) => Link | Missing): readonly NftEntry[] | Missing {
  const names = new Map<string, string>()
  for (const symbol of deviceSymbols(entry)) {
    const link = linkNamed(symbol)
    if (isMissing(link)) return link
    names.set(symbol.text, link.name)
  }
  const named = withDevices(entry, names)
  const dev = named.kind === 'chain' ? named.hook?.dev : null
  const link = dev ? linkNamed(dev) : null
  return link && isMissing(link) ? link : [named]
}

/** Neighbors on devices that are there. */
export const resolveNeighbors = (entries: readonly Neighbor[], host: HostNames): Resolved<Neighbor> =>
  resolve(neighbors, entries, (entry) => {
    const link = deviceOf(entry.dev, host)
    return isMissing(link) ? link : [{ ...entry, dev: link.name }]
  })

/**
 * Addresses on devices that are there. An egress IP waits while the interface has no other address of its family: as the first one it
 * would be the address of the node itself.
 */
export function resolveAddresses(entries: readonly HostAddress[], host: HostNames): Resolved<HostAddress> {
  const egressIPs = new Set(entries.flatMap(({ address }) => (isSingle(address) ? address.address.text : [])))
  return resolve(addresses, entries, (entry) => {
    const link = deviceOf(entry.dev, host)
    if (isMissing(link)) return link
    const { family } = entry.address.address
    const hasFirst = link.addresses.some(
      ({ address, scope }) => address.address.family === family && scope === 'global' && !egressIPs.has(address.address.text),
    )
    return hasFirst || !isSingle(entry.address)
      ? [{ ...entry, dev: link.name }]
      : { missing: `${link.name} has no IPv${family} address of its own, and an egress IP must not be the first one` }
  })
}

/** Rules with the numbers of their tables. */
export const resolveRules = (entries: readonly HostRule[], host: HostNames): Resolved<HostRule> =>
  resolve(rules, entries, (entry) => {
    const table = tableNumber(entry.table, host)
    return typeof table === 'string' ? [{ ...entry, table }] : table
  })

/**
 * Routes with device names and the numbers of their tables, and in place of a copy the routes that it stands for. `coming` are addresses
 * that the host has before the routes: the kernel takes no route whose source it does not have.
 */
export const resolveRoutes = (entries: readonly HostRoute[], host: HostNames, coming: readonly HostAddress[]): Resolved<HostRoute> =>
  resolve(routes, entries, (entry) => {
    const link = deviceOf(entry.dev, host)
    if (isMissing(link)) return link
    // The kernel takes no route out of a device that is down, and forgets those that it had.
    if (!link.up) return { missing: `the network device ${link.name} is down` }
    const { src } = entry
    const sources = [...host.links.flatMap(({ addresses: live }) => live), ...coming]
    if (src && !sources.some(({ address }) => address.address.text === src.text)) return { missing: `the host does not have ${src.text}` }
    const table = tableNumber(entry.table, host)
    if (typeof table !== 'string') return table
    const resolved = { ...entry, dev: link.name, table }
    return entry.dst ? [resolved] : copiedRoutes(resolved, link, host.routes)
  })

/** Why an entry waits, and what stands in its place until it does not. */
interface Waiting<E> extends Missing {
  readonly meanwhile?: readonly E[]
}

/** `to` answers the entries that one entry becomes, or why it waits. */
function resolve<E>(
  language: { readonly subsystem: SubsystemName; key(entry: E): string },
  entries: readonly E[],
  to: (entry: E) => readonly E[] | Waiting<E>,
): Resolved<E> {
  const resolved: E[] = []
  const pending: Pending[] = []
  for (const entry of entries) {
    const answer = to(entry)
    if (isMissing(answer)) {
      pending.push({ subsystem: language.subsystem, key: language.key(entry), reason: answer.missing })
      resolved.push(...(answer.meanwhile ?? []))
    } else resolved.push(...answer)
  }
  return { entries: resolved, pending }
}

/** The device of an entry, which is a name or a symbol. */
function deviceOf(dev: string, host: HostNames): Link | Missing {
  const [symbol] = symbolsIn(dev)
  return linkOf(host, symbol ?? dev)
}

/** A table as it stands in an entry, with the number for `1000+ifindex(DEVICE)`. */
function tableNumber(table: string, host: HostNames): string | Missing {
  const [symbol] = symbolsIn(table)
  if (!symbol) return table
  const link = deviceOf(symbol.of, host)
  if (isMissing(link)) return link
  const sum = substitute(table, new Map([[symbol.text, String(link.index)]]))
  return String(sum.split('+').reduce((total, part) => total + Number(part), 0))
}

/** Bridges whose flows can be neither read nor written: what is ours there stays unseen. */
export const unseenBridges = (names: readonly string[], host: HostNames): readonly Pending[] =>
  names.flatMap((name) => {
    const bridge: Bridge | Missing = bridgeOf(host, name)
    return isMissing(bridge) ? [{ subsystem: 'openflow', key: `flows of ${name}`, reason: bridge.missing }] : []
  })
