import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { egretta } from '../cli/terminal.js'
import { scenarios } from './scenario.js'

const schema = JSON.parse(readFileSync(new URL('../../schema/plan.json', import.meta.url), 'utf8'))
const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema)

const VARIANTS: readonly (readonly string[])[] = [
  [],
  ['--rebalance', '--allow-unassigned', '--n-minus-1'],
  ['--drain', 'FIRST', '--down', 'LAST', '--previous', 'SELF'],
]

/** Reads a scenario where it stands, without the lock that somebody who ran an example may have left there. */
function pathsOf(folder: string): readonly string[] {
  const lock = join(folder, 'egretta.lock.json')
  const locked = folder.includes('/test/') && existsSync(lock) ? ['--lock', lock] : ['--lock', join(folder, 'none')]
  return ['--intent', join(folder, 'intent'), '--topology', join(folder, 'topology'), ...locked]
}

describe('plan -o json', () => {
  it.each(scenarios().map(({ name, folder }) => [name, folder] as const))('of %s is what the published schema says', async (_, folder) => {
    const paths = pathsOf(folder)
    const nodes = (await egretta('explain', 'probes', '-o', 'json', ...paths)).out
    const names = (JSON.parse(nodes).probes.nodes as readonly { readonly node: string }[]).map(({ node }) => node)
    const words: Readonly<Record<string, string | undefined>> = { FIRST: names[0], LAST: names.at(-1), SELF: folder }
    for (const variant of VARIANTS) {
      const { exit, out, err } = await egretta('plan', '-o', 'json', ...paths, ...variant.map((word) => words[word] ?? word))
      expect({ exit: exit === 0 || exit === 3, err }).toEqual({ exit: true, err: '' })
      expect(validate(JSON.parse(out)), `${variant.join(' ')}: ${JSON.stringify(validate.errors)}`).toBe(true)
    }
  })
})
