import { describe, expect, it } from 'vitest'
import { compile, type Held, type Speaking } from '../../src/compile/index.js'
import { type Prefix, printPrefix } from '../../src/model/address.js'
import type { Inputs } from '../../src/model/inputs.js'
import type { ExternalBridge } from '../../src/model/node-state.js'
import { address, gateway, inputs, namespace, network, node, prefix, speaker } from './cluster.js'

const printed = (prefixes: readonly Prefix[]) => prefixes.map(printPrefix)

function bridgeOf(from: Inputs, held: readonly Held[] = [], speaking?: Speaking, name = 'node-a'): ExternalBridge {
  const state = compile(from, held, speaking).states.find((each) => each.node === name)
  if (!state) throw new Error(`no state of ${name}`)
  return state.externalBridge
}

const said = (value: 'shared' | 'local') => ({
  value,
  object: 'Cluster/c',
  field: 'spec.gatewayMode',
  source: { file: 'c.yaml', line: 1, column: 1 },
})

describe('the external bridge', () => {
  it('has the addresses of the gateway, one per family, and calls the others of the node extra', () => {
    const one = node('node-a', ['192.0.2.11/24', '2001:db8::11/64'], {
      gateway: gateway({ addresses: ['192.0.2.11/24', '192.0.2.12/24', '2001:db8::11/64'].map(prefix) }),
      hostPrefixes: ['192.0.2.11/24', '198.51.100.11/24', '2001:db8::11/64', '203.0.113.9/32'].map(prefix),
    })
    const { nodeAddresses, hostSubnets, extraAddresses } = bridgeOf(inputs([one]))
    expect(nodeAddresses.map(({ text }) => text)).toEqual(['192.0.2.11', '2001:db8::11'])
    expect(printed(hostSubnets)).toEqual(['192.0.2.0/24', '2001:db8::/64'])
    expect(extraAddresses.map(({ text }) => text)).toEqual(['192.0.2.12', '198.51.100.11', '203.0.113.9'])
  })

  it('takes the primary addresses where the annotation lists none, as on older nodes', () => {
    const { nodeAddresses, hostSubnets } = bridgeOf(inputs([node('node-a', ['192.0.2.11/24'], { gateway: gateway() })]))
    expect(nodeAddresses.map(({ text }) => text)).toEqual(['192.0.2.11'])
    expect(printed(hostSubnets)).toEqual(['192.0.2.0/24'])
  })

  it('takes the primary address of a family that the annotation does not list, and its routes and flows agree', () => {
    const both = node('node-a', ['192.0.2.11/24', '2001:db8::11/64'], { gateway: gateway({ addresses: [prefix('192.0.2.12/24')] }) })
    const { nodeAddresses, hostSubnets, masqueradeSubnets } = bridgeOf(inputs([both]))
    expect(nodeAddresses.map(({ text }) => text)).toEqual(['192.0.2.12', '2001:db8::11'])
    expect(printed(hostSubnets)).toEqual(['192.0.2.0/24', '2001:db8::/64'])
    expect(masqueradeSubnets.map(({ address }) => address.family)).toEqual([4, 6])
  })

  it('is in the configured mode, else in that of the node, and measures replies in local mode unless told otherwise', () => {
    const local = node('node-a', ['192.0.2.11/24'], { gateway: gateway({ mode: 'local', vlan: 42 }) })
    expect(bridgeOf(inputs([local]))).toMatchObject({ mode: 'local', vlan: 42, mtu: 1400 })
    expect(bridgeOf(inputs([local], [], { mtu: 8900 }))).toMatchObject({ mtu: 8900 })
    expect(bridgeOf(inputs([local], [], { checkPacketLength: false }))).toMatchObject({ mtu: null })
    expect(bridgeOf(inputs([local], [], { gatewayModes: [said('shared')] }))).toMatchObject({ mode: 'shared', mtu: null })
  })

  it('takes numbers and switches from the cluster', () => {
    const over = { genevePort: 6082, conntrackZone: 65000, networkSegmentation: true, disableSnatMultipleGateways: true }
    expect(bridgeOf(inputs([node('node-a', ['192.0.2.11/24'])], [], over))).toMatchObject({
      genevePort: 6082,
      zone: 65000,
      segmentation: true,
      routedPods: true,
    })
  })

  it('knows services of the families of the node alone', () => {
    const subnets = { pod: [], service: ['fd02::/112', '172.30.0.0/16'].map(prefix), join: [], transit: [], masquerade: [] }
    const masquerade = ['169.254.0.0/17', 'fd69::/112'].map(prefix)
    const from = inputs([node('node-a', ['192.0.2.11/24']), node('node-b', ['192.0.2.12/24', '2001:db8::12/64'])], [], {
      subnets: { ...subnets, masquerade },
    })
    expect(printed(bridgeOf(from).serviceSubnets)).toEqual(['172.30.0.0/16'])
    expect(printed(bridgeOf(from, [], undefined, 'node-b').serviceSubnets)).toEqual(['172.30.0.0/16', 'fd02::/112'])
    expect(printed(bridgeOf(from).masqueradeSubnets)).toEqual(['169.254.0.0/17'])
  })

  it('knows the addresses of all nodes, in one list for all, and no egress IP that a node lists', () => {
    const nodes = [0, 1, 2, 3].map((at) => node(`node-${'abcd'[at]}`, [`192.0.2.${8 + at}/24`]))
    const listing = node('node-e', ['192.0.2.20/24'], {
      internalIPs: ['192.0.2.20', '192.0.2.50', '10.1.0.1'].map(address),
      heldEgressIPs: [address('192.0.2.50')],
    })
    const { states } = compile(inputs([...nodes, listing]), [])
    expect(printed(states[0]?.externalBridge.clusterAddresses ?? [])).toEqual(['10.1.0.1/32', '192.0.2.8/30', '192.0.2.20/32'])
    expect(new Set(states.map(({ externalBridge }) => externalBridge.clusterAddresses)).size).toBe(1)
  })
})

describe('the networks of the bridge', () => {
  const pods = new Map([
    ['default', [prefix('10.128.2.0/23')]],
    ['cluster_udn_blue', [prefix('10.20.2.0/24')]],
  ])
  const one = node('node-a', ['192.0.2.11/24'], { podSubnets: pods })
  const subnets = { pod: [prefix('10.128.0.0/14')], service: [], join: [], transit: [], masquerade: [prefix('169.254.0.0/17')] }

  it('are the default one, then the primary user-defined ones that have an id, by name', () => {
    const networks = [
      network('red', 3, 'Primary', { topology: 'Layer2', subnets: [prefix('10.30.0.0/16')], overlay: false, advertised: true }),
      network('green', null),
      network('blue', 2, 'Primary', { subnets: [prefix('10.20.0.0/16')] }),
      network('storage', 4, 'Secondary'),
    ]
    const found = bridgeOf(inputs([one], networks, { subnets })).networks
    const all = found.map((each) => ({ ...each, subnets: printed(each.subnets), nodeSubnets: printed(each.nodeSubnets) }))
    expect(all).toEqual([
      {
        name: 'default',
        for: 'Node/node-a',
        id: 0,
        subnets: ['10.128.0.0/14'],
        nodeSubnets: ['10.128.2.0/23'],
        overlay: true,
        advertised: false,
      },
      {
        name: 'cluster_udn_blue',
        for: 'ClusterUserDefinedNetwork/blue',
        id: 2,
        subnets: ['10.20.0.0/16'],
        nodeSubnets: ['10.20.2.0/24'],
        overlay: true,
        advertised: false,
      },
      {
        name: 'cluster_udn_red',
        for: 'ClusterUserDefinedNetwork/red',
        id: 3,
        subnets: ['10.30.0.0/16'],
        nodeSubnets: ['10.30.0.0/16'],
        overlay: false,
        advertised: true,
      },
    ])
  })
})

describe('the pod subnets of the default network', () => {
  const of = (name: string, ...subnets: readonly string[]) =>
    node(name, ['192.0.2.11/24'], { podSubnets: new Map([['default', subnets.map(prefix)]]) })
  const nodes = [of('node-a', '10.244.0.0/24', 'fd01:0:0:2::/64'), of('node-b', '10.244.1.0/24', 'fd01:0:0:3::/64')]
  const subnetsOf = (...pod: readonly string[]) => {
    const subnets = { pod: pod.map(prefix), service: [], join: [], transit: [], masquerade: [prefix('169.254.0.0/17')] }
    return printed(bridgeOf(inputs(nodes, [], { subnets })).networks[0]?.subnets ?? [])
  }

  it('are those of the nodes, of a family for which no input says more', () => {
    expect(subnetsOf('10.128.0.0/14', 'fd01::/48')).toEqual(['10.128.0.0/14', 'fd01::/48'])
    expect(subnetsOf('10.128.0.0/14')).toEqual(['10.128.0.0/14', 'fd01:0:0:2::/63'])
    expect(subnetsOf()).toEqual(['10.244.0.0/23', 'fd01:0:0:2::/63'])
  })
})

describe('egress marks', () => {
  const networks = [
    network('blue', 2, 'Primary', { namespaces: ['blue'] }),
    network('red', 3, 'Primary', { namespaces: ['red', 'rose'] }),
    network('green', null, 'Primary', { namespaces: ['red'] }),
  ]
  const around = { namespaces: ['blue', 'red', 'rose', 'other'].map(namespace) }
  const one = node('node-a', ['192.0.2.11/24', '2001:db8::11/64'], {
    hostPrefixes: ['192.0.2.11/24', '2001:db8::11/64', '198.51.100.11/24'].map(prefix),
  })
  const marksOf = (held: readonly Held[], speaking: Speaking) =>
    bridgeOf(inputs([one], networks, {}, null, around), held, speaking).egressMarks.map(
      (each) => `${each.network} ${each.mark} ${each.address.text} ${each.for}`,
    )
  const held = (egressIP: string, object: string): Held => ({ egressIP, object, node: 'node-a' })
  const all = { namespaceSelector: {} }

  it('are one per primary egress IP with a mark, and network that its object selects and that has an id', () => {
    const speaking = {
      speakers: [speaker('eip-a', 'x', ['192.0.2.50', '2001:db8::50'], all), speaker('eip-b', 'rose', ['192.0.2.51'])],
      marks: new Map([
        ['eip-a', 50000],
        ['eip-b', 50001],
        ['eip-gone', 50002],
      ]),
    }
    expect(marksOf([held('2001:db8::50', 'eip-a'), held('192.0.2.51', 'eip-b'), held('192.0.2.50', 'eip-a')], speaking)).toEqual([
      'cluster_udn_blue 50000 192.0.2.50 EgressIP/eip-a',
      'cluster_udn_blue 50000 2001:db8::50 EgressIP/eip-a',
      'cluster_udn_red 50000 192.0.2.50 EgressIP/eip-a',
      'cluster_udn_red 50000 2001:db8::50 EgressIP/eip-a',
      'cluster_udn_red 50001 192.0.2.51 EgressIP/eip-b',
    ])
  })

  it('are none without a mark, without a network, and for a secondary network', () => {
    const marks = new Map([
      ['eip-b', 50001],
      ['eip-c', 50002],
    ])
    const speakers = [
      speaker('eip-a', 'red', ['192.0.2.50']),
      speaker('eip-b', 'other', ['192.0.2.51']),
      speaker('eip-c', 'red', ['198.51.100.50']),
    ]
    const list = [held('192.0.2.50', 'eip-a'), held('192.0.2.51', 'eip-b'), held('198.51.100.50', 'eip-c')]
    expect(marksOf(list, { speakers, marks })).toEqual([])
  })

  it('give a network and mark one address of a family, the lowest', () => {
    const speaking = { speakers: [speaker('eip-a', 'red', ['192.0.2.50', '192.0.2.9'])], marks: new Map([['eip-a', 50000]]) }
    expect(marksOf([held('192.0.2.50', 'eip-a'), held('192.0.2.9', 'eip-a')], speaking)).toEqual([
      'cluster_udn_red 50000 192.0.2.9 EgressIP/eip-a',
    ])
  })
})
