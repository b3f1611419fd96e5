import { describe, expect, it } from 'vitest'
import { printPrefix } from '../../src/model/address.js'
import { file, found, node, read } from './texts.js'

const udn = (namespace: string, name: string, role = 'Primary') =>
  `apiVersion: k8s.ovn.org/v1\nkind: UserDefinedNetwork\nmetadata: {namespace: ${namespace}, name: ${name}}\nspec: {topology: Layer3, layer3: {role: ${role}}}\n`
const wide = (name: string, selector: string) =>
  `apiVersion: k8s.ovn.org/v1\nkind: ClusterUserDefinedNetwork\nmetadata: {name: ${name}}\nspec:\n  namespaceSelector: ${selector}\n  network: {topology: Layer2, layer2: {role: Primary}}\n`
const attachment = (namespace: string, name: string, config: string, id: string) =>
  `apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata:\n  namespace: ${namespace}\n  name: ${name}\n  annotations: {k8s.ovn.org/network-id: "${id}"}\nspec:\n  config: ${JSON.stringify(config)}\n`
const namespace = (name: string, labels: string) => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {${labels}}}\n`
const LABEL = 'k8s.ovn.org/primary-user-defined-network: ""'
const pod = (fields: string, annotation?: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  namespace: blue\n  name: p\n${annotation === undefined ? '' : `  annotations: {k8s.ovn.org/pod-networks: ${JSON.stringify(annotation)}}\n`}${fields}`

describe('a user-defined network', () => {
  it('has the id that its NetworkAttachmentDefinition names, found by the network in spec.config', () => {
    const inputs = read([file('topology', udn('blue', 'net'), attachment('blue', 'whatever', '{"name":"blue_net"}', '7'))])
    expect(inputs.topology.networks).toMatchObject([
      {
        network: 'blue_net',
        for: 'UserDefinedNetwork/blue/net',
        id: 7,
        topology: 'Layer3',
        role: 'Primary',
        namespaces: ['blue'],
        source: { line: 1 },
      },
    ])
  })

  it('is found by the name of the attachment where spec.config names none', () => {
    expect(read([file('topology', udn('blue', 'net'), attachment('blue', 'net', '{}', '7'))]).topology.networks).toMatchObject([{ id: 7 }])
  })

  it('has the id that an older node names, or none', () => {
    const older = node('node-a', { 'k8s.ovn.org/network-ids': '{"blue_net":"4"}' })
    expect(read([file('topology', udn('blue', 'net'), older)]).topology.networks).toMatchObject([{ id: 4 }])
    expect(read([file('topology', udn('blue', 'net'))]).topology.networks).toMatchObject([{ id: null }])
    const newer = attachment('blue', 'net', '{"name":"blue_net"}', '7')
    expect(read([file('topology', udn('blue', 'net'), older, newer)]).topology.networks).toMatchObject([{ id: 7 }])
  })

  it('never has the id of the default network', () => {
    const zero = attachment('blue', 'net', '{"name":"blue_net"}', '0')
    expect(read([file('topology', udn('blue', 'net'), zero)]).topology.networks).toMatchObject([{ id: null }])
  })

  it('of the cluster spans the labelled namespaces that it selects', () => {
    const namespaces = [
      namespace('b', `team: red, ${LABEL}`),
      namespace('a', `team: red, ${LABEL}`),
      namespace('c', 'team: red'),
      namespace('d', LABEL),
    ]
    const inputs = read([
      file('topology', ...namespaces, wide('red', '{matchLabels: {team: red}}'), attachment('a', 'red', '{"name":"cluster_udn_red"}', '9')),
    ])
    expect(inputs.topology.networks).toMatchObject([
      {
        network: 'cluster_udn_red',
        for: 'ClusterUserDefinedNetwork/red',
        id: 9,
        topology: 'Layer2',
        role: 'Primary',
        namespaces: ['a', 'b'],
      },
    ])
  })

  it('has the pod subnets of its spec, sorted, without those that are none', () => {
    const layer3 = udn('blue', 'net').replace(
      'role: Primary',
      'role: Primary, subnets: [{cidr: "fd20::/48", hostSubnet: 64}, {cidr: 10.20.1.5/16, hostSubnet: 24}]',
    )
    const layer2 = wide('red', '{}').replace('role: Primary', 'role: Primary, subnets: [10.30.0.0/16, 10.31.0.0]')
    const wrong = udn('grey', 'net').replace('role: Primary', 'role: Primary, subnets: [{cidr: x}, {}]')
    const inputs = read([file('topology', layer3, layer2, wrong)])
    expect(inputs.topology.networks.map(({ network, subnets }) => [network, subnets.map(printPrefix)])).toEqual([
      ['blue_net', ['10.20.0.0/16', 'fd20::/48']],
      ['cluster_udn_red', ['10.30.0.0/16']],
      ['grey_net', []],
    ])
    expect(found(inputs)).toEqual([
      'InvalidObject ClusterUserDefinedNetwork/red 11:79',
      'InvalidObject UserDefinedNetwork/grey/net 16:67',
      'InvalidObject UserDefinedNetwork/grey/net 16:71',
    ])
    expect(inputs.problems[0]).toMatchObject({
      severity: 'warning',
      message: 'ClusterUserDefinedNetwork/red: the text "10.31.0.0" is not a subnet.',
    })
  })

  it('without overlay is advertised: nothing else carries its pods between nodes', () => {
    const transport = (name: string) => wide('red', '{}').replace('{topology', `{transport: ${name}, topology`)
    const network = (text: string) => read([file('topology', text)]).topology.networks[0]
    expect(network(transport('NoOverlay'))).toMatchObject({ overlay: false, advertised: true })
    for (const name of ['Geneve', 'EVPN']) expect(network(transport(name))).toMatchObject({ overlay: true, advertised: false })
    const namespaced = udn('blue', 'net').replace('{topology', '{transport: NoOverlay, topology')
    expect(network(namespaced)).toMatchObject({ overlay: true, advertised: false })
  })

  it('is of no concern when it is secondary, and harmless when it is malformed', () => {
    expect(read([file('topology', udn('blue', 'net', 'Secondary'))]).topology.networks).toEqual([])
    expect(read([file('topology', namespace('a', LABEL), wide('red', '{matchExpressions: 5}'))]).topology.networks).toMatchObject([
      { namespaces: [] },
    ])
    const inputs = read([file('topology', attachment('blue', 'net', '{', 'x'))])
    expect(found(inputs)).toEqual([
      'InvalidObject NetworkAttachmentDefinition/blue/net 6:41',
      'InvalidObject NetworkAttachmentDefinition/blue/net 8:11',
    ])
  })
})

describe('a pod', () => {
  const status =
    'spec: {nodeName: node-a, hostNetwork: false}\nstatus: {phase: Running, podIP: 10.244.1.5, podIPs: [{ip: 10.244.1.5}, {ip: "FD00::5"}]}\n'

  it('has its addresses on the default network', () => {
    expect(read([file('topology', pod(status))]).topology.pods).toMatchObject([
      {
        namespace: 'blue',
        name: 'p',
        node: 'node-a',
        hostNetwork: false,
        phase: 'Running',
        network: 'default',
        addresses: [{ text: '10.244.1.5' }, { text: 'fd00::5' }],
      },
    ])
    expect(read([file('topology', pod('status: {podIP: 10.244.1.5}\n'))]).topology.pods).toMatchObject([
      { node: null, addresses: [{ text: '10.244.1.5' }] },
    ])
    expect(read([file('topology', pod('spec: {}\n'))]).topology.pods).toMatchObject([{ addresses: [], phase: '' }])
  })

  it('has those of its primary user-defined network where it has one', () => {
    const networks = (key: string) =>
      JSON.stringify({
        default: { ip_addresses: ['10.244.1.5/24'], role: 'infrastructure-locked' },
        [key]: { ip_addresses: ['10.20.1.5/24', 'fd20::5/64'], role: 'primary' },
      })
    const on = (key: string, ...others: string[]) => read([file('topology', pod(status, networks(key)), ...others)]).topology.pods
    expect(on('blue/net')).toMatchObject([{ network: 'blue_net', addresses: [{ text: '10.20.1.5' }, { text: 'fd20::5' }] }])
    expect(on('blue/red', wide('red', '{}'))).toMatchObject([{ network: 'cluster_udn_red' }])
    expect(on('blue/x', attachment('blue', 'x', '{"name":"own-name"}', '3'))).toMatchObject([{ network: 'own-name' }])
  })

  it('that is malformed is warned of', () => {
    const inputs = read([file('topology', pod('status: {podIP: nowhere}\n', 'x'))])
    expect(found(inputs)).toEqual(['InvalidObject Pod/blue/p 6:43', 'InvalidObject Pod/blue/p 7:9'])
    expect(inputs.problems.map(({ severity }) => severity)).toEqual(['warning', 'warning'])
  })
})
