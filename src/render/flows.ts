import { type Address, type Family, nth, type Prefix, printPrefix } from '../model/address.js'
import type { BridgeNetwork, ExternalBridge, NodeState } from '../model/node-state.js'
import {
  EGRESS_NODE_MARK,
  HOST_CT_MARK,
  HOST_MASQUERADE,
  NETWORK_CT_MARK_BASE,
  NETWORK_MARK_BASE,
  NETWORK_MASQUERADE_BASE,
  OVN_CT_MARK,
  OVN_MASQUERADE,
  OWN_COOKIE,
} from '../model/numbers.js'
import { compareFlows, type Flow, flow } from '../syntax/openflow.js'
import { patchOf, uplinkOf } from '../syntax/symbols.js'
import { byText } from '../syntax/text.js'
import { PIPELINE } from './pipeline.js'
import { CONDITIONS, type Dimension, type PipelineRow, type Situation } from './pipeline-row.js'

/** A flow of the table, and the row that it is made from. */
export interface PipelineFlow {
  readonly row: PipelineRow
  readonly flow: Flow
}

type Values = Readonly<Record<string, string | undefined>>

/** What a row has ranged over so far. A placeholder without a value, because the node has no such address, leaves the flow out. */
interface Scope extends Situation {
  readonly for: string
  readonly values: Values
}

/** Words of a family in matches. */
const WORDS: Readonly<Record<Family, Values>> = {
  4: {
    ip: 'ip',
    src: 'nw_src',
    dst: 'nw_dst',
    udp: 'udp',
    question: 'arp,arp_op=1',
    target: 'arp_tpa',
    announcement: 'dl_dst=ff:ff:ff:ff:ff:ff,arp',
    'path-mtu': 'icmp,icmp_type=3,icmp_code=4',
  },
  6: {
    ip: 'ipv6',
    src: 'ipv6_src',
    dst: 'ipv6_dst',
    udp: 'udp6',
    question: 'icmp6,icmpv6_type=135',
    target: 'nd_target',
    announcement: 'dl_dst=33:33:00:00:00:01,icmp6,icmpv6_type=136',
    'path-mtu': 'icmp6,icmpv6_type=2,icmpv6_code=0',
  },
}

const PROTOCOLS = ['tcp', 'udp', 'sctp']
const STATES = ['est', 'rel']
/** Bytes of an Ethernet header without VLAN tag. */
const ETHERNET = 14

/** The flows of a node's external bridge with their rows, in the order in which Open vSwitch tries them. Of two with one match the first counts. */
export function pipelineFlows({
  node,
  bridge,
  externalBridge,
}: Pick<NodeState, 'node' | 'bridge' | 'externalBridge'>): readonly PipelineFlow[] {
  const start = scopeOf(node, bridge, externalBridge)
  const flows = PIPELINE.flatMap((row) =>
    scopes(row.over ?? [], start)
      .filter((scope) => (row.when ?? []).every((condition) => CONDITIONS[condition].holds(scope)))
      .flatMap((scope) => {
        const [match, actions] = [fill(row.match, scope.values), fill(row.actions, scope.values)]
        if (match === null || actions === null) return []
        const { table, priority } = row
        const cookie = OWN_COOKIE | BigInt(row.cookie ?? 0)
        return [{ row, flow: flow({ bridge, table, priority, cookie, match, actions, comment: `${scope.for}: ${row.why}` }) }]
      }),
  )
  const distinct = new Map<string, PipelineFlow>()
  for (const one of flows) {
    const key = keyOf(one.flow)
    if (!distinct.has(key)) distinct.set(key, one)
  }
  return [...distinct.values()].sort((a, b) => compareFlows(a.flow, b.flow))
}

const keyOf = ({ table, priority, match }: Flow): string => `${table} ${priority} ${match.join()}`

function scopeOf(node: string, name: string, given: ExternalBridge): Scope {
  const bridge = { ...given, networks: [...given.networks].sort((a, b) => a.id - b.id || byText(a.name, b.name)) }
  const patches = bridge.networks.map((network) => patchOf(network.name))
  return {
    bridge,
    family: null,
    network: null,
    for: `Node/${node}`,
    values: {
      phys: uplinkOf(name),
      mac: bridge.mac,
      geneve: String(bridge.genevePort),
      'zone.default': String(bridge.zone),
      'zone.host': String(bridge.zone + 1),
      'zone.ovn': String(bridge.zone + 2),
      'zone.reassembly': String(bridge.zone + 4),
      'mark.node': String(EGRESS_NODE_MARK),
      'mark.host': String(HOST_CT_MARK),
      frame: bridge.mtu === null ? undefined : String(bridge.mtu + ETHERNET),
      patches: patches.join(','),
      'user-patches': bridge.networks
        .filter(({ id }) => id !== 0)
        .map((network) => patchOf(network.name))
        .join(','),
      vlan: bridge.vlan === 0 ? '' : `dl_vlan=${bridge.vlan},`,
      strip: bridge.vlan === 0 ? '' : 'strip_vlan,',
      tag: bridge.vlan === 0 ? '' : `mod_vlan_vid:${bridge.vlan},`,
    },
  }
}

const scopes = (over: readonly Dimension[], start: Scope): readonly Scope[] =>
  over.reduce<readonly Scope[]>((list, dimension) => list.flatMap((scope) => RANGES[dimension](scope)), [start])

const RANGES: Readonly<Record<Dimension, (scope: Scope) => readonly Scope[]>> = {
  family: (scope) => scope.bridge.nodeAddresses.map(({ family }) => withFamily(scope, family)),
  network: (scope) => scope.bridge.networks.map((network) => withNetwork(scope, network)),
  protocol: (scope) => PROTOCOLS.map((name) => withValues(scope, { protocol: scope.family === 6 ? `${name}6` : name })),
  state: (scope) => STATES.map((state) => withValues(scope, { state })),
  service: (scope) => ofPrefixes(scope, 'service', scope.bridge.serviceSubnets),
  pods: (scope) => ofPrefixes(scope, 'pods', scope.network?.subnets ?? []),
  'own-pods': (scope) => ofPrefixes(scope, 'own-pods', scope.network?.nodeSubnets ?? []),
  'host-subnet': (scope) => ofPrefixes(scope, 'host-subnet', scope.bridge.hostSubnets),
  extra: (scope) => scope.bridge.extraAddresses.flatMap((address) => ofAddress(scope, 'extra', address)),
  'cluster-node': (scope) => ofPrefixes(scope, 'cluster-node', scope.bridge.clusterAddresses),
  'egress-mark': (scope) =>
    scope.bridge.egressMarks
      .filter(({ network }) => network === scope.network?.name)
      .flatMap(({ mark, address, for: object }) =>
        ofAddress({ ...scope, for: object }, 'egress-ip', address).map((one) => withValues(one, { 'egress-mark': String(mark) })),
      ),
}

const withValues = (scope: Scope, values: Values): Scope => ({ ...scope, values: { ...scope.values, ...values } })

function withFamily(scope: Scope, family: Family): Scope {
  const { nodeAddresses, masqueradeSubnets } = scope.bridge
  const subnet = masqueradeSubnets.find(({ address }) => address.family === family)
  const values = {
    ...WORDS[family],
    node: nodeAddresses.find((address) => address.family === family)?.text,
    masquerade: subnet && printPrefix(subnet),
    host: subnet && nth(subnet, HOST_MASQUERADE)?.text,
    ovn: subnet && nth(subnet, OVN_MASQUERADE)?.text,
    ...masqueradeOf(scope.network, subnet),
  }
  return { ...withValues(scope, values), family }
}

function withNetwork(scope: Scope, network: BridgeNetwork): Scope {
  const isDefault = network.id === 0
  const subnet = scope.bridge.masqueradeSubnets.find(({ address }) => address.family === scope.family)
  const values = {
    patch: patchOf(network.name),
    'ct-mark': String(isDefault ? OVN_CT_MARK : NETWORK_CT_MARK_BASE + network.id),
    'pkt-mark': String(NETWORK_MARK_BASE + network.id),
    ...masqueradeOf(network, subnet),
  }
  return { ...withValues(scope, values), network, for: isDefault ? scope.for : network.for }
}

/** The masquerade addresses of a user-defined network; neither where the subnet has no room for both. */
function masqueradeOf(network: BridgeNetwork | null, subnet: Prefix | undefined): Values {
  if (!network || !subnet || network.id === 0) return {}
  const management = NETWORK_MASQUERADE_BASE + 2 * network.id
  return nth(subnet, management) ? { router: nth(subnet, management - 1)?.text, management: nth(subnet, management)?.text } : {}
}

/** The prefixes of the family that the row is at; of both where it has come to none. */
const ofPrefixes = (scope: Scope, name: string, prefixes: readonly Prefix[]): readonly Scope[] =>
  prefixes
    .filter(({ address }) => scope.family === null || scope.family === address.family)
    .map((prefix) => withValues(scope.family === null ? withFamily(scope, prefix.address.family) : scope, { [name]: printPrefix(prefix) }))

const ofAddress = (scope: Scope, name: string, address: Address): readonly Scope[] =>
  scope.family === null || scope.family === address.family
    ? [withValues(scope.family === null ? withFamily(scope, address.family) : scope, { [name]: address.text })]
    : []

/** The template with its placeholders filled in; null where one of them has no value. */
function fill(template: string, values: Values): string | null {
  let complete = true
  const text = template.replaceAll(/\{([\w.-]+)\}/g, (_, name: string) => {
    const value = values[name]
    complete &&= value !== undefined
    return value ?? ''
  })
  return complete ? text : null
}
