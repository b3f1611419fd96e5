import { describe, expect, it } from 'vitest'
import { compile } from '../../src/compile/index.js'
import type { Cluster } from '../../src/model/cluster.js'
import { gateway, inputs, node } from './cluster.js'

const state = (over: Partial<Cluster>, bridge: string | null = 'br-ex') =>
  compile(inputs([node('node-a', ['192.0.2.11/24'], { gateway: gateway({ bridge }) })], [], over), [])

describe('node states', () => {
  it('are one per node with a gateway, sorted by name, of nodes that host nothing too', () => {
    const nodes = [node('node-b', ['192.0.2.12/24']), node('node-c', [], { gateway: null }), node('node-a', ['192.0.2.11/24'])]
    const { states, problems } = compile(inputs(nodes), [])
    expect(states.map((each) => each.node)).toEqual(['node-a', 'node-b'])
    expect(states[0]).toMatchObject({ egressAddresses: [], silenced: [], announcing: ['default'], nftVersion: '1.0.6' })
    expect(problems).toEqual([])
  })

  it.each<[string, Partial<Cluster>, string | null, string]>([
    ['the node in Cluster', { bridge: 'breth0', nodes: { 'node-a': { bridge: 'br-x' } } }, 'br-ex', 'br-x'],
    ['Cluster', { bridge: 'breth0', nodes: { 'node-b': { bridge: 'br-x' } } }, 'br-ex', 'breth0'],
    ['the annotation', {}, 'br-ex', 'br-ex'],
    ['Cluster, where the annotation does not say it', { bridge: 'breth0' }, null, 'breth0'],
  ])('take the bridge from %s', (_, over, bridge, expected) => {
    expect(state(over, bridge).states.map((each) => each.bridge)).toEqual([expected])
  })

  it('are missing, with a problem, where a node without a gateway holds addresses', () => {
    const nodes = [node('node-a', ['192.0.2.11/24'], { gateway: null }), node('node-b', ['192.0.2.12/24'], { gateway: null, invalid: 'x' })]
    const on = (name: string, ...addresses: readonly string[]) => addresses.map((egressIP) => ({ egressIP, object: 'eip', node: name }))
    const problemsWith = (...held: ReturnType<typeof on>) => compile(inputs(nodes), held).problems
    expect(problemsWith(...on('node-a', '192.0.2.51', '192.0.2.50'), ...on('gone', '192.0.2.52'))).toMatchObject([
      {
        code: 'NoGateway',
        severity: 'warning',
        object: 'Node/node-a',
        message:
          'Node node-a holds 2 egress IPs, 192.0.2.50 among them, but gets no bundle: its annotation k8s.ovn.org/l3-gateway-config is absent.',
        remedy: expect.stringContaining('ovnkube-node writes k8s.ovn.org/l3-gateway-config'),
        source: { file: 'nodes.yaml' },
      },
    ])
    expect(problemsWith(...on('node-a', '2001:db8::5'))[0]?.message).toContain('holds the egress IP 2001:db8::5, but')
    expect(problemsWith(...on('node-b', '192.0.2.50'))).toEqual([])
  })

  it('are missing, with a problem, where nothing names the bridge', () => {
    const { states, problems } = state({}, null)
    expect(states).toEqual([])
    expect(problems).toMatchObject([{ code: 'InvalidNode', object: 'Node/node-a', source: { file: 'nodes.yaml' } }])
    expect(problems[0]?.remedy).toContain('Cluster.spec.nodes.node-a')
  })

  it.each<[Partial<Cluster>, string | null]>([
    [{ nodes: { 'node-a': { guardDevice: 'g0', uplink: 'u0' } }, guardDevice: 'g1', uplink: 'u1' }, 'g0'],
    [{ nodes: { 'node-a': { uplink: 'u0' } }, guardDevice: 'g1', uplink: 'u1' }, 'u0'],
    [{ nodes: {}, guardDevice: 'g1', uplink: 'u1' }, 'g1'],
    [{ uplink: 'u1' }, 'u1'],
    [{}, null],
  ])('guard on the device of %o', (over, device) => {
    expect(state(over).states[0]?.guardDevice).toBe(device)
  })
})
