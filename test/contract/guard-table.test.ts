import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAddress } from '../../src/model/address.js'
import { guardTable } from '../../src/syntax/guard.js'
import { type NftEntry, nftables, withDevices } from '../../src/syntax/nftables.js'
import { cable, createNamespace, type Namespace } from '../lab/netns.js'
import { describeWith } from '../requires.js'

const silenced = (...texts: readonly string[]) =>
  texts.flatMap((text) => parseAddress(text) ?? []).map((address) => ({ address, for: 'EgressIP/eip-a' }))

describeWith(['root', 'linux', 'ip', 'nft'], 'the shutdown guard in the kernel', () => {
  let namespace: Namespace
  let peer: Namespace
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'egretta-guard-'))
    namespace = createNamespace('guard')
    peer = createNamespace('guard-peer')
    cable({ namespace, device: 'ens3' }, { namespace: peer, device: 'eth0' })
  })
  afterAll(() => {
    namespace.close()
    peer.close()
    rmSync(folder, { recursive: true })
  })

  const nft = (text: string, ...options: readonly string[]) => {
    const file = join(folder, 'nftables.json')
    writeFileSync(file, text)
    return namespace.exec('nft', [...options, '-j', '-f', file], { mayFail: true })
  }
  const list = (family: string, table: string) => nftables.parse(namespace.exec('nft', ['-j', 'list', 'table', family, table]).stdout)

  /** Loads the entries and expects the kernel to list the same ones. */
  const expectKept = (entries: readonly NftEntry[]) => {
    expect(nft(nftables.print(entries))).toMatchObject({ status: 0, stderr: '' })
    const first = entries[0] as NftEntry
    const listed = list(first.family, first.table)
    expect(listed.map(nftables.key).sort()).toEqual(entries.map(nftables.key).sort())
    const byKey = new Map(listed.map((entry) => [nftables.key(entry), entry]))
    for (const entry of entries) expect(nftables.same(entry, byKey.get(nftables.key(entry)) as NftEntry), nftables.key(entry)).toBe(true)
  }

  it.each([
    ['no address', []],
    ['IPv4 alone', ['192.0.2.50']],
    ['one IPv6 address', ['2001:db8::50']],
    ['both families', ['192.0.2.50', '192.0.2.51', '2001:db8::50', '2001:db8::51', 'fd00:1::1']],
    ['IPv6 addresses that nft lists as small numbers', ['::5', '::1234:5678:9abc:def1', '64:ff9b::1']],
  ])('loads and lists as it was asked for: %s', (_, texts) => {
    expectKept(guardTable(silenced(...texts), 'ens3', '1.0.6'))
  })

  it('replaces itself: what the table held before is gone', () => {
    expectKept(guardTable(silenced('192.0.2.50', '192.0.2.51'), 'ens3', '1.0.6'))
    expectKept(guardTable(silenced('192.0.2.60'), 'ens3', '1.0.6'))
  })

  it('loads with a long name in a comment, and with its symbol replaced', () => {
    const address = parseAddress('192.0.2.50')
    if (!address) throw new Error('an address')
    const entries = guardTable([{ address, for: `EgressIP/${'a'.repeat(250)}` }], 'uplink(br-ex)', '1.0.6')
    expectKept(entries.map((entry) => withDevices(entry, new Map([['uplink(br-ex)', 'ens3']]))))
  })

  it('keeps sets, maps, flags and expressions of other tables of ours', () => {
    const add = (object: object) => JSON.stringify({ add: object })
    const t = { family: 'inet', table: 'egretta-contract' }
    const text = `{"nftables":[
${[
  add({ table: { family: 'inet', name: t.table } }),
  add({ map: { ...t, name: 'm', type: ['ipv4_addr', 'ifname'], map: 'ipv4_addr' } }),
  add({ set: { ...t, name: 's', type: 'ipv6_addr', flags: ['timeout', 'interval'] } }),
  add({ element: { ...t, name: 'm', elem: [[{ concat: ['10.0.0.1', 'eth1'] }, '10.10.10.50']] } }),
  add({
    element: {
      ...t,
      name: 's',
      elem: [{ prefix: { addr: '2001:DB8::', len: 64 } }, { elem: { val: '2001:db8:1::1', comment: 'EgressIP/a' } }],
    },
  }),
  add({ chain: { ...t, name: 'snat', type: 'nat', hook: 'postrouting', prio: 100, policy: 'accept' } }),
  add({ chain: { ...t, name: 'mangle', type: 'filter', hook: 'prerouting', prio: -150 } }),
  add({
    rule: {
      ...t,
      chain: 'mangle',
      comment: 'why',
      expr: [
        { match: { op: '==', left: { meta: { key: 'mark' } }, right: '0x3f1' } },
        { match: { op: '==', left: { payload: { protocol: 'ip', field: 'saddr' } }, right: { prefix: { addr: '10.244.0.0', len: 16 } } } },
        { counter: null },
        { drop: null },
      ],
    },
  }),
  add({ rule: { ...t, chain: 'mangle', expr: [{ mangle: { key: { meta: { key: 'mark' } }, value: { ct: { key: 'mark' } } } }] } }),
  add({
    rule: {
      ...t,
      chain: 'snat',
      expr: [
        {
          snat: {
            family: 'ip',
            addr: { map: { key: { concat: [{ payload: { protocol: 'ip', field: 'saddr' } }, { meta: { key: 'oifname' } }] }, data: '@m' } },
          },
        },
      ],
    },
  }),
].join(',\n')}
]}`
    expectKept(nftables.parse(text))
  })

  it('is refused whole where a part is wrong, and the old table stays', () => {
    const entries = guardTable(silenced('192.0.2.50'), 'ens3', '1.0.6')
    expectKept(entries)
    const wrong = nftables.print(entries).replace('"192.0.2.50"', '"192.0.2.500"')
    expect(nft(wrong).status).not.toBe(0)
    expect(list('netdev', 'ovn-kubernetes-egressip')).toHaveLength(entries.length)
  })
})
