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
