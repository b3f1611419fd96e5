import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Address, parseAddress } from '../../src/model/address.js'
import { guardFlows, guardTable, hasTargetAddress, secondaryGuardTable } from '../../src/syntax/guard.js'
import { nftables } from '../../src/syntax/nftables.js'
import { openflow, printFlow } from '../../src/syntax/openflow.js'
import { anyAddress, anyFor, shuffled } from './arbitrary.js'

const address = (text: string): Address => {
  const read = parseAddress(text)
  if (!read) throw new Error(text)
  return read
}
const silenced = (...texts: readonly string[]) => texts.map((text) => ({ address: address(text), for: 'EgressIP/eip-a' }))
const rules = (entries: ReturnType<typeof guardTable>) =>
  entries.flatMap((entry) => (entry.kind === 'rule' ? [`${entry.chain}: ${JSON.stringify(entry.expr)}`] : []))

describe('the shutdown guard', () => {
  it('is the table of the seed, with both hooks on the device', () => {
    const entries = guardTable(silenced('192.0.2.50', '2001:db8::50'), 'ens3', '1.0.6')
    expect(entries.map(nftables.key)).toEqual([
      'table netdev ovn-kubernetes-egressip',
      'chain netdev ovn-kubernetes-egressip egressip-drop',
      'chain netdev ovn-kubernetes-egressip egressip-silence',
      'set netdev ovn-kubernetes-egressip egressip-v4',
      'set netdev ovn-kubernetes-egressip egressip-v6',
      'element netdev ovn-kubernetes-egressip egressip-v4 192.0.2.50',
      'element netdev ovn-kubernetes-egressip egressip-v6 2001:db8::50',
      'rule netdev ovn-kubernetes-egressip egressip-drop #1',
      'rule netdev ovn-kubernetes-egressip egressip-drop #2',
      'rule netdev ovn-kubernetes-egressip egressip-silence #1',
      'rule netdev ovn-kubernetes-egressip egressip-silence #2',
      'rule netdev ovn-kubernetes-egressip egressip-silence #3',
      'rule netdev ovn-kubernetes-egressip egressip-silence #4',
    ])
    const hooks = entries.flatMap((entry) => (entry.kind === 'chain' ? [[entry.hook?.hook, entry.hook?.dev, entry.hook?.policy]] : []))
    expect(hooks).toEqual([
      ['ingress', 'ens3', 'accept'],
      ['egress', 'ens3', 'accept'],
    ])
  })

  it('matches the raw target of a neighbor message where nft is older than 1.0.9', () => {
    const text = rules(guardTable(silenced('2001:db8::50'), 'ens3', '1.0.6')).join('\n')
    expect(text).toContain('{"payload":{"base":"th","offset":64,"len":128}}')
    expect(text).toContain('"0x20010db8000000000000000000000050"')
    expect(text).not.toContain('taddr')
  })

  it('uses the set of the seed from nft 1.0.9 on', () => {
    const text = rules(guardTable(silenced('2001:db8::50'), 'ens3', '1.0.9')).join('\n')
    expect(text).toContain('{"payload":{"protocol":"icmpv6","field":"taddr"}},"right":"@egressip-v6"')
    expect(text).not.toContain('"base"')
  })

  it.each([
    ['1.0.6', '{"payload":{"base":"th","offset":64,"len":128}},"right":"0x20010db8000000000000000000000050"'],
    ['1.0.9', '{"payload":{"protocol":"icmpv6","field":"taddr"}},"right":"@egressip-v6"'],
  ])('drops what duplicate address detection of the leaving node sends, on nft %s', (version, target) => {
    const [probe, ...more] = rules(guardTable(silenced('2001:db8::50'), 'ens3', version)).filter((rule) => rule.includes('"::"'))
    expect(more).toEqual([])
    expect(probe).toContain('egressip-silence: [{"match":{"op":"==","left":{"payload":{"protocol":"icmpv6","field":"type"}}')
    expect(probe).toContain('"right":"nd-neighbor-solicit"')
    expect(probe).toContain('{"payload":{"protocol":"ip6","field":"saddr"}},"right":"::"')
    expect(probe).toContain(target)
    expect(probe).toContain('{"drop":null}')
  })

  it('never compares with an empty anonymous set', () => {
    for (const version of ['1.0.6', '1.0.9']) {
      const entries = guardTable(silenced('192.0.2.50'), 'ens3', version)
      expect(JSON.stringify(rules(entries))).not.toContain('"set":[]')
      expect(nftables.parse(nftables.print(entries)).map(nftables.key)).toEqual(entries.map(nftables.key))
    }
    expect(rules(guardTable(silenced('192.0.2.50'), 'ens3', '1.0.6'))).toHaveLength(3)
  })

  it('cuts comments that nft would refuse', () => {
    const [element] = guardTable([{ address: address('192.0.2.50'), for: `EgressIP/${'a'.repeat(250)}` }], 'ens3', '1.0.6').filter(
      ({ kind }) => kind === 'element',
    )
    expect(element).toMatchObject({ comment: `EgressIP/${'a'.repeat(116)}...` })
  })

  it.each([
    ['1.0.6', false],
    ['1.0.8', false],
    ['v1.0.9 (Old Doc Yak #3)', true],
    ['1.0.10', true],
    ['1.1', true],
    ['1.1.0', true],
    ['2.0.0', true],
    ['0.9.8', false],
    ['', false],
  ])('nft %s knows icmpv6 taddr: %s', (version, known) => expect(hasTargetAddress(version)).toBe(known))

  it('names every address, and is the same for any order of them', () => {
    const one = fc.record({ address: anyAddress(), for: anyFor() })
    const each = fc.uniqueArray(one, { maxLength: 8, selector: (entry) => entry.address.text })
    fc.assert(
      fc.property(
        each.chain((list) => fc.tuple(fc.constant(list), shuffled(list))),
        fc.constantFrom('1.0.6', '1.0.9'),
        ([list, mixed], version) => {
          const entries = guardTable(list, 'ens3', version)
          const text = nftables.print(entries)
          expect(nftables.print(guardTable(mixed, 'ens3', version))).toBe(text)
          expect(nftables.parse(text)).toEqual(entries)
          expect(entries.flatMap((entry) => (entry.kind === 'element' ? [entry.value] : [])).sort()).toEqual(
            list.map((entry) => entry.address.text).sort(),
          )
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('the shutdown guard of secondary interfaces', () => {
  const devices = ['network(198.51.100.0/24)', 'network(2001:db8::/64)', 'eth1']

  it('has the chains and rules of the other guard, once for each device', () => {
    const entries = secondaryGuardTable(silenced('198.51.100.50', '2001:db8::50'), devices, '1.0.6')
    expect(entries.flatMap((entry) => (entry.kind === 'chain' ? [`${entry.name} ${entry.hook?.hook} ${entry.hook?.dev}`] : []))).toEqual([
      'egressip-drop-198.51.100.0/24 ingress network(198.51.100.0/24)',
      'egressip-drop-2001.db8../64 ingress network(2001:db8::/64)',
      'egressip-drop-eth1 ingress eth1',
      'egressip-silence-198.51.100.0/24 egress network(198.51.100.0/24)',
      'egressip-silence-2001.db8../64 egress network(2001:db8::/64)',
      'egressip-silence-eth1 egress eth1',
    ])
    const primary = rules(guardTable(silenced('198.51.100.50', '2001:db8::50'), 'ens3', '1.0.6'))
    const ofOne = rules(entries).filter((rule) => rule.includes('-eth1: '))
    expect(ofOne.map((rule) => rule.replace('-eth1: ', ': '))).toEqual(primary)
    expect(rules(entries)).toHaveLength(3 * primary.length)
    expect(new Set(entries.map((entry) => entry.table))).toEqual(new Set(['egretta-guard']))
  })

  it('is the same for any order of devices, and for one that is named twice', () => {
    const expected = secondaryGuardTable(silenced('198.51.100.50'), devices, '1.0.9')
    fc.assert(
      fc.property(shuffled([...devices, 'eth1']), (mixed) => {
        expect(secondaryGuardTable(silenced('198.51.100.50'), mixed, '1.0.9')).toEqual(expected)
      }),
      { numRuns: 10 },
    )
  })
})

describe('the GARP guard', () => {
  const own = ['192.0.2.11', '2001:db8::11'].map(address)

  it('is the two flows of the seed, and their counterparts for IPv6', () => {
    expect(guardFlows('br-ex', 'node-a', own, ['default']).map(printFlow)).toEqual([
      'cookie=0x305,table=0,priority=499,in_port=patch(default),dl_dst=33:33:00:00:00:01,icmp6,icmpv6_type=136,nd_target=2001:db8::11,actions=NORMAL',
      'cookie=0x305,table=0,priority=499,in_port=patch(default),dl_dst=ff:ff:ff:ff:ff:ff,arp,arp_op=1,arp_spa=192.0.2.11,actions=NORMAL',
      'cookie=0x305,table=0,priority=498,in_port=patch(default),dl_dst=33:33:00:00:00:01,icmp6,icmpv6_type=136,actions=drop',
      'cookie=0x305,table=0,priority=498,in_port=patch(default),dl_dst=ff:ff:ff:ff:ff:ff,arp,arp_op=1,actions=drop',
    ])
  })

  it('drops both families of a node that has one: stale announcements of the other are none of its own', () => {
    expect(guardFlows('br-ex', 'node-a', own.slice(0, 1), ['default']).map(({ priority, actions }) => `${priority} ${actions}`)).toEqual([
      '499 NORMAL',
      '498 drop',
      '498 drop',
    ])
  })

  it('says of every flow which node it protects', () => {
    const language = openflow('br-ex')
    const flows = guardFlows('br-ex', 'node-a', own, ['default'])
    expect(flows.every(({ comment }) => comment?.startsWith('Node/node-a: '))).toBe(true)
    expect(language.parse(language.print(flows))).toEqual(flows)
  })
})
