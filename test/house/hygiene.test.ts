import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownFiles, ROOT } from './tree.js'

const files = ownFiles()
const text = (file: string) => readFileSync(join(ROOT, file), 'utf8')
/** Code that a person writes. */
const code = files.filter((file) => /^(src|test|scripts|templates|examples|\.ci)\//.test(file) && file !== 'src/render/templates.ts')
const itself = 'test/house/hygiene.test.ts'

describe('the files of the project', () => {
  it('are there', () => {
    expect(code.length).toBeGreaterThan(30)
  })

  it('of code are at most 300 lines long', () => {
    const long = code
      .filter((file) => /\.(ts|mjs|cjs|hbs)$/.test(file))
      .map((file) => ({ file, lines: text(file).split('\n').length - 1 }))
      .filter(({ lines }) => lines > 300)
    expect(long).toEqual([])
  })

  it('name no path of one machine', () => {
    const machine = /(^|[^\w.<>/])\/(work|home|root|Users)\//m
    expect(files.filter((file) => file !== itself && machine.test(text(file)))).toEqual([])
  })

  it('leave nothing for later', () => {
    expect(code.filter((file) => file !== itself && /\b(TODO|FIXME|XXX|HACK)\b/.test(text(file)))).toEqual([])
  })

  it('are nouns of the field, not managers', () => {
    const vague = /(manager|helper|util|handler|service)/i
    expect(code.filter((file) => file.startsWith('src/') && vague.test(basename(file)))).toEqual([])
  })

  it('have no character that changes how a line is read', () => {
    const hidden = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/
    expect(code.filter((file) => hidden.test(text(file)))).toEqual([])
  })
})

describe('package.json', () => {
  const { dependencies, devDependencies, bin } = JSON.parse(text('package.json')) as Record<string, Record<string, string>>

  it('pins every version exactly', () => {
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
    expect(loose).toEqual([])
  })

  it('names two programs', () => {
    expect(bin).toEqual({ egretta: 'dist/cli/main.js', 'egretta-agent': 'dist/agent/main.js' })
  })
})

describe('generated files', () => {
  it('are those that the code makes now', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/generate.mjs', '--check'], { cwd: ROOT, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})
