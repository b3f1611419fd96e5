import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/model/address.js'
import { guardFlows } from '../../src/syntax/guard.js'
import { type Flow, flow, openflow, printFlow, withPorts } from '../../src/syntax/openflow.js'
import { createNamespace, type Namespace } from '../lab/netns.js'
import { addBridge, type OpenVSwitch, startOvs } from '../lab/ovs.js'
import { describeWith } from '../requires.js'

const language = openflow('br-ex')
const MAC = '02:00:00:00:00:01'

/** Flows of every kind that the external bridge of a node has, in the spellings of the documents (tables of the bridge, ovs-fields(7)). */
const WRITTEN: readonly string[] = [
  'cookie=0xe6e70004,priority=700,icmp,in_port=1,icmp_type=3,icmp_code=4,nw_dst=192.0.2.11,actions=drop',
  'cookie=0xe6e70004,priority=700,icmp6,in_port=1,icmpv6_type=2,icmpv6_code=0,ipv6_dst=2001:db8::11,actions=drop',
  `priority=650,in_port=1,dl_src=${MAC},udp,tp_dst=3784,actions=output:2`,
  'priority=550,in_port=LOCAL,ip,nw_src=169.254.0.0/17,nw_dst=172.30.0.0/16,actions=ct(commit,zone=64001,table=2)',
  'priority=500,in_port=1,ip,nw_dst=169.254.0.2,nw_src=192.0.2.11,actions=ct(commit,zone=64001,nat(dst=192.0.2.11),table=4)',
  'priority=500,in_port=1,ipv6,ipv6_dst=fd69::2,ipv6_src=2001:db8::11,actions=ct(commit,zone=64001,nat(dst=2001:db8::11),table=4)',
  'priority=500,in_port=LOCAL,ip,nw_dst=172.30.0.0/255.255.0.0,actions=ct(commit,zone=64001,nat(src=169.254.0.2),table=2)',
  `priority=205,in_port=2,dl_dst=${MAC},udp6,udp_dst=6081,actions=LOCAL`,
  'priority=200,in_port=LOCAL,udp,udp_dst=6081,actions=output:2',
  'priority=175,in_port=1,tcp,nw_src=192.0.2.11,actions=ct(table=4,zone=64001)',
  'priority=175,in_port=1,sctp6,ipv6_src=2001:db8::11,actions=ct(table=4,zone=64001)',
  'priority=110,in_port=2,ip,nw_frag=yes,actions=ct(table=0,zone=64004)',
  `priority=105,in_port=1,dl_src=${MAC},ip,pkt_mark=0x3f0,actions=ct(commit,zone=64000,nat(src=192.0.2.11),exec(set_field:0x1->ct_mark)),output:2`,
  `priority=105,in_port=1,dl_src=${MAC},ipv6,pkt_mark=50000,actions=ct(commit,zone=64000,nat(src=2001:db8::50),exec(set_field:4->ct_mark)),2`,
  `priority=102,in_port=LOCAL,dl_src=${MAC},icmp6,icmpv6_type=135,actions=ct(commit,zone=64000,exec(load:0x2->NXM_NX_CT_MARK[])),NORMAL`,
  `priority=50,dl_dst=${MAC},ip,actions=ct(zone=64000,nat,table=1)`,
  'priority=12,arp,arp_op=1,arp_tpa=192.0.2.11,actions=output:1,NORMAL',
  'priority=11,in_port=2,dl_dst=33:33:00:00:00:01,icmp6,icmpv6_type=136,actions=output:1,NORMAL',
  `priority=10,dl_vlan=100,dl_dst=${MAC},actions=strip_vlan,output:1,output:LOCAL`,
  'priority=10,in_port=LOCAL,dl_vlan=7,actions=mod_vlan_vid:100,output:2',
  'priority=9,in_port=LOCAL,actions=mod_vlan_vid:100,output:2',
  'priority=9,in_port=1,actions=drop',
  'priority=0,actions=output:NORMAL',
  'table=1,priority=100,ip,ct_state=+trk+est,ct_mark=0x1,actions=check_pkt_larger(1414)->NXM_NX_REG0[0],resubmit(,11)',
  'table=1,priority=100,ipv6,ct_state=+trk+rel,ct_mark=0x2,actions=output:LOCAL',
  'table=1,priority=14,icmp6,icmpv6_type=134,actions=output:1,FLOOD',
  `table=2,priority=250,pkt_mark=4099,actions=set_field:${MAC}->eth_dst,output:1`,
  `table=2,actions=mod_dl_dst:${MAC},output:1`,
  `table=3,actions=move:NXM_OF_ETH_DST[]->NXM_OF_ETH_SRC[],mod_dl_dst:${MAC},LOCAL`,
  'table=5,priority=100,ip,ct_mark=4,actions=ct(commit,zone=64001,nat),output:1',
  'table=11,priority=10,reg0=0x1,actions=LOCAL',
  'table=11,priority=9,reg0=0x1/0x1,ip,actions=load:0x5->NXM_NX_REG1[],load:1->NXM_NX_REG2[3..4],goto_table:12',
  'table=12,priority=9,tcp,tp_dst=80/0xff80,metadata=0x10,actions=resubmit:3,resubmit(2,5)',
  'table=12,priority=8,dl_src=02:00:00:00:00:00/ff:ff:ff:00:00:00,dl_type=0x1234,tun_id=5,actions=set_field:10->tun_id,output:2',
  'table=12,priority=7,ipv6,ipv6_src=2001:db8::/ffff:ffff::,ip_dscp=10,actions=dec_ttl,set_field:2001:DB8::1->ipv6_src,ct_clear,controller',
  'table=12,priority=6,ip,nw_ttl=5,ct_zone=64000,ct_state=+trk,ct_label=0x5,actions=set_field:10.0.0.1->ip_src,mod_nw_dst:10.0.0.2,output:2',
]

describeWith(['root', 'linux', 'ip', 'ovs'], 'flows as Open vSwitch prints them', () => {
  let namespace: Namespace
  let ovs: OpenVSwitch
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'eg-flows-'))
    namespace = createNamespace('flows')
    ovs = startOvs(namespace, folder)
    addBridge(namespace, ovs, 'br-ex', MAC)
  })
  afterAll(() => {
    namespace.close()
    rmSync(folder, { recursive: true })
  })

  /** Replaces all flows of the bridge and reads back what it has. */
  const load = (lines: readonly string[], ...dumpOptions: readonly string[]): readonly Flow[] => {
    const file = join(folder, 'flows')
    writeFileSync(file, `${lines.join('\n')}\n`)
    ovs.ofctl('replace-flows', 'br-ex', file, '--bundle')
    return language.parse(ovs.ofctl('dump-flows', 'br-ex', '--no-names', ...dumpOptions))
  }
  const byKey = (flows: readonly Flow[]) => new Map(flows.map((entry) => [language.key(entry), entry]))

  describe.each([[['--no-stats']], [[]]])('dumped with %j', (options) => {
    it('have the keys and the meanings of what was asked', () => {
      const asked = language.parse(WRITTEN.join('\n'))
      const found = byKey(load(WRITTEN, ...options))
      expect([...found.keys()].sort()).toEqual([...byKey(asked).keys()].sort())
      for (const entry of asked) {
        const there = found.get(language.key(entry))
        expect(there?.actions, language.key(entry)).toBe(entry.actions)
        expect(there?.cookie).toBe(entry.cookie)
      }
    })
  })

  it('are the same again when the canonical spelling is loaded', () => {
    const asked = language.parse(WRITTEN.join('\n'))
    const found = load(asked.map(printFlow), '--no-stats')
    expect(language.print(found)).toBe(language.print(asked))
  })

  it('hold for the GARP guard, its ports resolved', () => {
    const own = ['192.0.2.11', '2001:db8::11'].flatMap((text) => parseAddress(text) ?? [])
    const guard = guardFlows('br-ex', 'node-a', own, ['default']).map((entry) => withPorts(entry, new Map([['patch(default)', '1']])))
    const found = load(guard.map(printFlow), '--no-stats')
    expect(language.print(found)).toBe(language.print(guard.map((entry) => ({ ...entry, comment: null }))))
  })

  it('go by match alone: a flow with another cookie takes the place of the first', () => {
    const lines = ['cookie=0x1,priority=5,in_port=1,actions=drop', 'cookie=0x305,priority=5,in_port=1,actions=NORMAL']
    const same = lines.map((line) =>
      flow({ bridge: 'br-ex', priority: 5, cookie: 0n, match: 'in_port=1', actions: line.split('actions=')[1] ?? '' }),
    )
    expect(new Set(same.map(language.key)).size).toBe(1)
    expect(load(lines, '--no-stats')).toHaveLength(1)
  })
})
