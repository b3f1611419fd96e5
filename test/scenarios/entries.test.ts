import { expect, it } from 'vitest'
import { DEFAULT_PATHS, readProject } from '../../src/cli/project.js'
import { outcomeOf } from '../../src/constructs/outcome.js'
import { NO_OPTIONS } from '../../src/place/place.js'
import { type Entry, languageOf } from '../../src/syntax/languages.js'
import { scenarios } from './scenario.js'

it.each(scenarios().map(({ name, folder }) => [name, folder] as const))(
  'the entries of every file of %s are what its text says, by key and meaning',
  (_, folder) => {
    const { files, lock } = readProject(DEFAULT_PATHS, folder)
    const { after } = outcomeOf(files, lock, [], { placement: NO_OPTIONS, allowUnassigned: false })
    expect(after.size).toBeGreaterThan(0)
    for (const { path, text, entries } of [...after.values()].flat()) {
      const language = languageOf(path)?.language
      if (!language) throw new Error(`${path} has no language`)
      const made = new Map((entries as readonly Entry[]).map((entry) => [language.key(entry), entry]))
      const read = new Map(language.parse(text).map((entry) => [language.key(entry), entry]))
      expect([...made.keys()].sort(), path).toEqual([...read.keys()].sort())
      for (const [key, entry] of made) expect(language.same(entry, read.get(key) as Entry), `${path}: ${key}`).toBe(true)
    }
  },
)
