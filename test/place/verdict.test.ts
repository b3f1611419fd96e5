import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/model/address.js'
import type { PlacementOptions } from '../../src/model/assignment.js'
import { NO_OPTIONS, place } from '../../src/place/place.js'
import { verdictsOn } from '../../src/place/verdict.js'
import { cluster, type Document, dumpOf, egressIP, node } from './cluster.js'

const judged = (documents: readonly Document[], over: Partial<PlacementOptions> = {}) => {
  const options = { ...NO_OPTIONS, ...over }
  const inputs = dumpOf(documents)
  const placement = place(inputs, options)
  const verdicts = verdictsOn(inputs, options, placement)
  const reasons = (object: string, text: string) => {
    const intent = inputs.intent.objects.find(({ name }) => name === object)
    const address = parseAddress(text)
    if (!intent || !address) throw new Error(`${text} of ${object} is not there`)
    return verdicts.nodes.map((load, index) => [load.node.name, verdicts.on(intent, address, index).reason] as const)
  }
  return { placement, verdicts, reasons }
}

const cloud = (capacity: Readonly<Record<string, number>>) => ({ networks: { ipv4: '192.0.2.0/24' }, capacity })

describe('verdictsOn', () => {
  it('names the first rule that excludes each node, and counts what others hold', () => {
    const documents = [
      node('alder', { primary: ['192.0.2.10/24'] }),
      node('birch', { primary: ['192.0.2.11/24'], ready: 'False' }),
      node('cedar', { primary: ['192.0.2.12/24'], labels: {} }),
      node('dogwood', { primary: ['192.0.2.13/24'], cloud: cloud({ ipv4: 1 }) }),
      node('elm', { primary: ['203.0.113.14/24'] }),
      node('fir', { primary: ['192.0.2.15/24'] }),
      node('gum', { primary: ['192.0.2.16/24'] }),
      cluster({ unreachable: ['gum'] }),
      egressIP('one', ['192.0.2.101', '192.0.2.102'], { status: { '192.0.2.101': 'alder', '192.0.2.102': 'fir' } }),
      egressIP('two', ['192.0.2.103'], { status: { '192.0.2.103': 'dogwood' } }),
    ]
    const { reasons, verdicts } = judged(documents)
    expect(Object.fromEntries(reasons('one', '192.0.2.101'))).toEqual({
      alder: null,
      birch: 'NotReady',
      cedar: 'SelectorMismatch',
      dogwood: 'CapacityExhausted',
      elm: 'NoHostingNetwork',
      fir: 'HoldsSameObject',
      gum: 'Unreachable',
    })
    expect(Object.fromEntries(reasons('two', '192.0.2.103'))).toMatchObject({ alder: null, dogwood: null, fir: null })
    expect(verdicts.nodes.map((load) => [load.node.name, load.ipv4, load.ipv6, load.capacity.ipv4])).toEqual([
      ['alder', 1, 0, null],
      ['birch', 0, 0, null],
      ['cedar', 0, 0, null],
      ['dogwood', 1, 0, 1],
      ['elm', 0, 0, null],
      ['fir', 1, 0, null],
      ['gum', 0, 0, null],
    ])
  })

  it('takes for unreachable what a ProbeResult, the Cluster object or --down says', () => {
    const probes = { apiVersion: 'egretta.dev/v1alpha1', kind: 'ProbeResult', spec: { results: [{ node: 'birch', reachable: false }] } }
    const documents = [
      ...['alder', 'birch', 'cedar'].map((name, i) => node(name, { primary: [`192.0.2.${i + 10}/24`] })),
      egressIP('one', ['192.0.2.101'], { status: { '192.0.2.101': 'birch' } }),
    ]
    const { placement, reasons } = judged([...documents, probes], { down: ['alder'] })
    expect(placement.assignments).toMatchObject([{ change: 'move', from: 'birch', node: 'cedar' }])
    expect(reasons('one', '192.0.2.101')).toEqual([
      ['alder', 'Unreachable'],
      ['birch', 'Unreachable'],
      ['cedar', null],
    ])
  })

  const drawn = fc.record({
    capacities: fc.array(fc.option(fc.integer({ min: 0, max: 2 }), { nil: null }), { minLength: 1, maxLength: 4 }),
    ready: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    objects: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
    held: fc.boolean(),
  })
  it('agrees with the placement: every refusal has its reasons, every new holder none, and no candidate is less loaded than the node chosen', () => {
    fc.assert(
      fc.property(drawn, ({ capacities, ready, objects, held }) => {
        const nodes = capacities.map((capacity, i) =>
          node(`node-${i}`, {
            primary: [`192.0.2.${i + 10}/24`],
            ready: ready[i] ? 'True' : 'False',
            ...(capacity !== null && { cloud: cloud({ ip: capacity }) }),
          }),
        )
        const intents = objects.map((count, i) => {
          const addresses = Array.from({ length: count }, (_, k) => `192.0.2.${100 + i * 10 + k}`)
          return egressIP(`eip-${i}`, addresses, held ? { status: { [addresses[0] as string]: 'node-0' } } : {})
        })
        const { placement, reasons, verdicts } = judged([...nodes, ...intents])
        for (const one of placement.unassigned) {
          const excluded = reasons(one.object, one.egressIP).map(([name, reason]) => ({ node: name, reason }))
          expect(one.nodes).toEqual(excluded)
        }
        const load = new Map(verdicts.nodes.map(({ node: { name }, ipv4 }) => [name, ipv4]))
        for (const one of placement.assignments) {
          if (one.change !== 'add') continue
          const found = reasons(one.object, one.egressIP)
          expect(found.find(([name]) => name === one.node)).toEqual([one.node, null])
          for (const [name, reason] of found) {
            if (reason === null && name !== one.node)
              expect(load.get(name)).toBeGreaterThanOrEqual((load.get(String(one.node)) as number) - 1)
          }
        }
      }),
    )
  })
})
