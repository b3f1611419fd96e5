import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './tree.js'

/** Runs scripts/test.mjs on a project that has these test files only. */
function runTests(files: Record<string, string>, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'egretta-count-'))
  mkdirSync(join(folder, 'scripts'))
  cpSync(join(ROOT, 'scripts/test.mjs'), join(folder, 'scripts/test.mjs'))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), `import { it } from 'vitest'\n${text}\n`)
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(CI|VITEST.*|NODE_ENV)$/.test(name)))
  const { status, stdout } = spawnSync(process.execPath, [join(folder, 'scripts/test.mjs')], {
    encoding: 'utf8',
    env: { ...clean, ...env },
  })
  rmSync(folder, { recursive: true })
  return { status, last: stdout.trimEnd().split('\n').at(-1) }
}

describe('the last line of npm test', () => {
  it('counts what passed', () => {
    expect(runTests({ 'a.test.ts': "it('a', () => {})\nit('b', () => {})" })).toEqual({ status: 0, last: '2 passed, 0 failed' })
  })

  it('counts what failed, and a file that does not load', () => {
    const files = { 'a.test.ts': "it('a', () => { throw new Error('a') })\nit('b', () => {})", 'b.test.ts': "import './gone.js'" }
    expect(runTests(files)).toEqual({ status: 1, last: '1 passed, 2 failed' })
  })

  it('does not call it fine that nothing ran', () => {
    expect(runTests({})).toEqual({ status: 1, last: '0 passed, 1 failed' })
  })

  it('fails on an error outside of the tests', () => {
    const text =
      "it('a', () => { setTimeout(() => { throw new Error('late') }, 1) })\nit('b', () => new Promise((done) => setTimeout(done, 50)))"
    expect(runTests({ 'a.test.ts': text })).toEqual({ status: 1, last: '2 passed, 1 failed' })
  })

  it('lets tests be left out, but not in CI', () => {
    const files = { 'a.test.ts': "it('a', () => {})\nit.skip('b', () => {})\nit.todo('c')" }
    expect(runTests(files)).toEqual({ status: 0, last: '1 passed, 0 failed' })
    expect(runTests(files, { CI: 'true' })).toEqual({ status: 1, last: '1 passed, 2 failed' })
  })
})
