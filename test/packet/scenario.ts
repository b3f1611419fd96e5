import { type Address, type Family, networkOf, type Prefix, parseAddress, parsePrefix } from '../../src/model/address.js'
import type { BridgeNetwork, ExternalBridge } from '../../src/model/node-state.js'
import { FIRST_CONNTRACK_ZONE, GENEVE_PORT } from '../../src/model/numbers.js'

/** An external bridge that packets are sent through. */
export interface Scenario {
  /** At most 13 characters: devices are named after it. */
  readonly name: string
  readonly bridge: ExternalBridge
}

export const NODE = 'node-a'
/** MAC of the bridge and of every gateway router behind it. */
export const MAC = '02:00:00:00:00:0a'
/** MAC of the router on the wire. */
export const NEXT_HOP = '02:00:00:00:00:01'
/** MAC of a station that the bridge has never heard of. */
export const STRANGER = '02:00:00:00:00:77'
/** Egress mark of the object whose egress IPs the node holds. */
export const EGRESS_MARK = 50001

/** Words and addresses of a family, so that one packet is written for both. */
export interface Words {
  readonly family: Family
  readonly icmp: string
  readonly tcp: string
  readonly udp: string
  readonly sctp: string
  readonly src: string
  readonly dst: string
  /** ICMP: the packet is too big (RFC 1191, RFC 8201). */
  readonly tooBig: string
  /** ARP request or neighbor solicitation for an address. */
  readonly question: (target: string) => string
  /** ARP reply or neighbor advertisement of an address. */
  readonly answer: (target: string) => string
  /** Where a question for an address goes that asks everyone, and where an announcement goes. */
  readonly everyone: string
  readonly all: string
  readonly node: string
  readonly extra: string
  readonly egressIP: string
  /** Another node, and another station of the node's network. */
  readonly otherNode: string
  readonly neighbor: string
  readonly outside: string
  readonly service: string
  /** Masquerade addresses: of the host, of OVN, and of the gateway router and the management port of a network, by its id. */
  readonly host: string
  readonly ovn: string
  readonly router: (id: number) => string
  readonly management: (id: number) => string
  /** A pod on this node, and one on another node, by network. */
  readonly pod: Readonly<Record<string, string>>
  readonly farPod: Readonly<Record<string, string>>
}

export const WORDS: readonly Words[] = [
  {
    family: 4,
    icmp: 'icmp',
    tcp: 'tcp',
    udp: 'udp',
    sctp: 'sctp',
    src: 'nw_src',
    dst: 'nw_dst',
    tooBig: 'icmp,icmp_type=3,icmp_code=4',
    question: (target) => `arp,arp_op=1,arp_spa=192.0.2.99,arp_tpa=${target}`,
    answer: (target) => `arp,arp_op=2,arp_spa=${target},arp_tpa=192.0.2.11`,
    everyone: 'ff:ff:ff:ff:ff:ff',
    all: 'ff:ff:ff:ff:ff:ff',
    node: '192.0.2.11',
    extra: '198.51.100.11',
    egressIP: '192.0.2.50',
    otherNode: '192.0.2.13',
    neighbor: '192.0.2.99',
    outside: '203.0.113.9',
    service: '10.96.0.10',
    host: '169.254.0.2',
    ovn: '169.254.0.1',
    router: (id) => `169.254.0.${9 + 2 * id}`,
    management: (id) => `169.254.0.${10 + 2 * id}`,
    pod: { default: '10.244.1.5', blue: '10.20.1.5', red: '10.20.1.5', green: '10.30.1.5' },
    farPod: { default: '10.244.2.5', blue: '10.20.2.5', red: '10.20.2.5', green: '10.30.2.5' },
  },
  {
    family: 6,
    icmp: 'icmp6',
    tcp: 'tcp6',
    udp: 'udp6',
    sctp: 'sctp6',
    src: 'ipv6_src',
    dst: 'ipv6_dst',
    tooBig: 'icmp6,icmpv6_type=2,icmpv6_code=0',
    question: (target) => `icmp6,icmpv6_type=135,icmpv6_code=0,ipv6_src=2001:db8::99,nd_target=${target}`,
    answer: (target) => `icmp6,icmpv6_type=136,icmpv6_code=0,ipv6_src=${target},nd_target=${target}`,
    everyone: '33:33:ff:00:00:11',
    all: '33:33:00:00:00:01',
    node: '2001:db8::11',
    extra: '2001:db8:5::11',
    egressIP: '2001:db8::50',
    otherNode: '2001:db8::13',
    neighbor: '2001:db8::99',
    outside: '2001:db8:ffff::9',
    service: 'fd00:10:96::a',
    host: 'fd69::2',
    ovn: 'fd69::1',
    router: (id) => `fd69::${(9 + 2 * id).toString(16)}`,
    management: (id) => `fd69::${(10 + 2 * id).toString(16)}`,
    pod: { default: 'fd00:10:244:1::5', blue: 'fd00:10:20:1::5', red: 'fd00:10:20:1::5', green: 'fd00:10:30:1::5' },
    farPod: { default: 'fd00:10:244:2::5', blue: 'fd00:10:20:2::5', red: 'fd00:10:20:2::5', green: 'fd00:10:30:2::5' },
  },
]

const addresses = (...texts: readonly string[]): readonly Address[] => texts.map((text) => parseAddress(text) as Address)
const prefixes = (...texts: readonly string[]): readonly Prefix[] => texts.map((text) => networkOf(parsePrefix(text) as Prefix))

const network = (name: string, id: number, second: number, more: Partial<BridgeNetwork> = {}): BridgeNetwork => ({
  name,
  for: id === 0 ? `Node/${NODE}` : `ClusterUserDefinedNetwork/${name}`,
  id,
  subnets: prefixes(`10.${second}.0.0/16`, `fd00:10:${second}::/48`),
  nodeSubnets: prefixes(`10.${second}.1.0/24`, `fd00:10:${second}:1::/64`),
  overlay: true,
  advertised: false,
  ...more,
})

/** Ids of the user-defined networks. `blue` and `red` have the same pod subnets, `red` has no overlay, `green` is advertised. `attic` has no room in the masquerade subnets. The id of `grey` is not known. */
export const IDS = { blue: 1, red: 2, green: 3, attic: 40000 } as const

const SHARED: ExternalBridge = {
  mode: 'shared',
  mac: MAC,
  vlan: 0,
  mtu: null,
  genevePort: GENEVE_PORT,
  zone: FIRST_CONNTRACK_ZONE,
  segmentation: true,
  routedPods: false,
  nodeAddresses: addresses('192.0.2.11', '2001:db8::11'),
  hostSubnets: prefixes('192.0.2.0/24', '2001:db8::/64'),
  extraAddresses: addresses('198.51.100.11', '2001:db8:5::11'),
  serviceSubnets: prefixes('10.96.0.0/16', 'fd00:10:96::/112'),
  masqueradeSubnets: prefixes('169.254.0.0/17', 'fd69::/112'),
  clusterAddresses: prefixes('192.0.2.11/32', '192.0.2.12/31', '2001:db8::11/128', '2001:db8::12/127'),
  networks: [
    network('default', 0, 244),
    network('blue', IDS.blue, 20),
    network('green', IDS.green, 30, { advertised: true }),
    network('red', IDS.red, 20, { overlay: false }),
    network('attic', IDS.attic, 40),
  ],
  closed: [{ name: 'grey', for: 'ClusterUserDefinedNetwork/grey' }],
  egressMarks: addresses('192.0.2.50', '2001:db8::50').map((address) => ({
    mark: EGRESS_MARK,
    address,
    network: 'blue',
    for: 'EgressIP/eip-a',
  })),
}
const LOCAL: ExternalBridge = { ...SHARED, mode: 'local', mtu: 1400 }
/** The default network alone, without network segmentation: pods leave with their own addresses, and no reply is measured. */
const ALONE: Partial<ExternalBridge> = {
  segmentation: false,
  routedPods: true,
  mtu: null,
  networks: [network('default', 0, 244)],
  closed: [],
  egressMarks: [],
}

/** Both gateway modes: with user-defined networks, the same with a gateway VLAN, and with the default network alone. */
export const SCENARIOS: readonly Scenario[] = [
  { name: 'shared', bridge: SHARED },
  { name: 'local', bridge: LOCAL },
  { name: 'shared-vlan', bridge: { ...SHARED, vlan: 100 } },
  { name: 'local-vlan', bridge: { ...LOCAL, vlan: 100 } },
  { name: 'shared-alone', bridge: { ...SHARED, ...ALONE } },
  { name: 'local-alone', bridge: { ...LOCAL, ...ALONE } },
]
