import { describe, expect, it } from 'vitest'
import { compile, type Held, recompile, type Speaking } from '../../src/compile/index.js'
import { isEqual } from '../../src/model/equal.js'
import type { ClusterPod } from '../../src/model/topology.js'
import { address, inputs, namespace, network, node, pod, prefix, speaker } from './cluster.js'

const nodes = [0, 1, 2, 3, 4].map((at) =>
  node(`node-${'abcde'[at]}`, [`192.0.2.${11 + at}/24`], {
    hostPrefixes: [`192.0.2.${11 + at}/24`, `198.51.100.${11 + at}/24`].map(prefix),
  }),
)
const networks = [network('blue', 2, 'Primary', { namespaces: ['blue'] })]
const pods = [
  pod('a', ['10.128.0.9']),
  pod('b', ['10.128.0.10'], { namespace: 'green' }),
  pod('c', ['10.128.0.11'], { namespace: 'yellow' }),
]
const from = (some: readonly ClusterPod[] = pods) =>
  inputs(nodes, networks, {}, null, { namespaces: ['blue', 'green', 'red', 'yellow'].map(namespace), pods: some })
const held = (egressIP: string, object: string, on: string): Held => ({ egressIP, object, node: `node-${on}` })
const standing = [held('192.0.2.50', 'eip-a', 'a'), held('192.0.2.51', 'eip-b', 'b'), held('198.51.100.50', 'eip-c', 'c')]
const speakers = [
  speaker('eip-a', 'red', ['192.0.2.50']),
  speaker('eip-b', 'blue', ['192.0.2.51']),
  speaker('eip-c', 'green', ['198.51.100.50']),
]
const marks = new Map([['eip-b', 50000]])

/** The nodes whose states another assignment changes; all others must be the same objects, and all what compile gives. */
function changed(next: readonly Held[], speaking: Speaking): readonly string[] {
  const inputsNow = from()
  const known = { held: standing, speaking: { speakers, marks }, states: compile(inputsNow, standing, { speakers, marks }).states }
  const states = recompile(inputsNow, { held: next, speaking }, known)
  const fresh = compile(inputsNow, next, speaking).states
  expect(states.map(({ node: name }) => name)).toEqual(fresh.map(({ node: name }) => name))
  expect(states.every((state, at) => isEqual(state, fresh[at]))).toBe(true)
  return states.filter((state, at) => state !== known.states[at]).map(({ node: name }) => name)
}

describe('recompile', () => {
  it('keeps every state where nothing changes', () => {
    expect(changed(standing, { speakers, marks })).toEqual([])
  })

  it.each([
    ['a primary address', [held('192.0.2.50', 'eip-a', 'd'), ...standing.slice(1)], ['node-a', 'node-d']],
    ['an address with a mark', [standing[0] as Held, held('192.0.2.51', 'eip-b', 'a'), standing[2] as Held], ['node-a', 'node-b']],
    ['a secondary address', [...standing.slice(0, 2), held('198.51.100.50', 'eip-c', 'e')], ['node-c', 'node-e']],
  ])('renews two states when %s moves', (_, next, expected) => {
    expect(changed(next, { speakers, marks })).toEqual(expected)
  })

  it('renews the holder of a secondary address when its object selects other pods, and no other', () => {
    const wider = [...speakers.slice(0, 2), speaker('eip-c', 'x', ['198.51.100.50'], { namespaceSelector: {} })]
    expect(changed(standing, { speakers: wider, marks })).toEqual(['node-c'])
  })

  it('renews the holder of a secondary address when another object takes its pods', () => {
    const taking = [speaker('eip-a', 'green', ['192.0.2.50']), ...speakers.slice(1)]
    expect(changed(standing, { speakers: taking, marks })).toEqual(['node-c'])
  })

  it('renews the holder of a primary address when its object gets another mark or selects another network', () => {
    expect(changed(standing, { speakers, marks: new Map([['eip-b', 50001]]) })).toEqual(['node-b'])
    expect(changed(standing, { speakers, marks: new Map([...marks, ['eip-a', 50001]]) })).toEqual([])
    const wider = [
      speaker('eip-a', 'x', ['192.0.2.50'], {
        namespaceSelector: { matchExpressions: [{ key: 'name', operator: 'In', values: ['blue', 'red'] }] },
      }),
      ...speakers.slice(1),
    ]
    expect(changed(standing, { speakers: wider, marks: new Map([...marks, ['eip-a', 50001]]) })).toEqual(['node-a'])
  })

  it('renews a node that lists an egress IP which leaves', () => {
    const listing = node('node-f', ['192.0.2.16/24'], { internalIPs: ['192.0.2.16', '192.0.2.50'].map(address) })
    const wide = { ...from(), topology: { ...from().topology, nodes: [...nodes, listing] } }
    const speaking = { speakers, marks }
    const known = { held: standing, speaking, states: compile(wide, standing, speaking).states }
    const states = recompile(wide, { held: standing.slice(1), speaking }, known)
    expect(states.filter((state, at) => state !== known.states[at]).map(({ node: name }) => name)).toEqual(['node-a', 'node-f'])
  })
})

describe('a pod that comes', () => {
  const changedBy = (some: readonly ClusterPod[]) => {
    const [before, after] = [from(), from(some)].map((each) => compile(each, standing, { speakers, marks }).states)
    return before?.flatMap((state, at) => (isEqual(state, after?.[at]) ? [] : [state.node]))
  }

  it('changes the states of the nodes that hold the secondary egress IPs of its object alone', () => {
    expect(changedBy([...pods, pod('d', ['10.128.0.12'], { namespace: 'green', node: 'node-a' })])).toEqual(['node-c'])
    expect(changedBy([...pods, pod('d', ['10.128.0.12'])])).toEqual([])
    expect(changedBy([...pods, pod('d', ['10.20.0.12'], { namespace: 'green', network: 'cluster_udn_x' })])).toEqual([])
  })
})
