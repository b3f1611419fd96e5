import { nth } from '../model/address.js'
import type { BridgeNetwork, ExternalBridge } from '../model/node-state.js'
import { NETWORK_MASQUERADE_BASE } from '../model/numbers.js'

/** One row of the flow table: a flow for each combination of what it ranges over, where all of its conditions hold. */
export interface PipelineRow {
  /** Stable and speaking. */
  readonly id: string
  readonly table: number
  readonly priority: number
  /** Low 16 bits of the cookie; 0 unless said. */
  readonly cookie?: number
  /** One flow for each combination, from left to right. */
  readonly over?: readonly Dimension[]
  readonly when?: readonly PipelineCondition[]
  /** With `{placeholders}`, as ovs-ofctl takes it. */
  readonly match: string
  readonly actions: string
  /** One sentence: stands above each flow, behind the object that it comes from. */
  readonly why: string
}

/** What a row can range over. */
export const DIMENSIONS = {
  family: 'family in which the node has an address',
  network: 'network with a patch port',
  closed: 'network whose id is not known, or not its own',
  protocol: 'TCP, UDP, SCTP',
  state: 'established, related',
  service: 'service subnet',
  pods: 'pod subnet of the network',
  'own-pods': 'pod subnet of the network on this node',
  'host-subnet': 'network of the addresses on the bridge',
  extra: 'other address of the node',
  'cluster-node': 'prefix of node addresses',
  'egress-mark': 'egress IP with a mark',
} as const
export type Dimension = keyof typeof DIMENSIONS

/** What stands in braces in rows. What a node has no value for leaves the flow out. */
export const PLACEHOLDERS = {
  phys: 'the port of the uplink',
  patch: 'the patch port of the network',
  patches: 'the patch ports of all networks',
  'user-patches': 'the patch ports of user-defined networks',
  mac: 'MAC of the bridge, and of every gateway router behind it',
  node: 'address of the node on the bridge',
  extra: 'another address of the node',
  'host-subnet': 'a network of the addresses on the bridge',
  'cluster-node': 'addresses of nodes of the cluster, exactly, in as few prefixes as possible',
  service: 'a service subnet',
  pods: 'a pod subnet of the network, in the whole cluster',
  'own-pods': 'a pod subnet of the network on this node',
  masquerade: 'the masquerade subnet (seed 002); the next four are addresses in it',
  ovn: 'of OVN, number 1',
  host: 'of the host, number 2',
  router: 'of the gateway router of a user-defined network, number 10 + 2 * id - 1',
  management: 'of its management port, number 10 + 2 * id',
  'egress-ip': 'an egress IP on the primary network of this node that pods of the network leave with',
  'egress-mark': 'the mark of its object, annotation k8s.ovn.org/egressip-mark',
  'ct-mark': 'mark of connections of the network: 1 for the default one, else 3 + id',
  'pkt-mark': 'mark of packets of a user-defined network: 4096 + id',
  'mark.node': '1008: the packet leaves with the address of the node',
  'mark.host': '2: the connection is of the host',
  'zone.default': 'conntrack zone 64000, or what Cluster.spec.conntrackZone says; the next three follow it',
  'zone.host': 'what the masquerade address of the host stands for, 64001',
  'zone.ovn': 'what the masquerade address of OVN stands for, 64002',
  'zone.reassembly': 'fragments, 64004',
  geneve: 'port of the tunnels',
  frame: 'MTU of pods and 14 bytes of Ethernet header',
  protocol: '`tcp`, `udp` or `sctp`, in IPv6 with a 6',
  state: '`+est+trk` or `+rel+trk`',
  vlan: 'with a gateway VLAN: `dl_vlan=ID`',
  strip: 'with a gateway VLAN: `strip_vlan`; the host takes and sends untagged frames',
  tag: 'with a gateway VLAN: `mod_vlan_vid:ID`; the wire and OVN take and send tagged ones',
  ip: '`ip` or `ipv6`',
  src: '`nw_src` or `ipv6_src`',
  dst: '`nw_dst` or `ipv6_dst`',
  udp: '`udp` or `udp6`',
  question: 'an ARP request, or a neighbor solicitation',
  target: '`arp_tpa` or `nd_target`',
  announcement: 'broadcast ARP, or a neighbor advertisement to all nodes',
  'path-mtu': 'ICMP type 3 code 4, or ICMPv6 type 2: the packet was too large',
} as const

/** What a condition looks at: the bridge, and what the row ranges over at this flow. */
export interface Situation {
  readonly bridge: ExternalBridge
  readonly family: 4 | 6 | null
  readonly network: BridgeNetwork | null
}

const isAdvertised = ({ network }: Situation): boolean => network?.advertised === true
const isDefault = ({ network }: Situation): boolean => network?.id === 0
const isMeasured = ({ bridge }: Situation): boolean => bridge.mode === 'local' && bridge.mtu !== null
const isTagged = ({ bridge }: Situation): boolean => bridge.vlan !== 0
/** The masquerade subnet of the family has no address for the gateway router and the management port of the network. */
const hasNoRoom = ({ bridge, family, network }: Situation): boolean => {
  const subnet = bridge.masqueradeSubnets.find(({ address }) => address.family === family)
  return network !== null && !(subnet && nth(subnet, NETWORK_MASQUERADE_BASE + 2 * network.id))
}
const throughHost = (situation: Situation): boolean => isAdvertised(situation) && situation.bridge.mode === 'local'

/** The conditions of rows, each with what it says and whether it holds. */
export const CONDITIONS = {
  shared: { says: 'shared gateway mode', holds: ({ bridge }) => bridge.mode === 'shared' },
  local: { says: 'local gateway mode', holds: ({ bridge }) => bridge.mode === 'local' },
  segmentation: { says: 'network segmentation is enabled', holds: ({ bridge }) => bridge.segmentation },
  'no-segmentation': { says: 'network segmentation is not enabled', holds: ({ bridge }) => !bridge.segmentation },
  'user-networks': { says: 'a user-defined network has a patch port', holds: ({ bridge }) => bridge.networks.some(({ id }) => id !== 0) },
  default: { says: 'the default network', holds: isDefault },
  'user-defined': { says: 'user-defined networks', holds: (situation) => situation.network !== null && !isDefault(situation) },
  'no-room': { says: 'networks for which the masquerade subnet is too small', holds: hasNoRoom },
  'no-overlay': { says: 'networks without overlay', holds: ({ network }) => network?.overlay === false },
  advertised: { says: 'advertised networks', holds: isAdvertised },
  'not-translated': {
    says: 'advertised networks; the default one with disable-snat-multiple-gws',
    holds: (situation) => isAdvertised(situation) || (isDefault(situation) && situation.bridge.routedPods),
  },
  'through-host': { says: 'advertised in local gateway mode', holds: throughHost },
  'through-ovn': { says: 'not advertised, or in shared gateway mode', holds: (situation) => !throughHost(situation) },
  measured: { says: 'local gateway mode, unless the MTU check is off', holds: isMeasured },
  'not-measured': { says: 'shared gateway mode, or the MTU check is off', holds: (situation) => !isMeasured(situation) },
  tagged: { says: 'with a gateway VLAN', holds: isTagged },
  untagged: { says: 'without a gateway VLAN', holds: (situation) => !isTagged(situation) },
  ipv4: { says: 'IPv4', holds: ({ family }) => family === 4 },
  ipv6: { says: 'IPv6', holds: ({ family }) => family === 6 },
} satisfies Record<string, { readonly says: string; readonly holds: (situation: Situation) => boolean }>
export type PipelineCondition = keyof typeof CONDITIONS
