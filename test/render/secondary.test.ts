import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NodeState } from '../../src/model/node-state.js'
import { renderAddresses } from '../../src/render/addresses.js'
import { renderGuardTable, renderNftables } from '../../src/render/nftables.js'
import { renderRoutes } from '../../src/render/routes.js'
import { renderRules } from '../../src/render/rules.js'
import { languageOf } from '../../src/syntax/languages.js'
import { nftables } from '../../src/syntax/nftables.js'
import { address, prefix } from '../compile/cluster.js'
import { shuffled } from '../syntax/arbitrary.js'
import { secondary, state } from './state.js'

const networks = [
  secondary('198.51.100.0/24', '198.51.100.50', 'eip-a', '10.128.0.5', '10.129.0.5'),
  secondary('2001:db8:1::/64', '2001:db8:1::50', 'eip-b', 'fd01::5'),
]
const holding = state({ secondary: networks })
const files = (of: NodeState) => [renderAddresses(of), renderGuardTable(of), renderNftables(of), renderRules(of), renderRoutes(of)]
const elements = (of: NodeState) =>
  nftables.parse(renderNftables(of).text).flatMap((entry) => (entry.kind === 'element' ? [{ key: entry.value, to: entry.to }] : []))
const rulesOf = (of: NodeState, chain: string) =>
  nftables.parse(renderNftables(of).text).flatMap((entry) => (entry.kind === 'rule' && entry.chain === chain ? [entry.expr] : []))

describe('secondary egress IPs', () => {
  it('stand as single addresses on the interface of their network', () => {
    expect(renderAddresses(holding).text).toBe(`[
  {"address":"198.51.100.50/32","dev":"network(198.51.100.0/24)","for":"EgressIP/eip-a"},
  {"address":"2001:db8:1::50/128","dev":"network(2001:db8:1::/64)","for":"EgressIP/eip-b"}
]
`)
  })

  it('send each pod to the table of the interface', () => {
    expect(renderRules(holding)?.text).toBe(`[
  {"priority":6000,"src":"10.128.0.5/32","table":"1000+ifindex(network(198.51.100.0/24))","for":"EgressIP/eip-a"},
  {"priority":6000,"src":"10.129.0.5/32","table":"1000+ifindex(network(198.51.100.0/24))","for":"EgressIP/eip-a"},
  {"priority":6000,"src":"fd01::5/128","table":"1000+ifindex(network(2001:db8:1::/64))","for":"EgressIP/eip-b"}
]
`)
  })

  it('copy the routes of the interface into a table that is counted from the base of the cluster', () => {
    expect(renderRoutes({ ...holding, routeTableBase: 5000 })?.text).toBe(`[
  {"dst":"routes-of(network(198.51.100.0/24))","family":"inet","dev":"network(198.51.100.0/24)","table":"5000+ifindex(network(198.51.100.0/24))","for":"EgressIP/eip-a"},
  {"dst":"routes-of(network(2001:db8:1::/64))","family":"inet6","dev":"network(2001:db8:1::/64)","table":"5000+ifindex(network(2001:db8:1::/64))","for":"EgressIP/eip-b"}
]
`)
  })

  it('translate each pod on the interface', () => {
    expect(elements(holding)).toEqual([
      { key: { concat: ['10.128.0.5', 'network(198.51.100.0/24)'] }, to: '198.51.100.50' },
      { key: { concat: ['10.129.0.5', 'network(198.51.100.0/24)'] }, to: '198.51.100.50' },
      { key: { concat: ['fd01::5', 'network(2001:db8:1::/64)'] }, to: '2001:db8:1::50' },
    ])
  })

  it('are silenced on the interfaces of their networks, by a table that ovnkube leaves alone', () => {
    const entries = nftables.parse(renderGuardTable(holding).text).filter(({ table }) => table === 'egretta-guard')
    expect(entries.flatMap((entry) => (entry.kind === 'chain' ? [`${entry.hook?.hook} ${entry.hook?.dev}`] : []))).toEqual([
      'ingress network(198.51.100.0/24)',
      'ingress network(2001:db8:1::/64)',
      'egress network(198.51.100.0/24)',
      'egress network(2001:db8:1::/64)',
    ])
    expect(entries.flatMap((entry) => (entry.kind === 'element' ? [entry.value] : []))).toEqual(['198.51.100.50', '2001:db8:1::50'])
    expect(renderGuardTable(state()).text).not.toContain('egretta-guard')
  })

  it('give a pod that two objects select one way out, that of the first object by name', () => {
    const both = [
      secondary('203.0.113.0/24', '203.0.113.50', 'eip-a', '10.128.0.5'),
      secondary('198.51.100.0/24', '198.51.100.50', 'eip-b', '10.128.0.5'),
    ]
    const of = state({ secondary: both })
    expect(elements(of)).toEqual([{ key: { concat: ['10.128.0.5', 'network(203.0.113.0/24)'] }, to: '203.0.113.50' }])
    expect(renderRules(of)?.text.match(/lookup|"table"/g)).toHaveLength(1)
    expect(renderRules(of)?.text).toContain('ifindex(network(203.0.113.0/24))')
    expect(renderAddresses(of).text).toContain('198.51.100.50/32')
  })

  it('are the same bytes for any order of the lists', () => {
    const two = [...networks, secondary('203.0.113.0/24', '203.0.113.50', 'eip-c', '10.128.0.5', '10.128.0.9')]
    const expected = files(state({ secondary: two })).map((file) => file?.text)
    fc.assert(
      fc.property(shuffled(two), shuffled(['10.128.0.5', '10.129.0.5']), (mixed, pods) => {
        const each = mixed.map((one) => ({
          ...one,
          egressIPs: one.egressIPs.map((ip) => (ip.for === 'EgressIP/eip-a' ? { ...ip, pods: pods.map(address) } : ip)),
        }))
        expect(files(state({ secondary: each })).map((file) => file?.text)).toEqual(expected)
      }),
      { numRuns: 20 },
    )
  })

  it('are read back by the language of their file, which prints what it read', () => {
    for (const file of files(holding)) {
      if (!file) throw new Error('a file is missing')
      const language = languageOf(file.path)?.language
      expect(language?.print(language.parse(file.text)), file.path).toBe(file.text)
    }
  })
})

describe('a node without secondary egress IPs', () => {
  it('has the table with its filter all the same, and neither rules nor routes', () => {
    expect(elements(state())).toEqual([])
    const filter = rulesOf(state(), 'egress-ip-sec-filter')
    // What the maps do not translate is dropped before any other nat chain sees it.
    expect(rulesOf(state(), 'egress-ip-snat').slice(2)).toEqual(filter)
    expect(filter.map((expr) => JSON.stringify(expr[1]))).toEqual([
      '{"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":{"prefix":{"addr":"10.128.0.0","len":14}}}}',
      '{"match":{"op":"==","left":{"payload":{"protocol":"ip6","field":"saddr"}},"right":{"prefix":{"addr":"fd01::","len":48}}}}',
    ])
    expect([renderRules(state()), renderRoutes(state())]).toEqual([null, null])
  })

  it('drops by the mark of OVN alone, and leaves pods of user-defined networks to the bridge', () => {
    const red = { ...state().externalBridge.networks[0], name: 'red', subnets: [prefix('10.200.0.0/16')] } as never
    const of = state({}, { networks: [...state().externalBridge.networks, red] })
    const filter = rulesOf(of, 'egress-ip-sec-filter')
    expect(filter).toHaveLength(2)
    expect(filter.every((expr) => JSON.stringify(expr[0]).includes('"right":1009'))).toBe(true)
    expect(renderNftables(of).text).not.toContain('10.200.0.0')
  })

  it('in local gateway mode keeps marks of connections and looks marked packets up in the main table, once per family', () => {
    const local = state({}, { mode: 'local' })
    expect(renderRules(local)?.text).toBe(`[
  {"priority":5999,"src":"0.0.0.0/0","fwmark":"0x3f0","table":"main","for":"Node/node-a"},
  {"priority":5999,"src":"::/0","fwmark":"0x3f0","table":"main","for":"Node/node-a"}
]
`)
    expect(rulesOf(local, 'egress-ip-connmark')).toHaveLength(2)
    expect(rulesOf(state(), 'egress-ip-connmark')).toEqual([])
    const one = state({}, { mode: 'local', nodeAddresses: [address('192.0.2.11')] })
    expect(renderRules(one)?.text).not.toContain('::/0')
  })
})

describe('routes of the main table', () => {
  it('are written as `ip route` says them, global where no gateway would make the kernel choose otherwise', () => {
    const route = { interface: 'br-ex', for: 'Node/node-a' }
    const of = state({
      routes: [
        { ...route, destination: prefix('172.30.0.0/16'), gateway: address('169.254.169.4'), source: address('169.254.169.2'), mtu: 1400 },
        { ...route, destination: prefix('169.254.169.1/32'), gateway: null, source: address('192.0.2.11'), mtu: null },
        { ...route, destination: prefix('fd69::1/128'), gateway: null, source: address('2001:db8::11'), mtu: null },
      ],
    })
    expect(renderRoutes(of)?.text).toBe(`[
  {"dst":"169.254.169.1/32","dev":"br-ex","src":"192.0.2.11","scope":"global","table":"main","for":"Node/node-a"},
  {"dst":"172.30.0.0/16","gateway":"169.254.169.4","dev":"br-ex","src":"169.254.169.2","mtu":1400,"table":"main","for":"Node/node-a"},
  {"dst":"fd69::1/128","dev":"br-ex","src":"2001:db8::11","table":"main","for":"Node/node-a"}
]
`)
  })
})

describe('host masquerade addresses', () => {
  it('stand on the bridge with the length of their subnet', () => {
    const of = state({ masqueradeAddresses: [{ address: prefix('169.254.169.2/29'), interface: 'br-ex', for: 'Node/node-a' }] })
    expect(renderAddresses(of).text).toBe('[\n  {"address":"169.254.169.2/29","dev":"br-ex","for":"Node/node-a"}\n]\n')
  })
})
