import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearNames, suggestion } from '../../src/model/near.js'

describe('nearNames', () => {
  it('finds what contains the name, and what is a slip away', () => {
    expect(nearNames('web', ['shop/web-1', 'shop/db-1', 'web'])).toEqual(['web', 'shop/web-1'])
    expect(nearNames('ordres', ['orders', 'payments'])).toEqual(['orders'])
    expect(nearNames('worker-l', ['worker-1', 'worker-2', 'master-1'])).toEqual(['worker-1', 'worker-2'])
    expect(nearNames('Orders', ['orders'])).toEqual(['orders'])
  })
  it('names three at most, and nothing that is far away', () => {
    expect(nearNames('n', ['aa', 'bb'])).toEqual([])
    expect(nearNames('node', ['node-4', 'node-3', 'node-2', 'node-1'])).toEqual(['node-1', 'node-2', 'node-3'])
  })
  it('does not depend on the order of the names', () => {
    const names = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 5 }), { maxLength: 8 })
    fc.assert(
      fc.property(names, fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 5 }), (known, wrong) => {
        expect(nearNames(wrong, [...known].reverse())).toEqual(nearNames(wrong, known))
      }),
    )
  })
})

describe('suggestion', () => {
  it('says what was meant, what there is, or that there is nothing', () => {
    expect(suggestion('node-', ['node-a', 'node-b'], 'node')).toBe('did you mean node-a or node-b?')
    expect(suggestion('x', ['node-d', 'node-c', 'node-b', 'node-a'], 'node')).toBe('there are node-a, node-b, node-c and 1 more')
    expect(suggestion('x', [], 'node')).toBe('there is no node at all')
  })
})
