import { describe, expect, it } from 'vitest'
import type { HostFacts, HostInterface } from '../../src/model/host-facts.js'
import type { NodeState } from '../../src/model/node-state.js'
import { type NeedsPolicy, needsOfFiles } from '../../src/plan/needs.js'
import { preflight } from '../../src/plan/preflight.js'
import { isOlder } from '../../src/plan/preflight-tools.js'
import { render } from '../../src/render/index.js'
import { address } from '../compile/cluster.js'
import { secondary, state } from '../render/state.js'

const POLICY: NeedsPolicy = { ownership: {} }
const neighbor = { address: address('10.128.0.1'), mac: '0a:58:0a:80:00:01', interface: 'ovn-k8s-mp0', for: 'Node/node-a' }
const holding = state({
  egressAddresses: [{ address: address('192.0.2.50'), interface: 'br-ex', for: 'EgressIP/eip-p' }],
  neighbors: [neighbor],
  secondary: [
    secondary('198.51.100.0/24', '198.51.100.50', 'eip-a', '10.128.0.5', '10.129.0.5'),
    secondary('2001:db8:1::/64', '2001:db8:1::50', 'eip-b', 'fd01::5'),
  ],
})

const link = (name: string, index: number, ...addresses: readonly string[]): HostInterface => ({
  name,
  index,
  up: true,
  addresses: addresses.map((text) => ({ address: text, scope: 'global' })),
})
const ETH1 = link('eth1.7', 9, '198.51.100.11/24', '2001:db8:1::11/64')
const INTERFACES = [link('br-ex', 4, '192.0.2.11/24'), link('ovn-k8s-mp0', 6, '10.128.0.2/23', 'fd01::2/64'), ETH1]
const SYSCTLS = {
  'net.ipv4.conf.all.rp_filter': 1,
  'net.ipv4.conf.ovn-k8s-mp0.forwarding': 1,
  'net.ipv4.conf.ovn-k8s-mp0.rp_filter': 2,
  'net.ipv4.conf.eth1/7.forwarding': 1,
  'net.ipv4.conf.eth1/7.rp_filter': 1,
  'net.ipv4.ip_forward': 0,
  'net.ipv4.neigh.default.gc_thresh3': 1024,
  'net.ipv6.conf.all.forwarding': 1,
  'net.ipv6.neigh.default.gc_thresh3': 1024,
}
const TOOLS = ['arping 20221126', 'conntrack 1.4.7', 'ip 6.1.0', 'ndisc6 1.0.5', 'ndptool', 'nft 1.0.6', 'ovs-ofctl 3.1.0'].map((text) => ({
  name: text.split(' ')[0] as string,
  version: text.split(' ')[1] ?? null,
}))
const host = (over: Partial<HostFacts> = {}): HostFacts => ({
  node: 'node-a',
  tools: TOOLS,
  sysctls: SYSCTLS,
  interfaces: INTERFACES,
  rules: [],
  routes: [],
  neighbors: { ipv4: 3, ipv6: 3 },
  configuredAddresses: [],
  ...over,
})
const judge = (facts: HostFacts, of: NodeState = holding, policy = POLICY) => preflight(needsOfFiles(render(of), policy), facts)
const short = (facts: HostFacts, of?: NodeState, policy?: NeedsPolicy) =>
  judge(facts, of, policy).map(({ severity, code, message, remedy }) => [
    `${severity} ${code}`,
    message.replace('Node node-a: ', ''),
    remedy,
  ])

describe('what a node needs', () => {
  it('is read off the files of its bundle', () => {
    const needs = needsOfFiles(render({ ...holding, routeTableBase: 5000 }), POLICY)
    expect(needs).toMatchObject({ managementPort: 'ovn-k8s-mp0', tableBase: 5000, nftVersion: '1.0.1', flushes: true, marked: [] })
    expect(needs.pods.map(({ text }) => text)).toEqual(['10.128.0.5', '10.129.0.5', 'fd01::5'])
    expect(needs.egressIPs.map(({ text }) => text)).toEqual(['192.0.2.50', '198.51.100.50', '2001:db8:1::50'])
    expect(needs.networks.map(({ egressIPs }) => egressIPs.map(({ text }) => text))).toEqual([['198.51.100.50'], ['2001:db8:1::50']])
  })

  it('depends on what the cluster lets egretta do', () => {
    const needs = needsOfFiles(render({ ...holding, nftVersion: '1.0.9' }), { ownership: { rules: 'verify' } })
    const idle: NeedsPolicy = { ownership: { nftables: 'off', openflow: 'off' } }
    const tools = TOOLS.filter(({ name }) => !['nft', 'ovs-ofctl', 'conntrack'].includes(name))
    expect(short(host({ tools }), holding, idle)).toEqual([])
    expect(short(host({ tools })).map(([code]) => code)).toEqual(['error MissingTool', 'error MissingTool', 'error MissingTool'])
    expect(needs).toMatchObject({ makes: { rules: false, routes: true }, flushes: true, nftVersion: '1.0.9' })
  })
})

describe('preflight', () => {
  it('has nothing to say of a host that is ready, nor of one whose node holds nothing', () => {
    expect(judge(host())).toEqual([])
    expect(judge(host({ sysctls: {}, interfaces: [] }), state())).toEqual([])
  })

  it('says where the facts say it, and of which node', () => {
    const needs = needsOfFiles(render(holding), POLICY)
    const at = (path: readonly (string | number)[]) => ({ file: path.join('/'), line: 1, column: 1 })
    const [found] = preflight(needs, host({ interfaces: [...INTERFACES.slice(0, 2), { ...ETH1, up: false }] }), at)
    expect(found).toMatchObject({ object: 'Node/node-a', source: { file: 'spec/interfaces/2/up' } })
  })

  it.each([
    [
      'is down',
      [{ ...ETH1, up: false }],
      [
        'warning InterfaceNotReady',
        'eth1.7 is down, and 1 egress IP of 198.51.100.0/24 (198.51.100.50) wait for it.',
        'Set it up: ip link set eth1.7 up',
      ],
    ],
    [
      'has an address of another scope',
      [{ ...ETH1, addresses: [{ address: '198.51.100.11/24', scope: 'link' }] }],
      [
        'warning InterfaceNotReady',
        'the address 198.51.100.11/24 of eth1.7 does not say which network the interface is on, because its scope is link, and 1 egress IP of 198.51.100.0/24 (198.51.100.50) wait.',
        'Give it scope global: ip address delete 198.51.100.11/24 dev eth1.7 && ip address add 198.51.100.11/24 dev eth1.7 scope global',
      ],
    ],
    [
      'is not there',
      [],
      [
        'warning InterfaceMissing',
        'no interface has an address of 198.51.100.0/24, and 1 egress IP of 198.51.100.0/24 (198.51.100.50) wait for one.',
        'Give the interface an address: ip address add ADDRESS/24 dev DEVICE',
      ],
    ],
    [
      'is not alone',
      [ETH1, link('eth2', 10, '198.51.100.12/24')],
      [
        'warning AmbiguousInterface',
        'eth1.7 and eth2 both have an address of 198.51.100.0/24, so it is not known which of them 1 egress IP of 198.51.100.0/24 (198.51.100.50) belong to.',
        'Leave the network on one interface, for example: ip address delete 198.51.100.12/24 dev eth2',
      ],
    ],
  ])('says that the interface of a network %s', (_, links, expected) => {
    expect(short(host({ interfaces: [...INTERFACES.slice(0, 2), ...links] }))[0]).toEqual(expected)
  })

  it.each([
    ['net.ipv4.conf.eth1/7.forwarding', 'eth1.7 does not forward IPv4, so replies to pods with an egress IP are dropped.'],
    ['net.ipv4.conf.ovn-k8s-mp0.forwarding', 'ovn-k8s-mp0 does not forward IPv4, so nothing of pods with an egress IP goes out.'],
  ])('asks for %s', (name, message) => {
    const expected = [['error ForwardingOff', message, `Switch it on: sysctl -w ${name}=1`]]
    expect(short(host({ sysctls: { ...SYSCTLS, [name]: 0 } }))).toEqual(expected)
  })

  it('asks for IPv6 forwarding of the interfaces where the kernel can, else of the whole host', () => {
    const off = { ...SYSCTLS, 'net.ipv6.conf.all.forwarding': 0 }
    expect(short(host({ sysctls: off })).map(([, , remedy]) => remedy)).toEqual([
      'Switch it on: sysctl -w net.ipv6.conf.all.forwarding=1',
      'Switch it on: sysctl -w net.ipv6.conf.all.forwarding=1',
    ])
    const forced = { 'net.ipv6.conf.eth1/7.force_forwarding': 0, 'net.ipv6.conf.ovn-k8s-mp0.force_forwarding': 1 }
    expect(short(host({ sysctls: { ...off, ...forced } })).map(([, , remedy]) => remedy)).toEqual([
      'Switch it on: sysctl -w net.ipv6.conf.eth1/7.force_forwarding=1',
    ])
  })

  it('asks for forwarding as a whole where pods enter through an interface that nobody names', () => {
    const of = { ...holding, neighbors: [] }
    expect(short(host(), of).map(([code]) => code)).toEqual(['warning ForwardingOff'])
    expect(short(host({ sysctls: { ...SYSCTLS, 'net.ipv4.ip_forward': 1 } }), of)).toEqual([])
  })

  it('takes a strict rp_filter where pods enter for a trap, and not on the secondary interface', () => {
    const expected = 'Make it loose: sysctl -w net.ipv4.conf.ovn-k8s-mp0.rp_filter=2'
    expect(short(host({ sysctls: { ...SYSCTLS, 'net.ipv4.conf.ovn-k8s-mp0.rp_filter': 0 } }))).toMatchObject([
      ['warning StrictReversePath', expect.anything(), expected],
    ])
  })

  it('finds egress IPs in configuration files, on the bridge too, and no other address', () => {
    const file = '/etc/NetworkManager/system-connections/eth1.nmconnection'
    const configuredAddresses = ['198.51.100.11', '198.51.100.50', '192.0.2.50'].map((text) => ({ address: text, file }))
    expect(short(host({ configuredAddresses })).map(([code, , remedy]) => [code, remedy?.split(';')[0]])).toEqual([
      ['error ConfiguredEgressIP', `Remove 198.51.100.50 from ${file}`],
      ['error ConfiguredEgressIP', `Remove 192.0.2.50 from ${file}`],
    ])
  })

  it('finds routes of others in the table of the interface, unless routes are not for egretta to make', () => {
    const routes = [
      { family: 'inet', table: 1009, dst: '203.0.113.0/24' },
      { family: 'inet', table: 1010, dst: '203.0.113.0/24' },
    ] as const
    expect(short(host({ routes }))).toEqual([
      [
        'error TableInUse',
        'table 1009, which is to hold the routes of eth1.7, has 1 route of somebody else, to 203.0.113.0/24 for one.',
        'If nobody needs them: ip route flush table 1009; else set Cluster.spec.routeTable so that no table is used twice.',
      ],
    ])
    expect(short(host({ routes }), { ...holding, routeTableBase: 2000 })).toEqual([])
    expect(short(host({ routes }), holding, { ...POLICY, ownership: { routes: 'verify' } })).toEqual([])
  })

  it.each([
    [{ priority: 100, src: '10.128.0.0/14', table: 77 }, 'error RuleInTheWay'],
    [{ priority: 100, src: '0.0.0.0/0', table: 254 }, 'error RuleInTheWay'],
    [{ priority: 100, src: '0.0.0.0/0', iif: 'ovn-k8s-mp0', table: 77 }, 'warning RuleInTheWay'],
    [{ priority: 100, src: '10.128.0.0/14', table: null }, 'error RuleInTheWay'],
    [{ priority: 5270, src: '0.0.0.0/0', table: 52 }, 'warning RuleInTheWay'],
    [{ priority: 100, src: '0.0.0.0/0', table: 1077 }, 'error RuleInTheWay'],
    [{ priority: 6000, src: 'fd01::5/128', table: 77 }, 'error RuleInTheWay'],
    [{ priority: 6000, src: '10.200.0.5/32', table: 77 }, 'warning PriorityTaken'],
    [{ priority: 100, src: '0.0.0.0/0', table: 254, conditional: true }, null],
    [{ priority: 100, src: '0.0.0.0/0', iif: 'eth9', table: 77 }, null],
    [{ priority: 100, src: '10.200.0.0/16', table: 77 }, null],
    [{ priority: 6001, src: '0.0.0.0/0', table: 77 }, null],
    [{ priority: 5999, src: '0.0.0.0/0', table: 77, conditional: true }, null],
  ])('of the rule %j says %s', (rule, expected) => {
    const known = [{ family: 'inet' as const, table: 1077, dst: '0.0.0.0/0' }]
    expect(short(host({ rules: [rule], routes: known })).map(([code]) => code)).toEqual(expected === null ? [] : [expected])
  })

  it('does not take an address of the host for that of a pod', () => {
    const own = link('br-ex', 4, '192.0.2.11/24', '10.129.0.5/32')
    expect(short(host({ interfaces: [own, ...INTERFACES.slice(1)] }))).toEqual([
      [
        'error NodeAddress',
        '10.129.0.5 is to be routed as a pod with an egress IP, but it is an address of br-ex, so what the host itself sends would go the same way.',
        'Correct the topology: a pod of the host network has no egress IP.',
      ],
    ])
  })

  it('says how to move a rule out of the way', () => {
    const rules = [{ priority: 100, src: 'fd01::/48', table: 77 }]
    expect(short(host({ rules }))).toEqual([
      [
        'error RuleInTheWay',
        'the rule "100: from fd01::/48 lookup 77" takes the pod fd01::5 before the rule of priority 6000 that leads to the egress IP.',
        'Move it behind: ip -6 rule add priority 6001 from fd01::/48 lookup 77 && ip -6 rule delete priority 100 from fd01::/48 lookup 77',
      ],
    ])
  })

  it('asks for the priority of marked packets in local gateway mode alone, and for none that egretta does not make', () => {
    const rules = [{ priority: 5999, src: '0.0.0.0/0', table: 77, conditional: true }]
    const local = { ...holding, externalBridge: { ...holding.externalBridge, mode: 'local' as const } }
    expect(short(host({ rules }), local).map(([code]) => code)).toEqual(['warning PriorityTaken'])
    const verified = { ...POLICY, ownership: { rules: 'verify' as const } }
    expect(short(host({ rules: [...rules, { priority: 6000, src: '10.128.0.5/32', table: 77 }] }), local, verified)).toEqual([])
  })

  it('warns before the neighbor table is full', () => {
    expect(short(host({ neighbors: { ipv4: 818, ipv6: 0 } }))).toEqual([])
    expect(short(host({ neighbors: { ipv4: 0, ipv6: 900 } }))).toEqual([
      [
        'warning NeighborTableFull',
        'the kernel knows 900 neighbors over IPv6 and takes at most 1024; beyond that packets to new ones are dropped.',
        'Allow more: sysctl -w net.ipv6.neigh.default.gc_thresh3=8192',
      ],
    ])
  })

  it('names programs that are missing: errors where the bundle needs them, warnings where a hand-over does', () => {
    expect(short(host({ tools: [] })).map(([code, message]) => `${code}: ${message?.split(' ')[0]}`)).toEqual([
      'error MissingTool: nft',
      'error MissingTool: ip',
      'error MissingTool: ovs-ofctl',
      'error MissingTool: conntrack',
      'warning MissingTool: arping',
      'warning MissingTool: ndisc6',
      'warning MissingTool: ndptool',
    ])
    expect(short(host({ tools: [] }), state()).map(([, message]) => message?.split(' ')[0])).toEqual(['nft', 'ip', 'ovs-ofctl'])
  })

  it('names programs that are too old for the bundle', () => {
    const older = (name: string, version: string) => host({ tools: TOOLS.map((tool) => (tool.name === name ? { name, version } : tool)) })
    expect(short(older('nft', '1.0.6'), { ...holding, nftVersion: '1.0.9' })).toEqual([
      [
        'error OldTool',
        'nft is version 1.0.6, older than 1.0.9; with it the tables of the bundle cannot be loaded.',
        'Install a newer version of the package nftables.',
      ],
    ])
    expect(short(older('ovs-ofctl', '2.9.0')).map(([code]) => code)).toEqual(['error OldTool'])
    expect(short(older('conntrack', '0.9.15')).map(([code]) => code)).toEqual(['error OldTool'])
  })

  it.each([
    ['1.0.6', '1.0.6', false],
    ['1.0.10', '1.0.9', false],
    ['1.0.9', '1.0.10', true],
    ['2.9', '2.12.0', true],
    ['3.1.0', '2.12.0', false],
    ['ss180813', '5.0.0', true],
    ['ss190319', '5.0.0', false],
    ['git', '5.0.0', false],
  ])('%s is older than %s: %s', (version, least, older) => {
    expect(isOlder(version, least)).toBe(older)
  })
})
