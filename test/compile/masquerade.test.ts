import { describe, expect, it } from 'vitest'
import { compile } from '../../src/compile/index.js'
import { printPrefix } from '../../src/model/address.js'
import type { Cluster } from '../../src/model/cluster.js'
import type { ClusterNode, UserDefinedNetwork } from '../../src/model/topology.js'
import { inputs, network, node, prefix } from './cluster.js'

const masquerade = (...subnets: readonly string[]): Partial<Cluster> => ({
  subnets: { pod: [], service: [], join: [], transit: [], masquerade: subnets.map(prefix) },
})
const neighborsOf = (one: ClusterNode, networks: readonly UserDefinedNetwork[] = [], over: Partial<Cluster> = {}) => {
  const { states, problems } = compile(inputs([one], networks, over), [])
  return { neighbors: states[0]?.neighbors.map((each) => `${each.address.text} ${each.mac} ${each.interface} ${each.for}`), problems }
}

describe('masquerade neighbors', () => {
  it('are the OVN masquerade address and the dummy next hop of each family, with derived hardware addresses', () => {
    expect(neighborsOf(node('node-a', ['192.0.2.11/24', '2001:db8::11/64'])).neighbors).toEqual([
      '169.254.0.1 0a:58:a9:fe:00:01 br-ex Node/node-a',
      '169.254.0.4 0a:58:a9:fe:00:04 br-ex Node/node-a',
      expect.stringMatching(/^fd69::1 0a:58(:[0-9a-f]{2}){4} br-ex Node\/node-a$/),
      expect.stringMatching(/^fd69::4 0a:58(:[0-9a-f]{2}){4} br-ex Node\/node-a$/),
    ])
  })

  it('follow the families of the node, not those of a foreign interface', () => {
    const one = node('node-a', ['2001:db8::11/64'], { hostPrefixes: ['2001:db8::11/64', '10.0.0.1/8'].map(prefix) })
    expect(neighborsOf(one).neighbors?.map((line) => line.split(' ')[0])).toEqual(['fd69::1', 'fd69::4'])
  })

  it('have one per primary user-defined network: the example of the seed', () => {
    const networks = [network('red', 2), network('blue', 1), network('storage', 3, 'Secondary')]
    const { neighbors, problems } = neighborsOf(node('node-a', ['192.0.2.11/24']), networks)
    expect(neighbors?.slice(2)).toEqual([
      '169.254.0.11 0a:58:a9:fe:00:0b br-ex ClusterUserDefinedNetwork/blue',
      '169.254.0.13 0a:58:a9:fe:00:0d br-ex ClusterUserDefinedNetwork/red',
    ])
    expect(problems).toEqual([])
    expect(neighborsOf(node('node-a', ['2001:db8::11/64']), [network('blue', 1)]).neighbors?.at(2)).toMatch(/^fd69::b 0a:58/)
  })

  it("take the node's own subnet where it names one", () => {
    const one = node('node-a', ['192.0.2.11/24'], { masqueradeSubnets: [prefix('169.254.128.0/17')] })
    expect(neighborsOf(one, [network('blue', 1)]).neighbors?.map((line) => line.split(' ')[0])).toEqual([
      '169.254.128.1',
      '169.254.128.4',
      '169.254.128.11',
    ])
  })
})

describe('a masquerade subnet that is too small', () => {
  it('is one problem per network and subnet, however many nodes', () => {
    const nodes = ['a', 'b', 'c'].map((name, at) => node(`node-${name}`, [`192.0.2.1${at}/24`]))
    const { states, problems } = compile(inputs(nodes, [network('blue', 1), network('red', 9)], masquerade('169.254.169.0/29')), [])
    expect(problems.map(({ code, object, severity }) => [code, object, severity])).toEqual([
      ['MasqueradeSubnetTooSmall', 'ClusterUserDefinedNetwork/blue', 'warning'],
      ['MasqueradeSubnetTooSmall', 'ClusterUserDefinedNetwork/red', 'warning'],
    ])
    expect(problems[0]?.message).toBe(
      'Network cluster_udn_blue (id 1) needs the masquerade address number 12 of 169.254.169.0/29, the default, as no input says another, which is too small for it.',
    )
    expect(problems[0]?.remedy).toContain('at least a /28')
    expect(problems[1]?.remedy).toContain('at least a /27')
    expect(states.map(({ neighbors }) => neighbors.length)).toEqual([2, 2, 2])
  })

  it('is an error only where an input says the subnet: the default is a guess', () => {
    const said = node('node-a', ['192.0.2.11/24'], { masqueradeSubnets: [prefix('169.254.169.0/29')] })
    expect(neighborsOf(said, [network('blue', 1)]).problems).toMatchObject([
      {
        severity: 'error',
        message: 'Network cluster_udn_blue (id 1) needs the masquerade address number 12 of 169.254.169.0/29, which is too small for it.',
      },
    ])
  })

  it('leaves the IPv4 broadcast address alone, which IPv6 does not have', () => {
    const ids = [2, 3].map((id) => network(`n${id}`, id))
    const both = node('node-a', ['192.0.2.11/24', '2001:db8::11/64'])
    const { problems } = neighborsOf(both, ids, masquerade('169.254.169.0/28', 'fd69::/124'))
    expect(problems.map(({ object, message }) => `${object} ${/number \d+ of [^,]+/.exec(message)?.[0]}`)).toEqual([
      'ClusterUserDefinedNetwork/n3 number 16 of 169.254.169.0/28',
      'ClusterUserDefinedNetwork/n3 number 16 of fd69::/124',
    ])
    expect(neighborsOf(node('node-a', ['2001:db8::11/64']), [network('n2', 2)], masquerade('fd69::/125')).problems[0]?.remedy).toContain(
      'a /124',
    )
  })

  it('can be too small for the default network too', () => {
    const nodes = [node('node-a', ['192.0.2.11/24']), node('node-b', ['192.0.2.12/24'])]
    const { states, problems } = compile(inputs(nodes, [], masquerade('169.254.169.0/30')), [])
    expect(problems).toMatchObject([{ code: 'MasqueradeSubnetTooSmall', object: null }])
    expect(states.map(({ neighbors }) => neighbors)).toEqual([[], []])
  })
})

describe('a network without an id', () => {
  it('is one warning, and the others keep their neighbors', () => {
    const nodes = [node('node-a', ['192.0.2.11/24']), node('node-b', ['192.0.2.12/24'])]
    const { states, problems } = compile(inputs(nodes, [network('blue', null), network('red', 2)]), [])
    expect(problems).toMatchObject([
      { code: 'UnknownNetworkId', severity: 'warning', object: 'ClusterUserDefinedNetwork/blue', source: { file: 'networks.yaml' } },
    ])
    expect(states.map(({ neighbors }) => neighbors.length)).toEqual([3, 3])
    expect(states[0]?.externalBridge.closed).toEqual([{ name: 'cluster_udn_blue', for: 'ClusterUserDefinedNetwork/blue' }])
  })
})

describe('networks with one id', () => {
  it('are an error each and none is rendered, as replies to one would reach the other; the others are', () => {
    const networks = [network('red', 7), network('green', 2), network('blue', 7)]
    const { states, problems } = compile(inputs([node('node-a', ['192.0.2.11/24'])], networks), [])
    expect(problems).toMatchObject([
      { code: 'DuplicateNetworkId', severity: 'error', object: 'ClusterUserDefinedNetwork/blue', source: { file: 'networks.yaml' } },
      { code: 'DuplicateNetworkId', severity: 'error', object: 'ClusterUserDefinedNetwork/red' },
    ])
    expect(problems[0]?.message).toContain('cluster_udn_blue has the id 7, as cluster_udn_red has')
    expect(states[0]?.externalBridge.networks.map(({ name }) => name)).toEqual(['default', 'cluster_udn_green'])
    expect(states[0]?.externalBridge.closed.map(({ name }) => name)).toEqual(['cluster_udn_blue', 'cluster_udn_red'])
    expect(states[0]?.neighbors.map(({ for: origin }) => origin)).toEqual(['Node/node-a', 'Node/node-a', 'ClusterUserDefinedNetwork/green'])
  })
})

describe('masquerade addresses', () => {
  const addressesOf = (primary: readonly string[], ...subnets: readonly string[]) =>
    compile(inputs([node('node-a', primary)], [], masquerade(...subnets)), []).states[0]?.masqueradeAddresses.map(
      (each) => `${printPrefix(each.address)} ${each.interface} ${each.for}`,
    )

  it('are those of the host, of each family of the node, with the length of the subnet', () => {
    expect(addressesOf(['192.0.2.11/24', '2001:db8::11/64'], '169.254.0.0/17', 'fd69::/112')).toEqual([
      '169.254.0.2/17 br-ex Node/node-a',
      'fd69::2/112 br-ex Node/node-a',
    ])
    expect(addressesOf(['2001:db8::11/64'], '169.254.0.0/17', 'fd69::/112')).toEqual(['fd69::2/112 br-ex Node/node-a'])
  })

  it('are none where the default network does not fit the subnet', () => {
    expect(addressesOf(['192.0.2.11/24'], '169.254.0.0/30')).toEqual([])
  })
})

describe('neighbors on the management port', () => {
  const neighborsOn = (managementPort: string | null, ...subnets: readonly string[]) =>
    neighborsOf(node('node-a', ['192.0.2.11/24'], { podSubnets: new Map([['default', subnets.map(prefix)]]) }), [], {
      managementPort,
    }).neighbors?.filter((line) => line.includes(' mp0 '))

  it('are the gateway of the pods of the node, with one hardware address for both families', () => {
    expect(neighborsOn('mp0', 'fd01:0:0:2::/64', '10.128.2.0/23')).toEqual([
      '10.128.2.1 0a:58:0a:80:02:01 mp0 Node/node-a',
      'fd01:0:0:2::1 0a:58:0a:80:02:01 mp0 Node/node-a',
    ])
    expect(neighborsOn('mp0', 'fd01:0:0:2::/64')).toEqual([
      expect.stringMatching(/^fd01:0:0:2::1 0a:58(:[0-9a-f]{2}){4} mp0 Node\/node-a$/),
    ])
    expect(neighborsOn('mp0', 'fd01:0:0:2::/64')?.[0]).not.toContain('0a:58:0a:80')
  })

  it('are none without a management port or pods', () => {
    expect(neighborsOn(null, '10.128.2.0/23')).toEqual([])
    expect(neighborsOn('mp0')).toEqual([])
  })
})
