import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, hardwareAddress, type Prefix, parseAddress, parsePrefix } from '../../src/model/address.js'
import { type Artefact, bundleManifest, type Phase, printManifest } from '../../src/model/bundle.js'
import type { Ownership, SubsystemName } from '../../src/model/cluster.js'
import type { ConntrackPolicy, NodeState } from '../../src/model/node-state.js'
import { OWN_COOKIE } from '../../src/model/numbers.js'
import { renderAddresses } from '../../src/render/addresses.js'
import { renderGuardTable, renderNftables } from '../../src/render/nftables.js'
import { renderRoutes } from '../../src/render/routes.js'
import { renderRules } from '../../src/render/rules.js'
import { guardFlows } from '../../src/syntax/guard.js'
import { neighbors } from '../../src/syntax/neighbors.js'
import { flow, openflow } from '../../src/syntax/openflow.js'

export const NODE = 'node-a'
export const BRIDGE = 'br-ex'
export const DEVICE = 'ens3'
export const NODE_ADDRESSES = ['192.0.2.11', '2001:db8::11']

const prefix = (text: string): Prefix => {
  const found = parsePrefix(text)
  if (!found) throw new Error(text)
  return found
}

const ip = (text: string): Address => {
  const address = parseAddress(text)
  if (!address) throw new Error(text)
  return address
}

/** An egress IP on the interface of a network, and the pods that leave with it. */
export interface Secondary {
  readonly network: string
  readonly egressIP: string
  readonly pods: readonly string[]
}

/** What a bundle of the tests holds; everything has a usual value. */
export interface Content {
  readonly node?: string
  readonly egress?: readonly string[]
  readonly masquerade?: readonly string[]
  /** Addresses that the node may announce. */
  readonly own?: readonly string[]
  readonly device?: string
  /** Number of flows of the base. */
  readonly flows?: number
  readonly ownership?: Partial<Record<SubsystemName, Ownership>>
  /** Without it the bundle has no nftables.json: as little as can be. */
  readonly secondary?: readonly Secondary[]
  readonly mode?: 'shared' | 'local'
  /** Subnets of services, with the gateway of the route to each. */
  readonly services?: readonly (readonly [subnet: string, gateway: string])[]
  /** The host masquerade addresses, with the length of their networks. */
  readonly hostMasquerade?: readonly string[]
  readonly conntrack?: ConntrackPolicy
}

const ALWAYS: readonly Phase[] = ['steady', 'startup', 'shutdown']

/** The files of a bundle as `render` writes them, with base flows that are easy to count. */
export function artefacts(content: Content = {}): readonly Artefact[] {
  const { masquerade = ['169.254.0.1', 'fd69::1'], own = NODE_ADDRESSES, flows = 0, secondary } = content
  const state = stateOf(content)
  const permanent = masquerade.map((text) => ({ dst: ip(text), lladdr: hardwareAddress(ip(text)), dev: BRIDGE, for: `Node/${NODE}` }))
  const base = Array.from({ length: flows }, (_, index) =>
    flow({
      bridge: BRIDGE,
      table: 9,
      priority: 1 + index,
      cookie: OWN_COOKIE + 1n,
      match: `ip,nw_dst=10.1.${index >> 8}.${index & 255}`,
      actions: 'drop',
    }),
  )
  return [
    renderAddresses(state),
    { path: 'neighbors.json', text: neighbors.print(permanent), phases: ALWAYS },
    ...(flows > 0 ? [{ path: `openflow.${BRIDGE}.flows`, text: openflow(BRIDGE).print(base), phases: ALWAYS }] : []),
    {
      path: `guard.openflow.${BRIDGE}.flows`,
      text: openflow(BRIDGE).print(guardFlows(BRIDGE, NODE, own.map(ip), ['default'])),
      phases: ['startup', 'shutdown'],
    },
    renderGuardTable(state),
    ...(secondary ? [renderNftables(state)] : []),
    ...[renderRules(state), renderRoutes(state)].flatMap((file) => file ?? []),
  ]
}

/** The state of a node, as far as the files above come from it. */
function stateOf(content: Content): NodeState {
  const { egress = ['192.0.2.50', '2001:db8::50'], own = NODE_ADDRESSES, device = DEVICE, services = [], hostMasquerade = [] } = content
  const subnets = ['10.244.0.0/16', 'fd00:10:244::/48'].map(prefix)
  const state: Omit<NodeState, 'externalBridge' | 'neighbors'> & { readonly externalBridge: Partial<NodeState['externalBridge']> } = {
    node: NODE,
    bridge: BRIDGE,
    guardDevice: device,
    nodeAddresses: own.map(ip),
    egressAddresses: egress.map((text) => ({ address: ip(text), interface: BRIDGE, for: 'EgressIP/eip-a' })),
    masqueradeAddresses: hostMasquerade.map((text) => ({ address: prefix(text), interface: BRIDGE, for: `Node/${NODE}` })),
    announcing: ['default'],
    silenced: egress.map((text) => ({ address: ip(text), for: 'EgressIP/eip-a' })),
    externalBridge: {
      mode: content.mode ?? 'shared',
      nodeAddresses: own.map(ip),
      networks: [{ name: 'default', for: `Node/${NODE}`, id: 0, subnets, nodeSubnets: [], overlay: true, advertised: false }],
    },
    routes: services.map(([subnet, gateway]) => ({
      destination: prefix(subnet),
      gateway: ip(gateway),
      interface: BRIDGE,
      source: null,
      mtu: 1400,
      for: `Node/${NODE}`,
    })),
    secondary: (content.secondary ?? []).map(({ network, egressIP, pods }) => ({
      network: prefix(network),
      egressIPs: [{ address: ip(egressIP), for: 'EgressIP/eip-b', pods: pods.map(ip) }],
    })),
    routeTableBase: 1000,
    conntrack: 'flush',
    nftVersion: '1.0.6',
  }
  return state as NodeState
}

/** Writes a bundle with a right manifest into a folder, emptied before. Returns the folder. */
export function writeBundle(folder: string, content: Content = {}, files = artefacts(content)): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { path, text } of files) writeFileSync(join(folder, path), text)
  const { node = NODE, ownership = {}, conntrack } = content
  writeFileSync(join(folder, 'bundle.json'), printManifest(bundleManifest(node, files, ownership, conntrack)))
  return folder
}

/** The files of a bundle with one of them replaced or added. */
export const withFile = (files: readonly Artefact[], file: Artefact): readonly Artefact[] => [
  ...files.filter(({ path }) => path !== file.path),
  file,
]
