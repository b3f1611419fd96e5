import { describe, expect, it } from 'vitest'
import { compile, type Held } from '../../src/compile/index.js'
import type { ClusterNode } from '../../src/model/topology.js'
import { address, gateway, inputs, node, prefix } from './cluster.js'

const held = (egressIP: string, on: string, object = 'eip-a'): Held => ({ egressIP, object, node: on })
const stateOf = (one: ClusterNode, list: readonly Held[], ...more: readonly ClusterNode[]) => {
  const { states, problems } = compile(inputs([one, ...more]), list)
  const state = states.find((each) => each.node === one.name)
  if (!state) throw new Error('no state')
  return {
    problems,
    own: state.nodeAddresses.map(({ text }) => text),
    egress: state.egressAddresses.map((each) => `${each.address.text} ${each.interface} ${each.for}`),
    silenced: state.silenced.map((each) => each.address.text),
  }
}

describe('egress addresses', () => {
  const a = () =>
    node('node-a', ['192.0.2.11/24', '2001:db8::11/64'], { hostPrefixes: ['192.0.2.11/24', '2001:db8::11/64', '10.20.0.5/16'].map(prefix) })

  it('are on the bridge and silenced at shutdown, IPv4 first', () => {
    const state = stateOf(a(), [held('2001:db8::50', 'node-a', 'eip-b'), held('192.0.2.50', 'node-a'), held('192.0.2.51', 'node-b')])
    expect(state.egress).toEqual(['192.0.2.50 br-ex EgressIP/eip-a', '2001:db8::50 br-ex EgressIP/eip-b'])
    expect(state.silenced).toEqual(['192.0.2.50', '2001:db8::50'])
    expect(state.problems).toEqual([])
  })

  it('of a secondary network are neither on the bridge nor silenced on the uplink', () => {
    expect(stateOf(a(), [held('10.20.0.50', 'node-a')])).toMatchObject({ egress: [], silenced: [] })
  })

  it('follow the subnet that the cloud names', () => {
    const cloud = { interface: 'eni-1', networks: [prefix('10.0.128.0/18')], capacity: { ip: 5, ipv4: null, ipv6: null } }
    const one = node('node-a', ['10.0.128.9/32'], { cloud })
    const { states } = compile(inputs([one], [], {}, 'GCP'), [held('10.0.129.50', 'node-a'), held('10.9.0.50', 'node-a')])
    expect(states[0]?.egressAddresses.map((each) => each.address.text)).toEqual(['10.0.129.50'])
  })

  it('stand once when two objects claim to hold one', () => {
    const twice = [held('192.0.2.50', 'node-a', 'eip-b'), held('192.0.2.50', 'node-a', 'eip-a')]
    expect(stateOf(a(), twice).egress).toEqual(['192.0.2.50 br-ex EgressIP/eip-a'])
  })
})

describe('the addresses of the node itself', () => {
  it('are those of gateway, primary interface, InternalIPs and host-cidrs', () => {
    const one = node('node-a', ['192.0.2.11/24'], {
      gateway: gateway({ addresses: [prefix('192.0.2.12/24')] }),
      internalIPs: [address('198.51.100.7')],
      hostPrefixes: ['192.0.2.11/24', '203.0.113.9/32'].map(prefix),
    })
    expect(stateOf(one, []).own).toEqual(['192.0.2.11', '192.0.2.12', '198.51.100.7', '203.0.113.9'])
  })

  it('are not the egress IPs that the node lists among them, its own or such as have moved away', () => {
    const listing = ['192.0.2.11/24', '192.0.2.50/32', '192.0.2.51/32', '192.0.2.52/32'].map(prefix)
    const one = node('node-a', ['192.0.2.11/24'], {
      hostPrefixes: listing,
      heldEgressIPs: [address('192.0.2.51')],
      internalIPs: [address('192.0.2.52')],
    })
    const moved = stateOf(one, [held('192.0.2.50', 'node-a'), held('192.0.2.52', 'node-b')], node('node-b', ['192.0.2.12/24']))
    expect(moved.own).toEqual(['192.0.2.11'])
    expect(moved.egress).toEqual(['192.0.2.50 br-ex EgressIP/eip-a'])
  })

  it('are never silenced, whatever a status says', () => {
    const state = stateOf(node('node-a', ['192.0.2.11/24']), [held('192.0.2.11', 'node-a'), held('192.0.2.50', 'node-a')])
    expect(state.own).toEqual(['192.0.2.11'])
    expect(state.silenced).toEqual(['192.0.2.50'])
    expect(state.egress).toEqual(['192.0.2.50 br-ex EgressIP/eip-a'])
    expect(state.problems).toMatchObject([{ code: 'AddressConflict', severity: 'warning', object: 'eip-a' }])
  })
})
