import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Artefact } from '../../src/model/bundle.js'
import { countChanges, diff } from '../../src/plan/diff.js'
import type { Language } from '../../src/syntax/language.js'

interface Word {
  readonly key: string
  readonly meaning: number
  readonly remark: string
}

const language: Language<Word> = {
  subsystem: 'neighbors',
  parse: () => [],
  print: () => '',
  key: ({ key }) => key,
  same: (a, b) => a.meaning === b.meaning,
}

const words = fc.uniqueArray(
  fc.record({ key: fc.constantFrom(...'abcdefgh'), meaning: fc.integer({ min: 0, max: 2 }), remark: fc.string() }),
  { selector: ({ key }) => key },
)

const state = (entries: readonly Word[]) => new Map(entries.map(({ key, meaning }) => [key, meaning]))

describe('diff', () => {
  it('of a state with itself is empty, whatever is foreign', () => {
    fc.assert(
      fc.property(words, words, (own, foreign) => {
        expect(diff(language, own, own, foreign)).toEqual({ changes: [], conflicts: [] })
      }),
    )
  })

  it('turns what is ours into what is desired', () => {
    fc.assert(
      fc.property(words, words, (desired, own) => {
        const after = new Map(own.map((entry) => [entry.key, entry]))
        for (const { key, entry, from } of diff(language, desired, own).changes) {
          expect(after.get(key)).toBe(from ?? undefined)
          if (entry) after.set(key, entry)
          else after.delete(key)
        }
        expect(state([...after.values()])).toEqual(new Map([...after.keys()].map((key) => [key, state(desired).get(key)])))
        expect([...after.keys()].sort()).toEqual(desired.map(({ key }) => key).sort())
      }),
    )
  })

  it('never names a key that is foreign and not ours', () => {
    fc.assert(
      fc.property(words, words, words, (desired, own, foreign) => {
        const { changes, conflicts } = diff(language, desired, own, foreign)
        const theirs = state(foreign.filter(({ key }) => !state(own).has(key)))
        for (const { key } of changes) expect(theirs.has(key)).toBe(false)
        const clashing = desired.filter(({ key, meaning }) => theirs.has(key) && theirs.get(key) !== meaning)
        expect(conflicts.map(({ key }) => key)).toEqual(clashing.map(({ key }) => key).sort())
      }),
    )
  })

  it('does not depend on the order of entries, and is sorted by key', () => {
    fc.assert(
      fc.property(words, words, words, (desired, own, foreign) => {
        const answer = diff(language, desired, own, foreign)
        expect(diff(language, [...desired].reverse(), [...own].reverse(), [...foreign].reverse())).toEqual(answer)
        expect(answer.changes.map(({ key }) => key)).toEqual(answer.changes.map(({ key }) => key).sort())
      }),
    )
  })
})

describe('countChanges', () => {
  const neighbors = (...macs: readonly string[]): Artefact => ({
    path: 'neighbors.json',
    text: JSON.stringify(macs.map((mac, index) => ({ dst: `169.254.0.${index + 1}`, lladdr: `0a:58:00:00:00:${mac}`, dev: 'br-ex' }))),
    phases: ['steady', 'startup', 'shutdown'],
  })
  const flows = (bridge: string, text: string, phases: Artefact['phases'] = ['steady']): Artefact => ({
    path: `openflow.${bridge}.flows`,
    text,
    phases,
  })

  it('counts by subsystem, leaving out what does not change', () => {
    expect(countChanges([neighbors('01', '02')], [neighbors('01', '02')])).toEqual({})
    expect(countChanges([neighbors('01', '02')], [neighbors('09')])).toEqual({ neighbors: { add: 0, update: 1, delete: 1 } })
    expect(countChanges([], [neighbors('01')])).toEqual({ neighbors: { add: 1, update: 0, delete: 0 } })
    expect(countChanges([neighbors('01')], [])).toEqual({ neighbors: { add: 0, update: 0, delete: 1 } })
  })

  it('keeps the bridges apart, and counts only what applies in the steady phase', () => {
    const line = 'cookie=0xe6e70001,priority=1,actions=drop\n'
    expect(countChanges([flows('br-a', line)], [flows('br-b', line)])).toEqual({ openflow: { add: 1, update: 0, delete: 1 } })
    expect(countChanges([], [flows('br-a', line, ['startup', 'shutdown'])])).toEqual({})
  })
})
