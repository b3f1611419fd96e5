import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printPrefix } from '../../src/model/address.js'
import { flow, isOwn, openflow, portSymbols, printFlow, withPorts } from '../../src/syntax/openflow.js'
import { anyAddress, anyFor, anyMac, anyPrefix, shuffled } from './arbitrary.js'
import { obeysItsLaws, refusesWhatIsDamaged } from './laws.js'

const language = openflow('br-ex')
const one = (text: string) => {
  const [found] = language.parse(text)
  if (!found) throw new Error('no flow')
  return found
}

/** What someone writes, and what `ovs-ofctl -O OpenFlow14 dump-flows --no-stats --no-names` of OVS 3.1.0 made of it (recorded). */
const REWRITTEN: readonly (readonly [written: string, dumped: string])[] = [
  [
    'cookie=0x0305,table=0,priority=499,in_port=1,dl_dst=ff:ff:ff:ff:ff:ff,arp,arp_op=1,arp_spa=192.0.2.11,actions=output:NORMAL',
    ' cookie=0x305, priority=499,arp,in_port=1,dl_dst=ff:ff:ff:ff:ff:ff,arp_spa=192.0.2.11,arp_op=1 actions=NORMAL',
  ],
  [
    'priority=499,in_port=1,dl_dst=33:33:00:00:00:01,icmp6,icmpv6_type=136,nd_target=2001:DB8:0:0::11,actions=NORMAL',
    ' priority=499,icmp6,in_port=1,dl_dst=33:33:00:00:00:01,icmp_type=136,nd_target=2001:db8::11 actions=NORMAL',
  ],
  [
    'priority=700,dl_type=0x800,nw_proto=1,in_port=1,icmp_type=3,icmp_code=4,ip_dst=192.0.2.7/255.255.255.0,actions=drop',
    ' priority=700,icmp,in_port=1,nw_dst=192.0.2.0/24,icmp_type=3,icmp_code=4 actions=drop',
  ],
  [
    'priority=500,ipv6,in_port=1,ipv6_dst=fd69::2/128,ipv6_src=2001:db8::11,actions=ct(commit,zone=64001,nat(dst=2001:db8:0::11),table=4)',
    ' priority=500,ipv6,in_port=1,ipv6_src=2001:db8::11,ipv6_dst=fd69::2 actions=ct(commit,table=4,zone=64001,nat(dst=2001:db8::11))',
  ],
  ['priority=205,udp6,in_port=2,udp_dst=6081,actions=output:LOCAL', ' priority=205,udp6,in_port=2,tp_dst=6081 actions=LOCAL'],
  [
    'priority=105,ip,pkt_mark=50000,actions=ct(commit,zone=64000,nat(src=192.0.2.50),exec(load:3->NXM_NX_CT_MARK[])),2',
    ' priority=105,pkt_mark=0xc350,ip actions=ct(commit,zone=64000,nat(src=192.0.2.50),exec(set_field:0x3->ct_mark)),output:2',
  ],
  [
    'priority=13,in_port=LOCAL,actions=mod_vlan_vid:100,output:2',
    ' priority=13,in_port=LOCAL actions=push_vlan:0x8100,set_field:4196->vlan_vid,output:2',
  ],
  [
    'priority=10,dl_vlan=100,eth_dst=02:00:00:00:00:01,actions=strip_vlan,output:1,output:LOCAL',
    ' priority=10,dl_vlan=100,dl_dst=02:00:00:00:00:01 actions=pop_vlan,output:1,LOCAL',
  ],
  [
    'table=1,priority=100,ip,ct_state=+trk+est,ct_mark=0x1,actions=check_pkt_larger(1414)->NXM_NX_REG0[0],resubmit(,11)',
    ' table=1, priority=100,ct_state=+est+trk,ct_mark=0x1,ip actions=check_pkt_larger(1414)->NXM_NX_REG0[0],resubmit(,11)',
  ],
  [
    'table=3,actions=move:NXM_OF_ETH_DST[]->NXM_OF_ETH_SRC[],mod_dl_dst:02:00:00:00:00:01,LOCAL',
    ' table=3, actions=move:NXM_OF_ETH_DST[]->NXM_OF_ETH_SRC[],set_field:02:00:00:00:00:01->eth_dst,LOCAL',
  ],
  [
    'table=12,priority=9,tcp,tp_dst=80/0xff80,vlan_tci=0x1000/0x1000,metadata=0x10,actions=output:2,resubmit:3,goto_table:20',
    ' table=12, priority=9,tcp,metadata=0x10,vlan_tci=0x1000/0x1000,tp_dst=0x0/0xff80 actions=output:2,resubmit:3,goto_table:20',
  ],
  [
    'table=12,priority=7,ipv6,ipv6_src=2001:db8::/ffff:ffff::,ip_dscp=10,actions=dec_ttl,set_field:2001:DB8::1->ipv6_src,controller',
    ' table=12, priority=7,ipv6,ipv6_src=2001:db8::/32,nw_tos=40 actions=dec_ttl,set_field:2001:db8::1->ipv6_src,CONTROLLER:65535',
  ],
  [
    'priority=6,dl_vlan=5,ip,actions=strip_vlan,mod_vlan_vid:6,mod_vlan_pcp:3,3',
    ' priority=6,ip,dl_vlan=5 actions=pop_vlan,push_vlan:0x8100,set_field:4102->vlan_vid,set_field:3->vlan_pcp,output:3',
  ],
  ['priority=6,vlan_tci=0x7064,actions=2', ' priority=6,dl_vlan=100,dl_vlan_pcp=3 actions=output:2'],
  [
    'priority=6,dl_vlan=0xffff,actions=mod_vlan_vid:6,2',
    ' priority=6,vlan_tci=0x0000/0x1fff actions=push_vlan:0x8100,set_field:4102->vlan_vid,output:2',
  ],
  ['priority=6,ip,nw_src=10.0.0.1/255.0.255.0,actions=65534', ' priority=6,ip,nw_src=10.0.0.0/255.0.255.0 actions=LOCAL'],
  [
    'priority=6,udp6,actions=mod_tp_src:80,set_field:0x50/0xf0->reg3,move:reg0[0..15]->NXM_NX_REG1[16..31],check_pkt_larger(9)->reg0[0]',
    ' priority=6,udp6 actions=set_field:80->udp_src,load:0x5->NXM_NX_REG3[4..7],move:NXM_NX_REG0[0..15]->NXM_NX_REG1[16..31],check_pkt_larger(9)->NXM_NX_REG0[0]',
  ],
  [
    'priority=6,ipv6,actions=ct(commit,zone=0,nat(src=[2001:db8:0::1]-[2001:db8:0::2]:1-2)),set_tunnel:5,mod_nw_tos:16,load:3->NXM_NX_REG0[0..31]',
    ' priority=6,ipv6 actions=ct(commit,nat(src=[2001:db8::1]-[2001:db8::2]:1-2)),set_field:0x5->tun_id,set_field:4->ip_dscp,load:0x3->NXM_NX_REG0[]',
  ],
]

describe('flows', () => {
  it.each(REWRITTEN)('%s is what Open vSwitch makes of it', (written, dumped) => {
    const [asked, found] = [one(written), one(dumped)]
    expect(language.key(found)).toBe(language.key(asked))
    expect(language.same(asked, found)).toBe(true)
  })

  it('skips statistics, timers and headers of a dump', () => {
    const text = `OFPST_FLOW reply (OF1.4) (xid=0x2):
 cookie=0xdeff105, duration=45.107s, table=0, n_packets=3, n_bytes=126, idle_age=9, reset_counts priority=0 actions=NORMAL
`
    expect(language.parse(text)).toEqual([
      { bridge: 'br-ex', table: 0, priority: 0, cookie: 0xdeff105n, match: [], actions: 'NORMAL', comment: null },
    ])
  })

  it('gives a comment to the flow right below it, and to no other', () => {
    const text = '# a header\n\n# EgressIP/eip-a: why\npriority=2,actions=drop\npriority=1,actions=drop\n'
    expect(language.parse(text).map(({ comment }) => comment)).toEqual(['EgressIP/eip-a: why', null])
  })

  it('prints in the order in which Open vSwitch tries them', () => {
    const text = 'table=1,priority=1,actions=drop\npriority=5,arp,actions=drop\npriority=50,actions=drop\npriority=5,ip,actions=drop\n'
    const tables = language
      .print(language.parse(text))
      .split('\n')
      .map((line) => line.replace(/cookie=0x0,(.*),actions=drop/, '$1'))
    expect(tables).toEqual(['table=0,priority=50', 'table=0,priority=5,arp', 'table=0,priority=5,ip', 'table=1,priority=1', ''])
  })

  it('does not take the cookie for identity or meaning', () => {
    const [a, b] = [one('cookie=0x305,priority=1,actions=drop'), one('cookie=0x1,priority=1,actions=drop')]
    expect(language.key(a)).toBe(language.key(b))
    expect(language.same(a, b)).toBe(true)
  })

  it.each([
    [0x305n, true],
    [0xe6e70000n, true],
    [0xe6e7ffffn, true],
    [0xe6e80000n, false],
    [0xdeff105n, false],
    [0x304n, false],
    [0n, false],
    [0x1e6e70000n, false],
  ])('cookie %d is ours: %s', (cookie, own) => {
    expect(isOwn(flow({ bridge: 'br-ex', priority: 1, cookie, match: '', actions: 'drop' }))).toBe(own)
  })

  it('says where a line is no flow', () => {
    expect(() => language.parse('priority=1,actions=drop\npriority=2\n')).toThrow('line 2: a flow needs actions=')
    expect(() => language.parse('priority=high,actions=drop\n')).toThrow('line 1: priority=high is not a number')
  })

  it('lists and replaces the ports that only the host knows', () => {
    const entry = one('priority=9,in_port=patch(cluster_udn_red),actions=patch(default),output:uplink(br-ex),LOCAL')
    expect(portSymbols(entry).map(({ text, name, of }) => [text, name, of])).toEqual([
      ['patch(cluster_udn_red)', 'patch', 'cluster_udn_red'],
      ['patch(default)', 'patch', 'default'],
      ['uplink(br-ex)', 'uplink', 'br-ex'],
    ])
    const ports = new Map([
      ['patch(cluster_udn_red)', '3'],
      ['patch(default)', '2'],
      ['uplink(br-ex)', '1'],
    ])
    expect(printFlow(withPorts(entry, ports))).toBe('cookie=0x0,table=0,priority=9,in_port=3,actions=output:2,output:1,LOCAL')
    expect(portSymbols(withPorts(entry, new Map([['patch(default)', '2']])))).toHaveLength(2)
  })
})

describe('laws of flows', () => {
  const condition = fc.oneof(
    anyMac().map((mac) => `dl_src=${mac}`),
    fc.integer({ min: 0, max: 0xffffffff }).map((mark) => `pkt_mark=${mark}`),
    fc.constantFrom('in_port=1', 'in_port=patch(default)', 'in_port=LOCAL', 'ct_state=+trk-new', 'reg0=0x1/0x1', 'dl_vlan=0x64'),
  )
  const network = fc.oneof(
    anyPrefix().map((prefix) => `${prefix.address.family === 4 ? 'ip,nw_dst' : 'ipv6,ipv6_dst'}=${printPrefix(prefix)}`),
    anyAddress(4).map(({ text }) => `arp,arp_op=1,arp_spa=${text}`),
    anyAddress(6).map(({ text }) => `icmp6,icmpv6_type=136,nd_target=${text}`),
    fc.constant(''),
  )
  const actions = fc.array(
    fc.oneof(
      fc.constantFrom('NORMAL', 'output:2', 'uplink(br-ex)', 'strip_vlan', 'mod_vlan_vid:7', 'resubmit(,3)', 'load:0x5->NXM_NX_REG1[]'),
      anyMac().map((mac) => `mod_dl_dst:${mac}`),
      anyAddress().map(({ text }) => `ct(zone=1,commit,nat(src=${text}),exec(set_field:2->ct_mark))`),
    ),
    { maxLength: 3 },
  )
  const texts = fc.record({
    conditions: fc.array(condition, { maxLength: 3 }),
    network,
    actions: actions.map((list) => list.join(',')),
    priority: fc.integer({ min: 0, max: 0xffff }),
    table: fc.integer({ min: 0, max: 11 }),
    comment: fc.option(anyFor(), { nil: null }),
  })

  it('keeps entries over print and parse, whatever their order', () => {
    const entries = texts.map(({ conditions, network: net, ...rest }) =>
      flow({ bridge: 'br-ex', cookie: 0xe6e70001n, match: [...conditions, net].join(','), ...rest }),
    )
    obeysItsLaws(language, fc.array(entries, { maxLength: 8 }))
  })

  it('are refused with a line where they are damaged', () => {
    for (const [written, dumped] of REWRITTEN) refusesWhatIsDamaged(language, `# why\n${written}\n${dumped}\n`)
  })

  it('does not care for the order of the conditions', () => {
    fc.assert(
      fc.property(
        texts.chain(({ network: net, ...rest }) =>
          fc.tuple(fc.constant(rest), shuffled([...new Map(rest.conditions.map((c) => [c.split('=')[0], c])).values(), ...net.split(',')])),
        ),
        ([rest, mixed]) => {
          const of = (match: readonly string[]) =>
            language.key(flow({ bridge: 'br-ex', cookie: 0n, match: match.join(','), priority: 1, actions: rest.actions }))
          expect(of(mixed)).toBe(of([...mixed].reverse()))
        },
      ),
      { numRuns: 60 },
    )
  })
})
