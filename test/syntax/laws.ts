import fc from 'fast-check'
import { expect } from 'vitest'
import { type Language, SyntaxFault } from '../../src/syntax/language.js'
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

/** What does not parse is a SyntaxFault with a line, whatever a file holds: texts of the language, damaged. */
export function refusesWhatIsDamaged<E>(language: Language<E>, text: string): void {
  const junk = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom('constructor', '__proto__', '0x', '-1', '1.5', '"', '}', ']', '(', ',', '=', 'null', '{}'),
  )
  const damaged = fc
    .tuple(fc.nat(text.length), fc.nat(12), junk)
    .map(([at, length, inserted]) => text.slice(0, at) + inserted + text.slice(at + length))
  fc.assert(
    fc.property(fc.oneof(damaged, fc.string()), (read) => {
      try {
        language.print(language.parse(read))
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxFault)
        expect((error as SyntaxFault).line).toBeGreaterThan(0)
      }
    }),
    { numRuns: 300 },
  )
}
