import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf, contains, type Prefix, printPrefix } from '../../src/model/address.js'
import { prefixIndex } from '../../src/model/prefix-index.js'

const prefix = fc.oneof(
  fc
    .record({ value: fc.integer({ min: 0, max: 63 }), length: fc.integer({ min: 24, max: 32 }) })
    .map(({ value, length }): Prefix => ({ address: addressOf(4, 0xc0000200n + BigInt(value)), length })),
  fc
    .record({ value: fc.integer({ min: 0, max: 63 }), length: fc.integer({ min: 0, max: 128 }) })
    .map(({ value, length }): Prefix => ({ address: addressOf(6, 0x20010db8n * 2n ** 96n + BigInt(value)), length })),
)

describe('prefixIndex', () => {
  it('finds what `contains` finds one by one, the widest first', () => {
    fc.assert(
      fc.property(fc.array(prefix, { maxLength: 20 }), prefix, (prefixes, { address }) => {
        const found = prefixIndex(prefixes.map((one) => [one, one] as const)).containing(address)
        const wanted = prefixes.filter((one) => contains(one, address)).sort((a, b) => a.length - b.length)
        expect(found.map(printPrefix)).toEqual(wanted.map(printPrefix))
      }),
    )
  })
})
