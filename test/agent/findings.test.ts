import { describe, expect, it } from 'vitest'
import { type AddressPlace, addressFindings } from '../../src/agent/address-findings.js'
import { flowFindings } from '../../src/agent/flow-findings.js'
import { natFindings } from '../../src/agent/nat-findings.js'
import { parseVerification, type Reported, sharedBy } from '../../src/agent/verification.js'
import type { Link } from '../../src/host/links.js'
import { type Address, type Prefix, parseAddress, parsePrefix } from '../../src/model/address.js'
import { OVNKUBE_COOKIE } from '../../src/model/numbers.js'
import { egressTable } from '../../src/syntax/egress-nat.js'
import { flow } from '../../src/syntax/openflow.js'

const ip = (text: string) => parseAddress(text) as Address
const prefix = (text: string) => parsePrefix(text) as Prefix

const link = (name: string, ...addresses: readonly string[]): Link => ({
  name,
  index: 7,
  up: true,
  table: 'main',
  addresses: addresses.map((text) => ({
    address: prefix(text),
    dev: name,
    scope: 'global',
    label: name,
    secondary: false,
    dynamic: false,
    preferred: 0,
    protocol: null,
  })),
})

describe('an egress IP of the bridge', () => {
  const asked = [{ address: prefix('192.0.2.50/32'), dev: 'br-ex', for: 'EgressIP/eip-a' }]
  const place = (over: Partial<AddressPlace>): AddressPlace => ({
    links: [link('br-ex', '192.0.2.11/24')],
    bridges: new Set(['br-ex']),
    marked: new Set(['192.0.2.50']),
    elsewhere: new Map(),
    ...over,
  })

  it('is asked for where a flow translates to it, and the bridge has its network', () => {
    expect(addressFindings(asked, place({}))).toMatchObject([{ what: 'missing', key: '192.0.2.50/32 dev br-ex' }])
    expect(addressFindings(asked, place({ marked: new Set() }))).toEqual([])
    expect(addressFindings(asked, place({ links: [link('br-ex', '192.0.2.11/32')] }))).toEqual([])
  })

  it('is wrong with the network of an interface', () => {
    const found = addressFindings(asked, place({ links: [link('br-ex', '192.0.2.11/24', '192.0.2.50/24')], marked: new Set() }))
    expect(found).toMatchObject([{ what: 'different', says: 'it is 192.0.2.50/24 on br-ex' }])
  })
})

describe('a flow of an egress IP', () => {
  const by = (actions: string) =>
    flow({
      bridge: 'br-ex',
      priority: 105,
      cookie: OVNKUBE_COOKIE,
      match: 'in_port=2,dl_src=02:00:00:00:00:01,ip,pkt_mark=0xc350',
      actions,
    })
  const right = by('ct(commit,zone=64000,nat(src=192.0.2.50),exec(set_field:0x4->ct_mark)),output:1')

  it('is asked for where ovnkube has one', () => {
    expect(flowFindings([right], [], () => true)).toMatchObject([{ what: 'missing' }])
    expect(flowFindings([right], [], () => false)).toEqual([])
  })

  it('may be spelled in another way, but not lead elsewhere', () => {
    const spelled = by('ct(zone=64000,commit,nat(src=192.0.2.50),exec(load:0x4->NXM_NX_CT_MARK[0..31])),output:1')
    expect(flowFindings([right], [spelled], () => true)).toEqual([])
    expect(flowFindings([right], [by('output:1')], () => true)).toMatchObject([{ what: 'different' }])
  })
})

describe('a translation in both forms', () => {
  const pod = { pod: ip('10.244.1.3'), dev: 'eth1', egressIP: ip('198.51.100.50') }
  const asked = egressTable('shared', [], [{ pod: pod.pod, device: 'eth1', address: pod.egressIP, for: 'EgressIP/eip-b' }])
  const snat = asked.flatMap((entry) => (entry.kind === 'rule' ? { chain: entry.chain, expr: entry.expr } : []))
  const nat = { maps: [4, 6] as const, translations: [pod], rules: snat }
  const chain = { family: 4, translations: [pod], isReached: true, keepsMark: false } as const

  it('is right as long as both say the same', () => {
    expect(natFindings(asked, { nat, chains: [chain] })).toEqual([])
  })

  it('counts in the map alone where that is', () => {
    expect(natFindings(asked, { nat: { ...nat, translations: [] }, chains: [chain] })).toMatchObject([{ what: 'missing' }])
  })

  it('counts once for several rules of a pod: the first is what the kernel runs', () => {
    const second = { ...pod, egressIP: ip('198.51.100.51') }
    const old = { maps: [], translations: [], rules: [] }
    const both = natFindings(asked, { nat: old, chains: [{ ...chain, translations: [pod, second] }] })
    expect(both).toMatchObject([{ what: 'stale', key: '10.244.1.3 through eth1 as 198.51.100.51' }])
    const turned = natFindings(asked, { nat: old, chains: [{ ...chain, translations: [second, pod] }] })
    expect(turned).toMatchObject([{ what: 'different', says: 'the pod leaves with 198.51.100.51' }])
  })
})

describe('reports of several nodes', () => {
  const report = (node: string, ...held: Reported['held']): Reported => ({ node, findings: [], failed: false, held })
  const on = (address: string, by: string, egressIP: boolean) => ({ address, by, egressIP })

  it('share an egress IP that only one of them knows as such, and no other address', () => {
    const vip = on('192.0.2.5', 'address on br-ex', false)
    const reports = [
      report('node-a', on('192.0.2.50', 'flow of br-ex', true), vip),
      report('node-b', on('192.0.2.50', 'address on br-ex', false), vip),
      report('node-c', on('192.0.2.51', 'address on br-ex', true)),
    ]
    expect(sharedBy(reports)).toEqual([
      {
        address: '192.0.2.50',
        nodes: [
          { node: 'node-a', by: ['flow of br-ex'] },
          { node: 'node-b', by: ['address on br-ex'] },
        ],
      },
    ])
  })

  it('are refused when they are none', () => {
    expect(parseVerification('{')).toMatch(/^is not JSON/)
    expect(parseVerification('null')).toBe('is not what verify -o json prints')
    expect(parseVerification('{"kind":"Verification","node":"a","findings":[],"held":[7]}')).toMatch(/^has something under "held"/)
    expect(parseVerification('{"kind":"Verification","node":"a","bundle":null,"findings":[],"held":[],"problems":[]}')).toMatchObject({
      failed: true,
    })
  })
})
