import { networkOf, printPrefix } from '../model/address.js'
import type { HostSymbol } from '../syntax/symbols.js'
import type { Link } from './links.js'
import type { Bridge, BridgePort } from './ovsdb.js'
import type { LiveRoute } from './routes.js'

/** What a host has that entries refer to. */
export interface HostNames {
  readonly node: string
  readonly links: readonly Link[]
  /** Routes of all tables. */
  readonly routes: readonly LiveRoute[]
  /** Bridges of Open vSwitch that can be written to; null when Open vSwitch does not run. */
  readonly bridges: readonly Bridge[] | null
}

/** Why something that an entry refers to is not there. */
export interface Missing {
  readonly missing: string
}

export const isMissing = (found: object): found is Missing => 'missing' in found

export function bridgeOf({ bridges }: HostNames, name: string): Bridge | Missing {
  if (bridges === null) return { missing: 'Open vSwitch does not run, or not in OVS_RUNDIR' }
  return bridges.find((bridge) => bridge.name === name) ?? { missing: `Open vSwitch has no bridge ${name}, or does not answer for it` }
}

/** The port of a bridge that a symbol stands for; it has an OpenFlow number. */
export function portOf(host: HostNames, bridge: Bridge, symbol: HostSymbol): (BridgePort & { readonly ofport: number }) | Missing {
  const name = symbol.name === 'patch' ? patchPort(bridge.name, symbol.of, host.node) : uplinkPort(host, symbol)
  if (typeof name !== 'string') return name
  const port = bridge.ports.find((candidate) => candidate.name === name)
  if (!port) return { missing: `bridge ${bridge.name} has no port ${name}` }
  const { ofport } = port
  return ofport === null ? { missing: `Open vSwitch has not opened the port ${name}` } : { ...port, ofport }
}

/**
 * Port that joins an external bridge to a network, as ovn-controller names it from the localnet port of OVN-Kubernetes: the network's
 * name with `-` and `/` as dots in front of the node, none for the default network.
 */
export function patchPort(bridge: string, network: string, node: string): string {
  const prefix = network === 'default' ? '' : `${network.replaceAll(/[-/]/g, '.')}_`
  return `patch-${bridge}_${prefix}${node}-to-br-int`
}

/** Whether a port joins an external bridge to a user-defined network of this node. */
export const isNetworkPort = (bridge: string, { name, type }: BridgePort, node: string): boolean =>
  type === 'patch' &&
  name.startsWith(`patch-${bridge}_`) &&
  name.endsWith(`_${node}-to-br-int`) &&
  name !== patchPort(bridge, 'default', node)

/** The port through which a bridge reaches the wire: the one that external_ids:bridge-uplink names, else the only one that is a device of the system. */
function uplinkPort(host: HostNames, symbol: HostSymbol): string | Missing {
  const bridge = bridgeOf(host, symbol.of)
  if (isMissing(bridge)) return bridge
  if (bridge.uplink !== null) return bridge.uplink
  const [port, ...others] = bridge.ports.filter(({ type }) => type === '' || type === 'system' || type === 'dpdk')
  if (port && others.length === 0) return port.name
  const found = port ? `has several (${[port, ...others].map(({ name }) => name).join(', ')})` : 'has none'
  return { missing: `the uplink of ${bridge.name} is not known: it ${found}; set external_ids:bridge-uplink` }
}

/** The device that a symbol stands for, or that has the name. */
export function linkOf(host: HostNames, dev: string | HostSymbol): Link | Missing {
  if (typeof dev !== 'string' && dev.name === 'network') return networkLink(host, dev)
  const name =
    typeof dev === 'string' ? dev : dev.name === 'uplink' ? uplinkPort(host, dev) : { missing: `${dev.text} is no network device` }
  if (typeof name !== 'string') return name
  return host.links.find((link) => link.name === name) ?? { missing: `there is no network device ${name}` }
}

/**
 * The secondary interface of a network: the one that is up and has an address in exactly this network that the host speaks with. Virtual
 * addresses (labelled `…vip`) do not say what network it is, nor do those that the kernel flags as secondary or deprecated. The external bridge is none: its egress IPs are translated by flows.
 */
function networkLink({ links, bridges }: HostNames, { of, text }: HostSymbol): Link | Missing {
  const has = ({ addresses }: Link) =>
    addresses.some(
      ({ address, scope, label, secondary, preferred }) =>
        printPrefix(networkOf(address)) === of && scope === 'global' && !label.endsWith('vip') && !secondary && preferred !== 0,
    )
  const found = links.filter((link) => link.up && has(link))
  const [link, ...others] = found
  if (!link) {
    const down = links.find(has)
    return { missing: down ? `${down.name}, which has an address in ${of}, is down` : `no network device has an address in ${of}` }
  }
  if (others.length > 0) return { missing: `several network devices have an address in ${of}: ${found.map(({ name }) => name).join(', ')}` }
  return bridges?.some(({ name }) => name === link.name)
    ? { missing: `${text} is the bridge ${link.name}, not a secondary interface` }
    : link
}
