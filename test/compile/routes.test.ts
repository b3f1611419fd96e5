import { describe, expect, it } from 'vitest'
import { compile, type Held } from '../../src/compile/index.js'
import { printPrefix } from '../../src/model/address.js'
import type { Cluster } from '../../src/model/cluster.js'
import type { GatewayMode } from '../../src/model/node-annotations.js'
import { address, gateway, inputs, node, prefix } from './cluster.js'

const subnets = {
  pod: [],
  service: ['172.30.0.0/16', 'fd02::/112'].map(prefix),
  join: [],
  transit: [],
  masquerade: ['169.254.0.0/17', 'fd69::/112'].map(prefix),
}
const pods = new Map([['default', ['10.128.2.0/23', 'fd01:0:0:2::/64'].map(prefix)]])
const both = ['192.0.2.11/24', '2001:db8::11/64']

function routesOf(over: Partial<Cluster>, primary: readonly string[] = both, mode: GatewayMode = 'shared', podSubnets = pods) {
  const nextHops = ['192.0.2.1', '2001:db8::1'].map(address)
  const one = node('node-a', primary, { podSubnets, gateway: gateway({ mode, addresses: primary.map(prefix), nextHops }) })
  const { states } = compile(inputs([one], [], { subnets, ...over }), [])
  return states[0]?.routes.map(({ destination, gateway: via, interface: dev, source, mtu, for: origin }) => {
    expect(origin).toBe('Node/node-a')
    return `${printPrefix(destination)} via ${via?.text ?? '-'} dev ${dev} src ${source?.text ?? '-'} mtu ${mtu ?? '-'}`
  })
}

const V4 = ['169.254.0.1/32 via - dev br-ex src 192.0.2.11 mtu -', '172.30.0.0/16 via 169.254.0.4 dev br-ex src 169.254.0.2 mtu 1400']
const V6 = ['fd02::/112 via fd69::4 dev br-ex src fd69::2 mtu 1400', 'fd69::1/128 via - dev br-ex src 2001:db8::11 mtu -']

describe('routes of the main table', () => {
  it.each<[GatewayMode, readonly string[], readonly string[]]>([
    ['shared', ['192.0.2.11/24'], V4],
    ['shared', ['2001:db8::11/64'], V6],
    ['shared', both, [...V4, ...V6]],
    ['local', ['192.0.2.11/24'], V4],
    ['local', ['2001:db8::11/64'], V6],
    ['local', both, [...V4, ...V6]],
  ])('lead to services behind the dummy next hop: %s gateway mode, %j', (mode, primary, expected) => {
    expect(routesOf({}, primary, mode)).toEqual(expected)
    expect(routesOf({ release: '4.10' }, primary, mode)).toEqual(expected)
  })

  it('lead to the address of services with externalTrafficPolicy Local through the management port, where it is known', () => {
    expect(routesOf({ managementPort: 'ovn-k8s-mp0' })).toEqual([
      V4[0],
      '169.254.0.3/32 via 10.128.2.1 dev ovn-k8s-mp0 src - mtu -',
      V4[1],
      ...V6,
      'fd69::3/128 via fd01:0:0:2::1 dev ovn-k8s-mp0 src - mtu -',
    ])
    expect(routesOf({ managementPort: 'ovn-k8s-mp0' }, both, 'shared', new Map())).toEqual([...V4, ...V6])
  })

  it('never let the host prefer an egress IP that the node lists first among its InternalIPs', () => {
    const internalIPs = ['192.0.2.50', '192.0.2.9', '192.0.2.11'].map(address)
    const one = node('node-a', ['192.0.2.11/24'], { internalIPs })
    const sourceWith = (...held: readonly Held[]) => compile(inputs([one], [], { subnets }), held).states[0]?.routes[0]?.source?.text
    expect(sourceWith({ egressIP: '192.0.2.50', object: 'eip', node: 'node-a' })).toBe('192.0.2.9')
    expect(sourceWith()).toBe('192.0.2.50')
  })

  it('lead to services through the management port before release 4.10 in local gateway mode', () => {
    const expected = [
      '172.30.0.0/16 via 10.128.2.1 dev ovn-k8s-mp0 src - mtu -',
      'fd02::/112 via fd01:0:0:2::1 dev ovn-k8s-mp0 src - mtu -',
    ]
    expect(routesOf({ release: '4.9.11' }, both, 'local')).toEqual(expected)
    expect(routesOf({ release: '4.9', managementPort: 'mp1' }, ['192.0.2.11/24'], 'local')).toEqual([
      '172.30.0.0/16 via 10.128.2.1 dev mp1 src - mtu -',
    ])
  })

  it('lead to services through the physical gateway before release 4.10 in shared gateway mode', () => {
    expect(routesOf({ release: '4.8', mtu: 8900 })).toEqual([
      '172.30.0.0/16 via 192.0.2.1 dev br-ex src - mtu 8900',
      'fd02::/112 via 2001:db8::1 dev br-ex src - mtu 8900',
    ])
  })

  it('are none where the masquerade subnet is too small', () => {
    const masquerade = [prefix('169.254.0.0/30')]
    expect(routesOf({ subnets: { ...subnets, masquerade } }, ['192.0.2.11/24'])).toEqual([])
  })
})
