import { type Address, type Prefix, parseAddress, parsePrefix } from '../../src/model/address.js'
import { GUARD_COOKIE, OWN_COOKIE } from '../../src/model/numbers.js'
import type { HostAddress } from '../../src/syntax/addresses.js'
import { type EgressPod, egressTable } from '../../src/syntax/egress-nat.js'
import { guardTable, secondaryGuardTable } from '../../src/syntax/guard.js'
import type { Neighbor } from '../../src/syntax/neighbors.js'
import type { NftEntry } from '../../src/syntax/nftables.js'
import { type Flow, flow } from '../../src/syntax/openflow.js'
import type { PortFlag } from '../../src/syntax/port-flags.js'
import type { HostRoute } from '../../src/syntax/routes.js'
import type { HostRule } from '../../src/syntax/rules.js'
import type { Samples } from './suite.js'

export const BRIDGE = 'br-ex'
export const DEVICE = 'ens3'

const ip = (text: string): Address => parseAddress(text) as Address
const prefix = (text: string): Prefix => parsePrefix(text) as Prefix

const address = (text: string): HostAddress => ({
  address: prefix(text),
  dev: BRIDGE,
  for: 'EgressIP/eip-a',
})

export const addresses: Samples<HostAddress> = {
  some: [address('192.0.2.50/32'), address('2001:db8::50/128')],
  more: [
    address('192.0.2.50/32'),
    address('192.0.2.51/32'),
    address('2001:db8::51/128'),
    // The host masquerade addresses bring their networks with them.
    address('169.254.0.2/17'),
    address('fd69::2/112'),
  ],
  changed: null,
  theirs: { entry: address('192.0.2.59/32'), other: null },
}

const neighbor = (dst: string, lladdr: string): Neighbor => ({ dst: ip(dst), lladdr, dev: BRIDGE, for: 'Node/node-a' })

export const neighbors: Samples<Neighbor> = {
  some: [neighbor('169.254.0.1', '0a:58:a9:fe:00:01'), neighbor('fd69::1', '0a:58:37:85:74:a5')],
  more: [neighbor('169.254.0.1', '0a:58:a9:fe:00:01'), neighbor('169.254.0.11', '0a:58:a9:fe:00:0b')],
  changed: [neighbor('169.254.0.1', '0a:58:a9:fe:00:01'), neighbor('169.254.0.11', '0a:58:a9:fe:00:ff')],
  theirs: { entry: neighbor('169.254.0.4', '0a:58:a9:fe:00:04'), other: neighbor('169.254.0.4', '0a:58:a9:fe:00:05') },
}

const rule = (priority: number, src: string, table: string, fwmark: number | null = null): HostRule => ({
  priority,
  src: prefix(src),
  fwmark,
  table,
  for: 'EgressIP/eip-a',
})

export const rules: Samples<HostRule> = {
  some: [rule(6000, '10.244.1.3/32', '1007'), rule(6000, 'fd00:10:244:1::3/128', '1007'), rule(5999, '0.0.0.0/0', 'main', 0x3f0)],
  more: [
    rule(6000, '10.244.1.3/32', '1008'),
    rule(6000, '10.244.2.3/32', '1007'),
    rule(5999, '0.0.0.0/0', 'main', 0x3f0),
    rule(5999, '::/0', 'main', 0x3f0),
  ],
  changed: null,
  theirs: { entry: rule(6000, '10.244.1.9/32', '1007'), other: null },
}

const route = (dst: string, over: Partial<HostRoute>): HostRoute => ({
  dst: prefix(dst),
  family: dst.includes(':') ? 6 : 4,
  gateway: null,
  dev: DEVICE,
  src: null,
  mtu: null,
  metric: null,
  scope: null,
  table: 'main',
  for: 'EgressIP/eip-a',
  ...over,
})

/** Those of the bridge need its addresses; 203.0.113.1 is on no network of the host. */
export const routes: Samples<HostRoute> = {
  some: [
    route('172.30.0.0/16', { gateway: ip('192.0.2.4'), dev: BRIDGE, src: ip('192.0.2.11'), mtu: 1400 }),
    route('fd02::/112', { gateway: ip('2001:db8::4'), dev: BRIDGE, src: ip('2001:db8::11'), mtu: 1400 }),
    route('169.254.0.1/32', { dev: BRIDGE, src: ip('192.0.2.11') }),
    route('0.0.0.0/0', { table: '1007', scope: 'global' }),
    route('0.0.0.0/0', { table: '1007', type: 'unreachable', dev: '', metric: 4278198272, scope: 'global' }),
    route('::/0', { table: '1007', type: 'unreachable', dev: '', metric: 4278198272 }),
  ],
  more: [
    route('172.30.0.0/16', { gateway: ip('192.0.2.4'), dev: BRIDGE, src: ip('192.0.2.11'), mtu: 1400 }),
    route('198.51.100.0/24', { table: '1007', scope: 'link' }),
    route('0.0.0.0/0', { table: '1007', gateway: ip('198.51.100.1') }),
    route('0.0.0.0/0', { table: '1007', gateway: ip('203.0.113.1'), metric: 50 }),
    route('10.0.0.0/8', { table: '1007', gateway: ip('fe80::1') }),
    route('fe80::/64', { table: '1007', metric: 256 }),
    route('::/0', { table: '1007', gateway: ip('fe80::1'), mtu: 1300 }),
    route('2001:db8:5::/48', { table: '1007', gateway: ip('2001:db8:1::1'), metric: 2000 }),
  ],
  changed: [
    route('172.30.0.0/16', { gateway: ip('192.0.2.5'), dev: BRIDGE, src: ip('192.0.2.11'), mtu: 1400 }),
    route('198.51.100.0/24', { table: '1007', scope: 'link', mtu: 1200 }),
    route('0.0.0.0/0', { table: '1007', gateway: ip('198.51.100.2') }),
    route('0.0.0.0/0', { table: '1007', gateway: ip('203.0.113.1'), metric: 50 }),
    route('10.0.0.0/8', { table: '1007', gateway: ip('198.51.100.1') }),
    route('fe80::/64', { table: '1007', metric: 256 }),
    route('::/0', { table: '1007', gateway: ip('fe80::2'), mtu: 1300 }),
    route('2001:db8:5::/48', { table: '1007', gateway: ip('2001:db8:1::1'), metric: 2000 }),
  ],
  theirs: {
    entry: route('172.31.0.0/16', { gateway: ip('192.0.2.4'), dev: BRIDGE }),
    other: route('172.31.0.0/16', { gateway: ip('192.0.2.5'), dev: BRIDGE }),
  },
}

const guard = (priority: number, match: string, actions: string): Flow =>
  flow({ bridge: BRIDGE, priority, cookie: GUARD_COOKIE, match, actions })
const base = (table: number, priority: number, match: string, actions: string): Flow =>
  flow({ bridge: BRIDGE, table, priority, cookie: OWN_COOKIE + 1n, match, actions })

const ARP = 'in_port=LOCAL,dl_dst=ff:ff:ff:ff:ff:ff,arp,arp_op=1'

/** Match and actions in a spelling that OVS changes, so that comparing texts would never converge. */
export const openflow: Samples<Flow> = {
  some: [guard(499, `${ARP},arp_spa=192.0.2.11`, 'NORMAL'), guard(498, ARP, 'drop')],
  more: [
    guard(498, ARP, 'drop'),
    base(
      0,
      105,
      'in_port=1,dl_src=02:00:00:00:00:01,ip,pkt_mark=0xc350',
      'ct(commit,zone=64000,nat(src=192.0.2.50),exec(load:0x1->NXM_NX_CT_MARK[])),output:2',
    ),
    base(1, 100, 'ipv6,ct_state=+est+trk,ct_mark=0x1', 'mod_dl_dst:02:00:00:00:00:01,2'),
    base(0, 0, '', 'NORMAL'),
  ],
  changed: [
    guard(498, ARP, 'NORMAL'),
    base(
      0,
      105,
      'in_port=1,dl_src=02:00:00:00:00:01,ip,pkt_mark=0xc350',
      'ct(commit,zone=64000,nat(src=192.0.2.51),exec(load:0x1->NXM_NX_CT_MARK[])),output:2',
    ),
    base(1, 100, 'ipv6,ct_state=+est+trk,ct_mark=0x1', 'mod_dl_dst:02:00:00:00:00:01,2'),
    base(0, 0, '', 'NORMAL'),
  ],
  theirs: {
    entry: base(0, 50, 'ip,dl_dst=02:00:00:00:00:01', 'ct(zone=64000,nat,table=1)'),
    other: base(0, 50, 'ip,dl_dst=02:00:00:00:00:01', 'drop'),
  },
}

/** A flag on the only port of the contract's bridge that joins it to a user-defined network. */
const flag = (port: string): PortFlag => ({ bridge: BRIDGE, port, flag: 'no-flood', for: 'UserDefinedNetwork/blue/net' })

/** Flows and flags of ports together; number 2 and 3 are patch ports of user-defined networks. */
export const ports: Samples<Flow | PortFlag> = {
  some: [flag('2'), base(1, 14, 'icmp6,icmp_type=134', 'output:2,FLOOD')],
  more: [flag('2'), flag('3'), base(1, 14, 'icmp6,icmp_type=134', 'output:2,output:3,FLOOD')],
  changed: null,
  theirs: null,
}

/** The flow that every new bridge has by itself. */
export const NEW_BRIDGE = flow({ bridge: BRIDGE, priority: 0, cookie: 0n, match: '', actions: 'NORMAL' })

const silenced = (...texts: readonly string[]) => texts.map((text) => ({ address: ip(text), for: 'EgressIP/eip-a' }))

const pods = (...texts: readonly string[]): readonly EgressPod[] =>
  texts.map((text) => {
    const [pod = '', device = '', egressIP = ''] = text.split(' ')
    return { pod: ip(pod), device, address: ip(egressIP), for: 'EgressIP/eip-a' }
  })
const egress = (...texts: readonly string[]): readonly NftEntry[] => egressTable('local', [prefix('10.244.0.0/16')], pods(...texts))

export const nftables: Samples<NftEntry> = {
  some: [...guardTable(silenced('192.0.2.50', '2001:db8::50'), DEVICE, '1.0.6'), ...egress()],
  more: [
    ...guardTable(silenced('192.0.2.50', '192.0.2.51'), DEVICE, '1.0.6'),
    ...secondaryGuardTable(silenced('198.51.100.50', '2001:db8:1::50'), [DEVICE, BRIDGE], '1.0.6'),
    ...egress('10.244.1.3 eth1 198.51.100.50', 'fd00:10:244::3 eth1 2001:db8:1::50'),
  ],
  changed: [
    ...guardTable(silenced('192.0.2.50', '192.0.2.51'), DEVICE, '1.0.6'),
    ...secondaryGuardTable(silenced('198.51.100.50', '2001:db8:1::50'), [DEVICE, BRIDGE], '1.0.6'),
    ...egress('10.244.1.3 eth1 198.51.100.51', 'fd00:10:244::3 eth1 2001:db8:1::50', '10.244.1.4 eth1 198.51.100.51'),
  ],
  theirs: null,
}
