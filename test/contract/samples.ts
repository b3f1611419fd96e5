import { type Address, parseAddress, parsePrefix } from '../../src/model/address.js'
import { GUARD_COOKIE, OWN_COOKIE } from '../../src/model/numbers.js'
import type { HostAddress } from '../../src/syntax/addresses.js'
import { guardTable } from '../../src/syntax/guard.js'
import type { Neighbor } from '../../src/syntax/neighbors.js'
import { type NftEntry, nftables as nftLanguage } from '../../src/syntax/nftables.js'
import { type Flow, flow } from '../../src/syntax/openflow.js'
import type { Samples } from './suite.js'

export const BRIDGE = 'br-ex'
export const DEVICE = 'ens3'

const ip = (text: string): Address => parseAddress(text) as Address

const address = (text: string): HostAddress => ({
  address: parsePrefix(text) as HostAddress['address'],
  dev: BRIDGE,
  for: 'EgressIP/eip-a',
})

export const addresses: Samples<HostAddress> = {
  some: [address('192.0.2.50/32'), address('2001:db8::50/128')],
  more: [address('192.0.2.50/32'), address('192.0.2.51/32'), address('2001:db8::51/128')],
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

/** The flow that every new bridge has by itself. */
export const NEW_BRIDGE = flow({ bridge: BRIDGE, priority: 0, cookie: 0n, match: '', actions: 'NORMAL' })

const silenced = (...texts: readonly string[]) => texts.map((text) => ({ address: ip(text), for: 'EgressIP/eip-a' }))

/** A table of our own beside the guard's, with what later features need: a map, and chains with and without a hook. */
const table = (to: string): readonly NftEntry[] =>
  nftLanguage.parse(
    JSON.stringify({
      nftables: [
        { add: { table: { family: 'inet', name: 'egretta' } } },
        { add: { map: { family: 'inet', table: 'egretta', name: 'snat-v4', type: ['ipv4_addr', 'ifname'], map: 'ipv4_addr' } } },
        { add: { element: { family: 'inet', table: 'egretta', name: 'snat-v4', elem: [[{ concat: ['10.244.1.3', 'eth1'] }, to]] } } },
        {
          add: {
            chain: { family: 'inet', table: 'egretta', name: 'filter', type: 'filter', hook: 'postrouting', prio: 101, policy: 'accept' },
          },
        },
        {
          add: {
            rule: {
              family: 'inet',
              table: 'egretta',
              chain: 'filter',
              comment: 'not SNATed yet',
              expr: [{ match: { op: '==', left: { meta: { key: 'mark' } }, right: 1009 } }, { counter: null }, { drop: null }],
            },
          },
        },
      ],
    }),
  )

export const nftables: Samples<NftEntry> = {
  some: guardTable(silenced('192.0.2.50', '2001:db8::50'), DEVICE, '1.0.6'),
  more: [...guardTable(silenced('192.0.2.50', '192.0.2.51'), DEVICE, '1.0.6'), ...table('198.51.100.50')],
  changed: [...guardTable(silenced('192.0.2.50', '192.0.2.51'), DEVICE, '1.0.6'), ...table('198.51.100.51')],
  theirs: null,
}
