import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Address, parseAddress } from '../../src/model/address.js'
import { hosting } from '../../src/model/hosting.js'
import { matches } from '../../src/model/selector.js'
import { candidatesOf } from '../../src/place/candidates.js'
import { exclusionOf, fieldOf } from '../../src/place/eligibility.js'
import { NO_OPTIONS } from '../../src/place/place.js'
import { dumpOf, node, platform } from './cluster.js'

const ADDRESSES = [
  '192.0.2.77',
  '192.0.2.140',
  '198.51.100.9',
  '198.51.100.200',
  '203.0.113.5',
  '2001:db8::5',
  '2001:db8:0:1::5',
  'fe80::5',
  '127.0.0.9',
]
const PREFIXES = [
  '192.0.2.10/24',
  '192.0.2.130/25',
  '198.51.100.3/24',
  '198.51.100.130/26',
  '203.0.113.7/32',
  '2001:db8::3/64',
  '2001:db8::9/32',
]

const cluster = fc
  .record({
    nodes: fc.array(
      fc.record({
        primary: fc.subarray(PREFIXES, { minLength: 1, maxLength: 2 }),
        others: fc.subarray(PREFIXES),
        pool: fc.constantFrom('north', 'south'),
        ready: fc.boolean(),
        cloud: fc.boolean(),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    kind: fc.constantFrom('AWS', 'BareMetal', null),
  })
  .map(({ nodes, kind }) => [
    ...(kind === null ? [] : [platform(kind)]),
    ...nodes.map(({ primary, others, pool, ready, cloud }, i) =>
      node(`alder-${i}`, {
        primary: primary.slice(0, 1),
        others,
        labels: { pool },
        ready: ready ? 'True' : 'False',
        ...(cloud && { cloud: { networks: { ipv4: '192.0.2.0/24' }, capacity: { ip: 3 } } }),
      }),
    ),
  ])

describe('the candidates of an address', () => {
  it('are those that each node by itself says', () => {
    fc.assert(
      fc.property(cluster, (documents) => {
        const field = fieldOf(dumpOf(documents), NO_OPTIONS)
        const lookUp = candidatesOf(field)
        for (const selector of [{ matchLabels: { pool: 'north' } }, {}]) {
          for (const address of ADDRESSES.map((text) => parseAddress(text) as Address)) {
            const { pool, exclusionOn, hosts } = lookUp(selector, address)
            for (const [index, each] of field.nodes.entries()) {
              const network = hosting(each, field.facts, address)
              const excluded = exclusionOf(field, index, matches(selector, each.labels), network)
              expect(hosts.on.get(index) ?? null).toEqual(network)
              expect(exclusionOn(index)).toBe(excluded)
              expect(pool.nodes.includes(index)).toBe(excluded === null)
            }
          }
        }
      }),
      { numRuns: 100 },
    )
  })

  it('are one and the same for addresses of the same networks', () => {
    const field = fieldOf(dumpOf([node('alder-a'), node('alder-b')]), NO_OPTIONS)
    const lookUp = candidatesOf(field)
    const of = (text: string) => lookUp({ matchLabels: {} }, parseAddress(text) as Address)
    expect(of('192.0.2.50')).toBe(of('192.0.2.51'))
    expect(of('192.0.2.50')).not.toBe(of('198.51.100.1'))
  })
})
