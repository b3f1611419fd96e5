import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { printPrefix } from '../../src/model/address.js'
import { CLUSTER_SCHEMA } from '../../src/model/cluster-schema.js'
import { file, found, node, read } from './texts.js'

const cluster = (spec: string) => `apiVersion: egretta.dev/v1alpha1\nkind: Cluster\nmetadata: {name: c}\nspec:\n${spec}`
const of = (spec: string) => read([file('intent', cluster(spec))])

describe('the Cluster object', () => {
  it('has a published schema that is the one it is checked with', () => {
    expect(JSON.parse(readFileSync(new URL('../../schema/cluster.json', import.meta.url), 'utf8'))).toEqual(CLUSTER_SCHEMA)
  })

  it('has a default for everything', () => {
    const { cluster, problems } = read([])
    expect(problems).toEqual([])
    expect(cluster).toMatchObject({
      placement: 'enforced',
      placementReason: 'no input shows that ovnkube decides',
      ownership: {},
      bridge: null,
      uplink: null,
      guardDevice: null,
      nodes: {},
      unreachable: [],
      policy: {},
      gatewayModes: [],
      masqueradeSubnets: [],
      networkSegmentation: false,
      disableSnatMultipleGateways: false,
      mtu: 1400,
      checkPacketLength: true,
      genevePort: 6081,
      conntrackZone: 64000,
      routeTable: 1000,
      conntrack: 'flush',
      release: null,
      managementPort: null,
      nftVersion: '1.0.6',
      source: null,
    })
    const texts = Object.fromEntries(Object.entries(cluster.subnets).map(([kind, list]) => [kind, list.map(printPrefix)]))
    expect(texts).toEqual({
      pod: [],
      service: [],
      join: ['100.64.0.0/16', 'fd98::/64'],
      transit: ['100.88.0.0/16', 'fd97::/64'],
      masquerade: ['169.254.169.0/29', 'fd69::/125'],
    })
  })

  it('is told of nodes that the topology does not have', () => {
    const spec = '  unreachable:\n    - node-a\n    - node-z\n  nodes:\n    node-a: {bridge: br0}\n    node-y: {bridge: br0}\n'
    const inputs = read([file('intent', cluster(spec)), file('topology', node('node-a'))])
    expect(found(inputs)).toEqual(['UnknownNode Cluster/c 7:7', 'UnknownNode Cluster/c 10:5'])
    expect(inputs.problems[0]).toMatchObject({
      severity: 'warning',
      message: 'Cluster/c: the topology has no node node-z, which spec.unreachable names.',
    })
    expect(found(of(spec))).toEqual([])
  })

  it('says what no other object says', () => {
    const { cluster, problems } = of(`  placement: advisory
  ownership: {openflow: manage, nftables: verify, routes: off}
  bridge: br-ex
  uplink: ens3
  guardDevice: bond0
  subnets: {join: [100.65.0.0/16], pod: ["fd01::/48"]}
  nodes: {node-a: {bridge: breth0, uplink: eth0, guardDevice: eth1}}
  unreachable: [node-c, node-b, node-c]
  policy: {NoHostingNetwork: warning, EmptyInput: off}
  gatewayMode: local
  networkSegmentation: true
  disableSnatMultipleGateways: true
  mtu: 8900
  checkPacketLength: false
  genevePort: 6082
  conntrackZone: 100
  routeTable: 2000
  conntrack: keep
  release: "4.9"
  managementPort: mp0
  nftVersion: 1.0.9
`)
    expect(problems).toEqual([])
    expect(cluster).toMatchObject({
      placement: 'advisory',
      placementReason: 'Cluster.spec.placement says so',
      ownership: { openflow: 'manage', nftables: 'verify', routes: 'off' },
      bridge: 'br-ex',
      uplink: 'ens3',
      guardDevice: 'bond0',
      nodes: { 'node-a': { bridge: 'breth0', uplink: 'eth0', guardDevice: 'eth1' } },
      unreachable: ['node-b', 'node-c'],
      policy: { NoHostingNetwork: 'warning', EmptyInput: 'off' },
      gatewayModes: [{ value: 'local', object: 'Cluster/c', field: 'spec.gatewayMode', source: { line: 14, column: 16 } }],
      networkSegmentation: true,
      disableSnatMultipleGateways: true,
      mtu: 8900,
      checkPacketLength: false,
      genevePort: 6082,
      conntrackZone: 100,
      routeTable: 2000,
      conntrack: 'keep',
      release: '4.9',
      managementPort: 'mp0',
      nftVersion: '1.0.9',
    })
    expect(cluster.subnets.join.map(printPrefix)).toEqual(['100.65.0.0/16', 'fd98::/64'])
    expect(cluster.subnets.pod.map(printPrefix)).toEqual(['fd01::/48'])
  })

  it('goes before what other objects say, and these before the defaults', () => {
    const config =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: ovn-kubernetes, name: ovn-config}\ndata: {mtu: "1300"}\n---\n' +
      'apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}\nstatus: {desired: {version: 4.14.3}}\n---\n' +
      'apiVersion: k8s.ovn.org/v1\nkind: UserDefinedNetwork\nmetadata: {namespace: blue, name: net}\nspec: {}\n'
    const given = (spec: string) => read([file('topology', config), file('intent', cluster(spec))]).cluster
    const said = { mtu: 1300, release: '4.14.3', networkSegmentation: true, managementPort: 'ovn-k8s-mp0' }
    expect(given('  bridge: br-ex\n')).toMatchObject(said)
    const own = { mtu: 1200, release: '4.9', networkSegmentation: false, managementPort: 'mp0' }
    expect(given('  mtu: 1200\n  release: "4.9"\n  networkSegmentation: false\n  managementPort: mp0\n')).toMatchObject(own)
  })

  it('knows only the nodes it names, whatever JavaScript calls its own', () => {
    expect(of('  nodes: {node-a: {}}\n').cluster.nodes.constructor).toBeUndefined()
  })

  it.each([
    ['  placment: advisory\n', ['UnknownField Cluster/c 5:3']],
    ['  placement: adviser\n', ['InvalidObject Cluster/c 5:14']],
    ['  ownership: {openflow: mine}\n', ['InvalidObject Cluster/c 5:25']],
    ['  ownership: {flows: manage}\n', ['UnknownField Cluster/c 5:15']],
    ['  subnets: {join: [100.64.0.0/16, 100.65.0.0]}\n', ['InvalidObject Cluster/c 5:35']],
    ['  bridge: a-name-that-is-too-long\n', ['InvalidObject Cluster/c 5:11']],
    ['  nodes: {node-a: {uplink: "a/b"}}\n', ['InvalidObject Cluster/c 5:28']],
    ['  unreachable: node-a\n', ['InvalidObject Cluster/c 5:16']],
    ['  policy: {NoSuchCode: off}\n', ['UnknownField Cluster/c 5:12']],
    ['  policy: {NoHostingNetwork: fatal}\n', ['InvalidObject Cluster/c 5:30']],
    ['  nftVersion: 1.1\n', ['InvalidObject Cluster/c 5:15']],
    ['  gatewayMode: routed\n', ['InvalidObject Cluster/c 5:16']],
    ['  networkSegmentation: "yes"\n', ['InvalidObject Cluster/c 5:24']],
    ['  mtu: 1400.5\n', ['InvalidObject Cluster/c 5:8']],
    ['  mtu: 500\n', ['InvalidObject Cluster/c 5:8']],
    ['  genevePort: 65536\n', ['InvalidObject Cluster/c 5:15']],
    ['  conntrackZone: 65532\n', ['InvalidObject Cluster/c 5:18']],
    ['  routeTable: 999\n', ['InvalidObject Cluster/c 5:15']],
    ['  conntrack: forget\n', ['InvalidObject Cluster/c 5:14']],
    ['  release: 4.10\n', ['InvalidObject Cluster/c 5:12']],
    ['  release: "new"\n', ['InvalidObject Cluster/c 5:12']],
    ['  managementPort: a-name-that-is-too-long\n', ['InvalidObject Cluster/c 5:19']],
    ['  subnets: {masquerade: [169.254.0.0]}\n', ['InvalidObject Cluster/c 5:26']],
    ['  - x\n', ['InvalidObject Cluster/c 5:3']],
  ])('is checked: %s', (spec, problems) => {
    const inputs = of(spec)
    expect(found(inputs)).toEqual(problems)
    expect({ ...inputs.cluster, source: null }).toEqual({ ...read([]).cluster, nodes: spec.includes('node-a: {') ? { 'node-a': {} } : {} })
  })

  it('names one masquerade subnet per family: a further one is an error and the first is used', () => {
    const inputs = of('  subnets: {masquerade: [169.254.0.0/17, "fd69::/112", 169.254.128.0/17]}\n')
    expect(found(inputs)).toEqual(['InvalidObject Cluster/c 5:56'])
    expect(inputs.problems[0]?.message).toBe(
      'Cluster/c: spec.subnets.masquerade[2] is a second IPv4 masquerade subnet; nodes have one, and spec.subnets.masquerade[0] is used.',
    )
  })

  it('keeps what is right beside what is wrong', () => {
    const inputs = of('  bridge: br-ex\n  subnets: {join: [x], transit: [100.89.0.0/16]}\n  uplink: 5\n')
    expect(found(inputs)).toEqual(['InvalidObject Cluster/c 6:20', 'InvalidObject Cluster/c 7:11'])
    expect(inputs.cluster).toMatchObject({ bridge: 'br-ex', uplink: null })
    expect(inputs.cluster.subnets.join.map(printPrefix)).toEqual(['100.64.0.0/16', 'fd98::/64'])
    expect(inputs.cluster.subnets.transit.map(printPrefix)).toEqual(['100.89.0.0/16', 'fd97::/64'])
  })

  it('of a version that egretta does not know is refused', () => {
    const inputs = read([file('intent', cluster('  bridge: br-ex\n').replace('v1alpha1', 'v2'))])
    expect(found(inputs)).toEqual(['InvalidObject Cluster/c 1:13'])
    expect(inputs.cluster.bridge).toBeNull()
  })

  it('of another group is another kind', () => {
    const inputs = read([file('both', 'apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c}\nspec: {x: 1}\n')])
    expect(found(inputs)).toEqual([])
    expect([...inputs.topology.ignored]).toEqual([['Cluster', 1]])
  })

  it('is one: of two different ones none is taken', () => {
    const inputs = read([file('intent', cluster('  bridge: br-a\n'), cluster('  bridge: br-b\n').replace('name: c', 'name: d'))])
    expect(found(inputs)).toEqual(['DuplicateObject Cluster/c 1:1', 'DuplicateObject Cluster/d 7:1'])
    expect(inputs.cluster.bridge).toBeNull()
    expect(found(read([file('intent', cluster('  bridge: br-a\n')), file('topology', cluster('  bridge: br-a\n'))]))).toEqual([])
  })

  it('needs neither a name nor a spec', () => {
    expect(found(read([file('intent', 'apiVersion: egretta.dev/v1alpha1\nkind: Cluster\n')]))).toEqual([])
    expect(found(read([file('intent', 'apiVersion: egretta.dev/v1alpha1\nkind: Cluster\nspec:\n')]))).toEqual([])
  })
})
