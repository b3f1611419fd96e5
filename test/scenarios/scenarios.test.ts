import { describe, expect, it } from 'vitest'
import { commandsOn, goldenOf, scenarios, writeGolden } from './scenario.js'

const UPDATE = process.env.EGRETTA_GOLDEN === 'update'

describe('a scenario', () => {
  it.each(scenarios().map((scenario) => [scenario.name, scenario] as const))(
    '%s gives its golden files, byte for byte',
    async (_, scenario) => {
      const made = await commandsOn(scenario)
      if (UPDATE) writeGolden(scenario, made)
      const golden = goldenOf(scenario)
      expect([...made.keys()].sort(), 'missing or extra files; npm run golden rewrites them').toEqual([...golden.keys()].sort())
      for (const [path, text] of made) expect(text, path).toBe(golden.get(path))
    },
  )
})
