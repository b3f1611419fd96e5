import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NMinusOne } from '../../src/model/assignment.js'
import type { Inputs } from '../../src/model/inputs.js'
import { readInputs } from '../../src/model/inputs.js'
import { nMinusOne } from '../../src/place/n-minus-one.js'
import { NO_OPTIONS, place } from '../../src/place/place.js'
import { egressIPObject, intent, nodeObject, topology } from '../constructs/sources.js'

interface Shape {
  readonly capacity: number | null
  readonly pool?: string
}

const node = ({ capacity, pool = 'x' }: Shape, index: number): object => {
  const config = [{ interface: 'nic0', ifaddr: { ipv4: '192.0.2.0/24', ipv6: '2001:db8:1::/64' }, capacity: { ip: capacity } }]
  const annotations = capacity === null ? {} : { 'cloud.network.openshift.io/egress-ipconfig': JSON.stringify(config) }
  const made = nodeObject({ name: `node-${index}`, host: 11 + index, annotations }) as { metadata: { labels: object } }
  return { ...made, metadata: { ...made.metadata, labels: { ...made.metadata.labels, pool } } }
}
const object = (name: string, addresses: readonly number[], pool?: string): object =>
  egressIPObject(name, [], {
    spec: {
      egressIPs: addresses.map((n) => `192.0.2.${100 + n}`),
      namespaceSelector: {},
      ...(pool && { egressNodeSelector: { matchLabels: { pool } } }),
    },
  })
const inputsOf = (nodes: readonly object[], objects: readonly object[]): Inputs =>
  readInputs([...intent(...objects), ...topology(...nodes)], null)
const asked = (inputs: Inputs): NMinusOne => nMinusOne(inputs, NO_OPTIONS, place(inputs, NO_OPTIONS))

describe('nMinusOne', () => {
  it('says that a cluster can lose any node', () => {
    const inputs = inputsOf([{ capacity: 2 }, { capacity: 2 }, { capacity: 2 }].map(node), [
      object('a', [1]),
      object('b', [2]),
      object('c', [3]),
    ])
    expect(asked(inputs)).toEqual({ egressNodes: 3, losses: [], spares: [] })
  })
  it('names the addresses that would find no node for lack of capacity, and how much would do', () => {
    const inputs = inputsOf([{ capacity: 2 }, { capacity: 2 }].map(node), [object('a', [1]), object('b', [2]), object('c', [3])])
    const { losses, spares } = asked(inputs)
    expect(losses.map(({ node: name, holds, capacity }) => ({ name, holds, capacity }))).toEqual([
      { name: 'node-0', holds: 2, capacity: 1 },
      { name: 'node-1', holds: 1, capacity: 1 },
    ])
    expect(losses[0]?.unplaced).toEqual(
      [{ egressIP: '192.0.2.102', object: 'b', reason: 'CapacityExhausted' }].map((one) => expect.objectContaining({ reason: one.reason })),
    )
    expect(spares).toEqual([{ like: 'node-0', for: ['node-0', 'node-1'] }])
  })
  it('tells a lack of nodes from a lack of capacity', () => {
    const inputs = inputsOf([{ capacity: null }, { capacity: null }].map(node), [object('a', [1, 2])])
    expect(asked(inputs).losses).toEqual([
      { node: 'node-0', holds: 1, unplaced: [{ egressIP: '192.0.2.101', object: 'a', reason: 'AntiColocation' }], capacity: null },
      { node: 'node-1', holds: 1, unplaced: [{ egressIP: '192.0.2.102', object: 'a', reason: 'AntiColocation' }], capacity: null },
    ])
    const alone = inputsOf([{ capacity: null, pool: 'blue' }, { capacity: null }].map(node), [object('a', [1], 'blue')])
    expect(asked(alone)).toEqual({
      egressNodes: 1,
      losses: [
        { node: 'node-0', holds: 1, unplaced: [{ egressIP: '192.0.2.101', object: 'a', reason: 'NoAvailableNode' }], capacity: null },
      ],
      spares: [{ like: 'node-0', for: ['node-0'] }],
    })
  })
  it('asks for a spare in each pool', () => {
    const nodes = ['blue', 'blue', 'red', 'red'].map((pool) => ({ capacity: 1, pool })).map(node)
    const objects = [object('a', [1], 'blue'), object('b', [2], 'blue'), object('c', [3], 'red'), object('d', [4], 'red')]
    expect(asked(inputsOf(nodes, objects)).spares).toEqual([
      { like: 'node-0', for: ['node-0', 'node-1'] },
      { like: 'node-2', for: ['node-2', 'node-3'] },
    ])
  })
  it('makes room by choosing among the candidates: not the first node with room, but all of them together', () => {
    const nodes = [{ capacity: 2, pool: 'blue' }, { capacity: 1, pool: 'blue' }, { capacity: 1 }].map(node)
    const any = { egressNodeSelector: { matchExpressions: [{ key: 'pool', operator: 'Exists' }] } }
    const wide = egressIPObject('a', [], { spec: { egressIPs: ['192.0.2.101'], namespaceSelector: {}, ...any } })
    const inputs = inputsOf(nodes, [wide, object('b', [2], 'blue')])
    const both = new Map([
      ['a', new Map([['192.0.2.101', 'node-0']])],
      ['b', new Map([['192.0.2.102', 'node-0']])],
    ])
    expect(asked({ ...inputs, current: both })).toEqual({ egressNodes: 3, losses: [], spares: [] })
  })

  const cluster = fc.record({
    nodes: fc.array(fc.record({ capacity: fc.option(fc.integer({ min: 0, max: 3 })), pool: fc.constantFrom('blue', 'red') }), {
      minLength: 1,
      maxLength: 4,
    }),
    objects: fc.array(fc.record({ count: fc.integer({ min: 1, max: 3 }), pool: fc.constantFrom('blue', 'red', undefined) }), {
      maxLength: 5,
    }),
  })
  it('loses what the placement would refuse if the node were down and all else stayed', () => {
    fc.assert(
      fc.property(cluster, ({ nodes, objects }) => {
        let next = 0
        const wanted = objects.map(({ count, pool }, i) =>
          object(
            `eip-${i}`,
            Array.from({ length: count }, () => next++),
            pool,
          ),
        )
        const inputs = inputsOf(nodes.map(node), wanted)
        const placement = place(inputs, NO_OPTIONS)
        const { losses } = nMinusOne(inputs, NO_OPTIONS, placement)
        const current = new Map<string, Map<string, string>>()
        for (const { object: name, egressIP, node: holder } of placement.assignments)
          current.set(name, (current.get(name) ?? new Map()).set(egressIP, holder ?? ''))
        const placed = new Set(placement.assignments.map(({ egressIP }) => egressIP))
        for (const index of nodes.keys()) {
          const name = `node-${index}`
          const after = place({ ...inputs, current }, { ...NO_OPTIONS, down: [name] })
          const refused = after.unassigned.filter(({ egressIP }) => placed.has(egressIP))
          const loss = losses.find((one) => one.node === name)
          expect(loss?.unplaced.map(({ egressIP, reason }) => [egressIP, reason]) ?? []).toEqual(
            refused.map(({ egressIP, reason }) => [egressIP, reason]),
          )
        }
      }),
      { numRuns: 150 },
    )
  })
})
