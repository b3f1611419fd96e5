import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Section, shorten } from '../../src/plan/shorten.js'

const section = (head: string, count: number, length = 10): Section => ({
  head,
  rows: Array.from({ length: count }, (_, i) => String(i).padEnd(length, '.')),
  gap: '\n',
})

describe('shorten', () => {
  it('keeps everything that fits, and leaves out empty sections', () => {
    expect(shorten([section('A', 2), section('B', 0), section('C', 1)], 1000)).toBe('A\n0.........\n1.........\n\nC\n0.........\n')
  })
  it('leaves out rows of the long section, not of the short ones, and says how many', () => {
    const text = shorten([section('A', 1000), section('B', 3)], 1000)
    expect(text).toContain('B\n0.........\n1.........\n2.........\n')
    const [, kept, left] = text.match(/^A\n((?:\d+\.+\n)+)\n… and (\d+) more: `egretta plan` prints everything\.$/m) ?? []
    expect(kept?.trim().split('\n').length).toBe(1000 - Number(left))
    expect(Number(left)).toBeLessThan(950)
  })
  it('never gives more characters than the limit', () => {
    const sections = fc.array(
      fc
        .tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 300 }))
        .map(([count, length]) => section('#### Title', count, length)),
      { maxLength: 7 },
    )
    fc.assert(
      fc.property(sections, fc.integer({ min: 2000, max: 20_000 }), (list, limit) => {
        expect(shorten(list, limit).length).toBeLessThanOrEqual(limit)
      }),
    )
  })
})
