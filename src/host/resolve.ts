import type { SubsystemName } from '../model/cluster.js'
import type { HostAddress } from '../syntax/addresses.js'
import { addresses } from '../syntax/addresses.js'
import { type Neighbor, neighbors } from '../syntax/neighbors.js'
import { deviceSymbols, type NftEntry, nftables, tableOf, withDevices } from '../syntax/nftables.js'
import { type Flow, openflow, portSymbols, withPorts } from '../syntax/openflow.js'
import type { HostSymbol } from '../syntax/symbols.js'
import type { Bridge } from './ovsdb.js'

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

/** What a host has that entries refer to. */
export interface HostNames {
  readonly node: string
  /** Names of all network devices. */
  readonly devices: ReadonlySet<string>
  /** Bridges of Open vSwitch that can be written to; null when Open vSwitch does not run. */
  readonly bridges: readonly Bridge[] | null
}

/** Flows with OpenFlow port numbers for their symbols. */
export const resolveFlows = (entries: readonly Flow[], host: HostNames): Resolved<Flow> =>
  resolve(openflow(''), entries, (flow) => {
    const bridge = bridgeOf(host, flow.bridge)
    if (typeof bridge === 'string') return bridge
    const ports = new Map<string, string>()
    for (const symbol of portSymbols(flow)) {
      const name = symbol.name === 'patch' ? patchPort(bridge.name, symbol.of, host.node) : uplinkPort(host, symbol)
      if (typeof name !== 'string') return name.missing
      const port = bridge.ports.find((candidate) => candidate.name === name)
      if (!port) return `bridge ${bridge.name} has no port ${name}`
      if (port.ofport === null) return `Open vSwitch has not opened the port ${name}`
      ports.set(symbol.text, String(port.ofport))
    }
    return withPorts(flow, ports)
  })

/** nft entries with device names. A base chain whose device is not there waits, and its rules with it; the rest of the table does not. */
export function resolveNft(entries: readonly NftEntry[], host: HostNames): Resolved<NftEntry> {
  const waiting = new Map<string, string>()
  const chainOf = (entry: NftEntry, name: string) => `${tableOf(entry)} ${name}`
  const chains = resolve(
    nftables,
    entries.filter((entry) => entry.kind === 'chain'),
    (chain) => {
      const reason = deviceOf(chain, host)
      if (typeof reason !== 'string') return reason.entry
      if (chain.kind === 'chain') waiting.set(chainOf(chain, chain.name), reason)
      return reason
    },
  )
  const others = resolve(
    nftables,
    entries.filter((entry) => entry.kind !== 'chain'),
    (entry) => (entry.kind === 'rule' && waiting.get(chainOf(entry, entry.chain))) || entry,
  )
  return { entries: [...chains.entries, ...others.entries], pending: [...chains.pending, ...others.pending] }
}

/** Neighbors on devices that are there. */
export const resolveNeighbors = (entries: readonly Neighbor[], host: HostNames): Resolved<Neighbor> =>
  resolve(neighbors, entries, (entry) => missingDevice(entry.dev, host) ?? entry)

/** Addresses on devices that are there. */
export const resolveAddresses = (entries: readonly HostAddress[], host: HostNames): Resolved<HostAddress> =>
  resolve(addresses, entries, (entry) => missingDevice(entry.dev, host) ?? entry)

/** `to` answers an entry, or the reason why it waits. */
function resolve<E>(
  language: { readonly subsystem: SubsystemName; key(entry: E): string },
  entries: readonly E[],
  to: (entry: E) => E | string,
): Resolved<E> {
  const resolved: E[] = []
  const pending: Pending[] = []
  for (const entry of entries) {
    const answer = to(entry)
    if (typeof answer === 'string') pending.push({ subsystem: language.subsystem, key: language.key(entry), reason: answer })
    else resolved.push(answer)
  }
  return { entries: resolved, pending }
}

const missingDevice = (dev: string, { devices }: HostNames): string | undefined =>
  devices.has(dev) ? undefined : `there is no network device ${dev}`

function deviceOf(chain: NftEntry, host: HostNames): { readonly entry: NftEntry } | string {
  const names = new Map<string, string>()
  for (const symbol of deviceSymbols(chain)) {
    const name = symbol.name === 'uplink' ? uplinkPort(host, symbol) : { missing: `${symbol.text} is no network device` }
    if (typeof name !== 'string') return name.missing
    names.set(symbol.text, name)
  }
  const entry = withDevices(chain, names)
  const dev = entry.kind === 'chain' ? entry.hook?.dev : null
  return (dev ? missingDevice(dev, host) : undefined) ?? { entry }
}

/** Bridges whose flows can be neither read nor written: what is ours there stays unseen. */
export const unseenBridges = (names: readonly string[], host: HostNames): readonly Pending[] =>
  names.flatMap((name) => {
    const bridge = bridgeOf(host, name)
    return typeof bridge === 'string' ? [{ subsystem: 'openflow', key: `flows of ${name}`, reason: bridge }] : []
  })

function bridgeOf({ bridges }: HostNames, name: string): Bridge | string {
  if (bridges === null) return 'Open vSwitch does not run, or not in OVS_RUNDIR'
  return bridges.find((bridge) => bridge.name === name) ?? `Open vSwitch has no bridge ${name}, or does not answer for it`
}

/**
 * Port that joins an external bridge to a network, as ovn-controller names it from the localnet port of OVN-Kubernetes: the network's
 * name with `-` and `/` as dots in front of the node, none for the default network.
 */
export function patchPort(bridge: string, network: string, node: string): string {
  const prefix = network === 'default' ? '' : `${network.replaceAll(/[-/]/g, '.')}_`
  return `patch-${bridge}_${prefix}${node}-to-br-int`
}

/** The port through which a bridge reaches the wire: the one that external_ids:bridge-uplink names, else the only one that is a device of the system. */
function uplinkPort(host: HostNames, symbol: HostSymbol): string | { readonly missing: string } {
  const bridge = bridgeOf(host, symbol.of)
  if (typeof bridge === 'string') return { missing: bridge }
  if (bridge.uplink !== null) return bridge.uplink
  const [port, ...others] = bridge.ports.filter(({ type }) => type === '' || type === 'system' || type === 'dpdk')
  if (port && others.length === 0) return port.name
  const found = port ? `has several (${[port, ...others].map(({ name }) => name).join(', ')})` : 'has none'
  return { missing: `the uplink of ${bridge.name} is not known: it ${found}; set external_ids:bridge-uplink` }
}
