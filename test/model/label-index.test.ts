import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { labelIndex } from '../../src/model/label-index.js'
import { type LabelSelector, matches } from '../../src/model/selector.js'

const key = fc.constantFrom('app', 'env', 'constructor', '__proto__')
const value = fc.constantFrom('a', 'b', 'c', '')
const labels = fc.dictionary(key, value, { maxKeys: 3 })
const requirement = fc.record({
  key,
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
  values: fc.array(value, { maxLength: 3 }),
})
const selector = fc.record(
  { matchLabels: labels, matchExpressions: fc.array(requirement, { maxLength: 2 }) },
  { requiredKeys: [] },
) as fc.Arbitrary<LabelSelector>

describe('labelIndex', () => {
  it('finds what matches one by one does, in the same order', () => {
    fc.assert(
      fc.property(fc.array(labels, { maxLength: 12 }), selector, (all, wanted) => {
        const items = all.map((one, name) => ({ name, labels: one }))
        expect(labelIndex(items)(wanted)).toEqual(items.filter((item) => matches(wanted, item.labels)))
      }),
    )
  })

  it('takes an empty selector for everything and an unknown label for nothing', () => {
    const items = [{ labels: { app: 'a' } }, { labels: {} }]
    const find = labelIndex(items)
    expect(find({})).toEqual(items)
    expect(find({ matchLabels: { app: 'z' } })).toEqual([])
  })
})
