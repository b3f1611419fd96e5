import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Flow, openflow } from '../../src/syntax/openflow.js'
import { createNamespace, type Namespace, run } from '../lab/netns.js'
import { addBridge, type OpenVSwitch, startOvs } from '../lab/ovs.js'
import { describeWith } from '../requires.js'
import { shuffled } from '../syntax/arbitrary.js'

/** Ways to write one thing. */
type Spellings = readonly string[]

/** Conditions of one packet that may stand beside each other, by what they are about; every list has several things, each with its spellings. */
const LINK: readonly Spellings[] = [
  [''],
  ['dl_dst=02:00:00:00:00:0a', 'eth_dst=02:00:00:00:00:0A', 'dl_dst=2:0:0:0:0:a', 'dl_dst=02:00:00:00:00:0a/ff:ff:ff:ff:ff:ff'],
  ['dl_dst=02:00:00:00:00:0b'],
  [
    'dl_dst=01:00:00:00:00:00/01:00:00:00:00:00',
    'eth_dst=ff:ff:ff:ff:ff:ff/01:00:00:00:00:00',
    'dl_dst=33:33:00:00:00:01/01:00:00:00:00:00',
  ],
]
const VLAN: readonly Spellings[] = [
  [''],
  ['dl_vlan=100', 'dl_vlan=0x64', 'vlan_vid=0x1064', 'vlan_tci=0x1064/0x1fff', 'vlan_vid=0x1064/0x1fff'],
  ['dl_vlan=101'],
  ['vlan_tci=0', 'dl_vlan=0xffff', 'vlan_tci=0x0/0x1fff'],
  ['dl_vlan=100,dl_vlan_pcp=3', 'vlan_tci=0x7064', 'dl_vlan_pcp=3,vlan_vid=0x1064'],
]
const PROTOCOL: readonly Spellings[] = [
  ['ip', 'dl_type=0x800', 'eth_type=2048', 'dl_type=0x0800,nw_src=0.0.0.0/0'],
  ['tcp', 'ip,nw_proto=6', 'dl_type=0x800,ip_proto=6', 'nw_proto=0x6,ip'],
  ['tcp,tp_dst=80', 'ip,nw_proto=6,tcp_dst=0x50', 'tcp,tcp_dst=80/0xffff'],
  ['udp,tp_dst=80', 'ip,nw_proto=17,udp_dst=80'],
  ['ip,nw_dst=10.1.0.0/16', 'dl_type=0x800,ip_dst=10.1.2.3/255.255.0.0', 'ip,nw_dst=10.1.0.9/16'],
  ['ip,nw_dst=10.1.0.0/17'],
  ['ip,nw_dst=10.0.3.0/255.0.255.0', 'ip,nw_dst=10.7.3.9/255.0.255.0'],
  ['ip,nw_src=192.0.2.11', 'ip,nw_src=192.0.2.11/32', 'dl_type=0x800,ip_src=192.0.2.11/255.255.255.255'],
  ['ipv6,ipv6_dst=2001:db8::/32', 'dl_type=0x86dd,ipv6_dst=2001:0DB8::1/ffff:ffff::', 'ipv6,ipv6_dst=2001:db8::5/32'],
  ['icmp6,icmpv6_type=2,icmpv6_code=0', 'ipv6,nw_proto=58,icmp_type=2,icmp_code=0', 'dl_type=0x86dd,nw_proto=58,icmpv6_code=0,icmp_type=2'],
  ['arp,arp_op=1,arp_tpa=192.0.2.11', 'dl_type=0x806,nw_proto=1,nw_dst=192.0.2.11', 'arp,arp_op=0x1,arp_tpa=192.0.2.11/32'],
]
const STATE: readonly Spellings[] = [
  [''],
  ['pkt_mark=0x3f0', 'pkt_mark=1008', 'pkt_mark=0x3f0/0xffffffff'],
  ['pkt_mark=0x3f1'],
  ['ct_state=+trk+est', 'ct_state=+est+trk'],
  ['ct_state=+trk-est', 'ct_state=-est+trk'],
  ['ct_mark=0x5/0xf', 'ct_mark=5/15', 'ct_mark=0x15/0xf'],
  ['reg0=0x1/0x1', 'reg0=3/1'],
  ['reg0=1', 'reg0=0x1/0xffffffff', 'reg0=0x00000001'],
  ['ct_mark=0/0', 'metadata=7/0', ''],
]
const ACTION: readonly Spellings[] = [
  ['output:2', '2'],
  ['output:3', '3'],
  ['NORMAL', 'normal', 'output:NORMAL'],
  ['LOCAL', 'output:LOCAL', 'local', '65534'],
  ['FLOOD', 'flood', 'output:flood'],
  ['set_field:02:00:00:00:00:0a->eth_dst', 'mod_dl_dst:02:00:00:00:00:0A', 'set_field:02:00:00:00:00:0a->dl_dst'],
  ['set_field:02:00:00:00:00:0a->eth_src', 'mod_dl_src=02:00:00:00:00:0a'],
  ['set_field:0x5->reg1', 'load:5->NXM_NX_REG1[]', 'load:0x5->reg1[0..31]', 'set_field:5/0xffffffff->reg1'],
  ['load:0x5->NXM_NX_REG1[0..3]', 'set_field:5/0xf->reg1', 'load:5->reg1[0..3]'],
  ['load:0x1->NXM_NX_REG1[4]', 'set_field:0x10/0x10->reg1', 'load:1->reg1[4..4]'],
  ['set_field:0x3f0->pkt_mark', 'load:1008->NXM_NX_PKT_MARK[]', 'set_field:1008->pkt_mark'],
  ['move:NXM_OF_ETH_DST[]->NXM_OF_ETH_SRC[]', 'move:eth_dst[]->eth_src[]', 'move:NXM_OF_ETH_DST[0..47]->eth_src'],
  ['check_pkt_larger(1414)->NXM_NX_REG0[0]', 'check_pkt_larger(1414)->reg0[0]'],
  ['check_pkt_larger(1415)->NXM_NX_REG0[0]'],
  ['resubmit(,11)'],
  ['push_vlan:0x8100,set_field:4196->vlan_vid,pop_vlan', 'push_vlan:0x8100,set_field:0x1064->vlan_vid,strip_vlan'],
]
const TRACKED: readonly Spellings[] = [
  ['ct(commit,zone=64000,exec(set_field:0x1->ct_mark))', 'ct(exec(load:1->NXM_NX_CT_MARK[]),zone=64000,commit)'],
  ['ct(commit,zone=64000,exec(set_field:0x2->ct_mark))'],
  ['ct(table=4,zone=64001)', 'ct(zone=0xfa01,table=4)'],
  ['ct(zone=64000,nat,table=1)', 'ct(nat,table=1,zone=64000)'],
  ['ct(commit)', 'ct(zone=0,commit)'],
  ['ct_clear'],
]
const IPV4: readonly Spellings[] = [
  ['ct(commit,zone=64000,nat(src=192.0.2.50))', 'ct(nat(src=192.0.2.50),commit,zone=64000)'],
  ['ct(commit,zone=64000,nat(dst=192.0.2.50))', 'ct(zone=64000,nat(dst=192.0.2.50),commit)'],
  ['set_field:192.0.2.9->ip_src', 'mod_nw_src:192.0.2.9', 'set_field:192.0.2.9->nw_src'],
  ['set_field:4->ip_dscp', 'mod_nw_tos:16'],
]
const IPV6: readonly Spellings[] = [
  ['ct(commit,nat(src=2001:db8::50))', 'ct(commit,nat(src=2001:DB8:0::50))'],
  ['ct(commit,nat(src=[2001:db8::50]:80))', 'ct(nat(src=[2001:db8:0:0::50]:80),commit)'],
  ['set_field:2001:db8::9->ipv6_src', 'set_field:2001:db8:0::9->ipv6_src'],
]
const TCP: readonly Spellings[] = [['set_field:8080->tcp_dst', 'mod_tp_dst:8080']]

/** A flow in two spellings, conditions in any order: of the same things, or two flows of which one action differs. */
const pair = (() => {
  const one = (things: readonly Spellings[]) => fc.integer({ min: 0, max: things.length - 1 }).map((at) => things[at] as Spellings)
  const isOf = (protocol: Spellings, ...first: readonly string[]) => first.some((word) => (protocol[0] as string).split(',')[0] === word)
  const things = one(PROTOCOL).chain((protocol) => {
    const actions = [
      ...ACTION,
      ...(isOf(protocol, 'arp') ? [] : TRACKED),
      ...(isOf(protocol, 'ip', 'tcp', 'udp') ? IPV4 : []),
      ...(isOf(protocol, 'ipv6', 'icmp6') ? IPV6 : []),
      ...(isOf(protocol, 'tcp') ? TCP : []),
    ]
    return fc.record({
      match: fc.tuple(one(LINK), one(VLAN), fc.constant(protocol), one(STATE)),
      actions: fc.array(one(actions), { minLength: 1, maxLength: 4 }),
      other: fc.option(fc.tuple(fc.nat(3), one(actions)), { nil: null, freq: 2 }),
    })
  })
  return things.chain(({ match, actions, other }) => {
    const changed = other === null ? actions : actions.map((thing, at) => (at === other[0] % actions.length ? other[1] : thing))
    const spelled = (list: readonly Spellings[]) => fc.tuple(...list.map((spellings) => fc.constantFrom(...spellings)))
    const written = (list: readonly Spellings[]) =>
      fc.tuple(
        spelled(match).chain((parts) => shuffled(parts.filter((part) => part !== ''))),
        spelled(list),
      )
    return fc.record({
      written: fc.tuple(written(actions), written(changed)),
      isSame: fc.constant(changed.every((thing, at) => thing === actions[at])),
    })
  })
})()

describeWith(['root', 'linux', 'ip', 'ovs'], 'spellings of flows', () => {
  let namespace: Namespace
  let ovs: OpenVSwitch
  let folder: string
  const sides = ['br-left', 'br-right'] as const

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'eg-spell-'))
    namespace = createNamespace('spell')
    ovs = startOvs(namespace, folder)
    for (const bridge of sides) addBridge(namespace, ovs, bridge)
  })
  afterAll(() => {
    namespace.close()
    rmSync(folder, { recursive: true })
  })

  /** Priorities of the flows in which Open vSwitch finds the two bridges different. */
  function differing(): ReadonlySet<number> {
    const management = sides.map((bridge) => `unix:${folder}/${bridge}.mgmt`)
    const { stdout, stderr, status } = run('ovs-ofctl', ['-O', 'OpenFlow14', 'diff-flows', ...management], { mayFail: true })
    expect([0, 2], stderr).toContain(status)
    return new Set([...stdout.matchAll(/^[-+].*\bpriority=(\d+)/gm)].map(([, priority]) => Number(priority)))
  }

  const isOneFlow = (a: Flow | undefined, b: Flow | undefined): boolean => {
    const language = openflow('br')
    return a !== undefined && b !== undefined && language.key(a) === language.key(b) && language.same(a, b)
  }

  it('mean the same here where Open vSwitch finds no difference, or but one between load and set_field; else they differ', () => {
    const counts = { same: 0, different: 0 }
    fc.assert(
      fc.property(fc.array(pair, { minLength: 40, maxLength: 40 }), (pairs) => {
        const files = sides.map((bridge, side) => {
          const lines = pairs.map(({ written }, at) => {
            const [match, actions] = written[side] as (typeof written)[number]
            return `priority=${at + 1},${match.join(',')},actions=${actions.join(',')}\n`
          })
          const file = join(folder, `${bridge}.flows`)
          writeFileSync(file, lines.join(''))
          ovs.ofctl('replace-flows', bridge, file)
          return openflow('br').parse(lines.join(''))
        })
        const found = differing()
        for (const [at, { written, isSame }] of pairs.entries()) {
          const [ours, theirs] = [isOneFlow(files[0]?.[at], files[1]?.[at]), !found.has(at + 1)]
          const loads = written.some(([, actions]) => actions.some((action) => action.includes('load:')))
          counts[ours ? 'same' : 'different']++
          expect(ours, `${JSON.stringify(written)}: Open vSwitch says ${theirs ? 'the same' : 'another flow'}`).toBe(
            theirs || (isSame && loads),
          )
        }
      }),
      { numRuns: 25, endOnFailure: true },
    )
    expect(counts.same).toBeGreaterThan(300)
    expect(counts.different).toBeGreaterThan(100)
  })
})
