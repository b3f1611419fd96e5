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
} from '../model/numbers.js'
import { canonicalValue, hex } from '../syntax/match.js'
import { patchOf, uplinkOf } from '../syntax/symbols.js'
import { byText } from '../syntax/text.js'
import type { Dimension, Situation } from './pipeline-row.js'

/** Canonical text for placeholders. Null: a prefix that holds every address. Undefined: the node has no such thing. */
export type Values = Readonly<Record<string, string | null | undefined>>

/** One combination of what a row ranges over. */
export interface Scope extends Situation {
  /** The object that a flow comes from. */
  readonly for: string
  readonly values: Values
  /** Placeholders that decide how a row is spelled: keywords, and lists of actions. */
  readonly words: Readonly<Record<string, string>>
  /** Equal for equal words. */
  readonly spelling: string
}

const FAMILY_WORDS: Readonly<Record<Family, Readonly<Record<string, string>>>> = {
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

/** What flows come from that are about all nodes. */
const ALL_NODES = 'Node/*'
/** Bytes of an Ethernet header without VLAN tag. */
const ETHERNET = 14

/** What rows range over on a node: most rows share it with others, so it is found once for all. */
export function scopesOf(state: Pick<NodeState, 'node' | 'bridge' | 'externalBridge'>): (over: readonly Dimension[]) => readonly Scope[] {
  const known = new Map<string, readonly Scope[]>([['', [wholeNode(state)]]])
  const scopes = (over: readonly Dimension[]): readonly Scope[] => {
    const key = over.join()
    const found = known.get(key) ?? scopes(over.slice(0, -1)).flatMap(RANGES[over.at(-1) as Dimension])
    known.set(key, found)
    return found
  }
  return scopes
}

function wholeNode({ node, bridge: name, externalBridge }: Pick<NodeState, 'node' | 'bridge' | 'externalBridge'>): Scope {
  const { vlan, mtu, zone } = externalBridge
  const networks = [...externalBridge.networks].sort((a, b) => a.id - b.id || byText(a.name, b.name))
  const listOf = (some: readonly BridgeNetwork[]) => some.map((network) => patchOf(network.name)).join(',')
  const words = {
    patches: listOf(networks),
    'user-patches': listOf(networks.filter(({ id }) => id !== 0)),
    vlan: vlan === 0 ? '' : `dl_vlan=${vlan},`,
    strip: vlan === 0 ? '' : 'strip_vlan,',
    tag: vlan === 0 ? '' : `mod_vlan_vid:${vlan},`,
  }
  return {
    bridge: { ...externalBridge, networks },
    family: null,
    network: null,
    for: `Node/${node}`,
    words,
    spelling: `${vlan} ${words.patches}`,
    values: {
      phys: uplinkOf(name),
      mac: canonicalValue('dl_dst', externalBridge.mac),
      geneve: String(externalBridge.genevePort),
      'zone.default': String(zone),
      'zone.host': String(zone + 1),
      'zone.ovn': String(zone + 2),
      'zone.reassembly': String(zone + 4),
      'mark.node': hexOf(EGRESS_NODE_MARK),
      'mark.host': hexOf(HOST_CT_MARK),
      frame: mtu === null ? undefined : String(mtu + ETHERNET),
    },
  }
}

const hexOf = (value: number): string => hex(BigInt(value))

const RANGES: Readonly<Record<Dimension, (scope: Scope) => readonly Scope[]>> = {
  family: (scope) => scope.bridge.nodeAddresses.map(({ family }) => withFamily(scope, family)),
  network: (scope) => scope.bridge.networks.map((network) => withNetwork(scope, network)),
  closed: (scope) => scope.bridge.closed.map(({ name, for: origin }) => ({ ...withValues(scope, { patch: patchOf(name) }), for: origin })),
  protocol: (scope) => ['tcp', 'udp', 'sctp'].map((name) => withWords(scope, { protocol: scope.family === 6 ? `${name}6` : name }, name)),
  state: (scope) => ['+est+trk', '+rel+trk'].map((state) => withValues(scope, { state })),
  service: (scope) => ofPrefixes(scope, 'service', scope.bridge.serviceSubnets),
  pods: (scope) => ofPrefixes(scope, 'pods', scope.network?.subnets ?? []),
  'own-pods': (scope) => ofPrefixes(scope, 'own-pods', scope.network?.nodeSubnets ?? []),
  'host-subnet': (scope) => ofPrefixes(scope, 'host-subnet', scope.bridge.hostSubnets),
  extra: (scope) => ofAddresses(scope, 'extra', scope.bridge.extraAddresses),
  'cluster-node': (scope) => ofPrefixes({ ...scope, for: ALL_NODES }, 'cluster-node', scope.bridge.clusterAddresses),
  'egress-mark': (scope) =>
    scope.bridge.egressMarks
      .filter(({ network }) => network === scope.network?.name)
      .flatMap(({ mark, address, for: object }) =>
        ofAddresses({ ...withValues(scope, { 'egress-mark': hexOf(mark) }), for: object }, 'egress-ip', [address]),
      ),
}

const withValues = (scope: Scope, values: Values): Scope => ({ ...scope, values: { ...scope.values, ...values } })

const withWords = (scope: Scope, words: Scope['words'], spelling: string): Scope => ({
  ...scope,
  words: { ...scope.words, ...words },
  spelling: `${scope.spelling} ${spelling}`,
})

function withFamily(scope: Scope, family: Family): Scope {
  const { nodeAddresses } = scope.bridge
  const subnet = masqueradeSubnet(scope.bridge, family)
  const values = {
    node: nodeAddresses.find((address) => address.family === family)?.text,
    masquerade: subnet && spell(subnet),
    host: subnet && nthOf(subnet, HOST_MASQUERADE),
    ovn: subnet && nthOf(subnet, OVN_MASQUERADE),
    ...masqueradeOf(scope.network, subnet),
  }
  return { ...withWords(withValues(scope, values), FAMILY_WORDS[family], String(family)), family }
}

function withNetwork(scope: Scope, network: BridgeNetwork): Scope {
  const isDefault = network.id === 0
  const values = {
    patch: patchOf(network.name),
    'ct-mark': hexOf(isDefault ? OVN_CT_MARK : NETWORK_CT_MARK_BASE + network.id),
    'pkt-mark': hexOf(NETWORK_MARK_BASE + network.id),
    ...masqueradeOf(network, scope.family === null ? undefined : masqueradeSubnet(scope.bridge, scope.family)),
  }
  return { ...withValues(scope, values), network, for: isDefault ? scope.for : network.for }
}

const masqueradeSubnet = (bridge: ExternalBridge, family: Family): Prefix | undefined =>
  bridge.masqueradeSubnets.find(({ address }) => address.family === family)

/** The masquerade addresses of a user-defined network; neither where the subnet has no room for both. */
function masqueradeOf(network: BridgeNetwork | null, subnet: Prefix | undefined): Values {
  if (!network || !subnet || network.id === 0) return {}
  const management = NETWORK_MASQUERADE_BASE + 2 * network.id
  return nthOf(subnet, management) ? { router: nthOf(subnet, management - 1), management: nthOf(subnet, management) } : {}
}

/** Per prefix, as those that all nodes have in common are the same objects: its text, and the texts of addresses in it by their offset. */
const SPELLED = new WeakMap<Prefix, string | null>()
const NUMBERED = new WeakMap<Prefix, Map<number, string | undefined>>()

function nthOf(prefix: Prefix, offset: number): string | undefined {
  const known = NUMBERED.get(prefix) ?? new Map<number, string | undefined>()
  NUMBERED.set(prefix, known)
  if (!known.has(offset)) known.set(offset, nth(prefix, offset)?.text)
  return known.get(offset)
}

function spell(prefix: Prefix): string | null {
  let text = SPELLED.get(prefix)
  if (text === undefined) {
    text = canonicalValue(prefix.address.family === 4 ? 'nw_dst' : 'ipv6_dst', printPrefix(prefix))
    SPELLED.set(prefix, text)
  }
  return text
}

/** Those of the family that the row is at; of both where it has come to none. */
const ofPrefixes = (scope: Scope, name: string, prefixes: readonly Prefix[]): readonly Scope[] =>
  inFamily(scope, name, prefixes, ({ address }) => address.family, spell)

const ofAddresses = (scope: Scope, name: string, addresses: readonly Address[]): readonly Scope[] =>
  inFamily(
    scope,
    name,
    addresses,
    ({ family }) => family,
    ({ text }) => text,
  )

function inFamily<T>(scope: Scope, name: string, list: readonly T[], familyOf: (one: T) => Family, print: (one: T) => string | null) {
  const families = new Map<Family, Scope>()
  for (const family of [4, 6] as const) {
    if (scope.family === null || scope.family === family) families.set(family, scope.family === null ? withFamily(scope, family) : scope)
  }
  return list.flatMap((one) => {
    const found = families.get(familyOf(one))
    return found ? withValues(found, { [name]: print(one) }) : []
  })
}
