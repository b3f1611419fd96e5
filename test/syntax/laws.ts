import fc from 'fast-check'
import { expect } from 'vitest'
import type { Language } from '../../src/syntax/language.js'
import { shuffled } from './arbitrary.js'

/** The laws of a language, for entries without two of one key. */
export function obeysItsLaws<E>(language: Language<E>, entries: fc.Arbitrary<readonly E[]>): void {
  const distinct = entries.map((list) => [...new Map(list.map((entry) => [language.key(entry), entry])).values()])
  fc.assert(
    fc.property(
      distinct.chain((list) => fc.tuple(fc.constant(list), shuffled(list))),
      ([list, mixed]) => {
        const text = language.print(list)
        expect(language.print(mixed)).toBe(text)
        const read = language.parse(text)
        expect(language.print(read)).toBe(text)
        const byKey = new Map(list.map((entry) => [language.key(entry), entry]))
        expect(read.map(language.key).sort()).toEqual([...byKey.keys()].sort())
        for (const entry of read) {
          expect(entry).toEqual(byKey.get(language.key(entry)))
          expect(language.same(entry, byKey.get(language.key(entry)) as E)).toBe(true)
        }
      },
    ),
    { numRuns: 60 },
  )
}
