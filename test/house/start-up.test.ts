import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from './tree.js'

// Both ways a module gets in: import goes through the hooks, require inside a CommonJS package through its cache.
const TRACE = `
import { createRequire, register } from 'node:module'
import { appendFileSync } from 'node:fs'
const file = process.env.TRACE_FILE
const hooks = \`
import { appendFileSync } from 'node:fs'
export async function load(url, context, next) { appendFileSync(\${JSON.stringify(file)}, url + '\\\\n'); return next(url, context) }\`
register('data:text/javascript,' + encodeURIComponent(hooks))
const { cache } = createRequire(import.meta.url)
process.on('exit', () => appendFileSync(file, Object.keys(cache).join('\\n') + '\\n'))
`

/** Every module that a built program loads before it prints its help. */
function loadedBy(program: string): { loaded: string[]; packages: string[]; help: string } {
  if (!existsSync(join(ROOT, program))) throw new Error(`${program} is not built; run npm run build`)
  const folder = mkdtempSync(join(tmpdir(), 'egretta-trace-'))
  writeFileSync(join(folder, 'trace.mjs'), TRACE)
  const file = join(folder, 'modules')
  const { stdout } = spawnSync(process.execPath, ['--import', join(folder, 'trace.mjs'), join(ROOT, program), '--help'], {
    encoding: 'utf8',
    env: { ...process.env, TRACE_FILE: file },
  })
  const loaded = readFileSync(file, 'utf8').split('\n')
  rmSync(folder, { recursive: true })
  const packages = loaded.map((module) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1] ?? '')
  return { loaded, packages: [...new Set(packages)].filter((name) => name !== '').sort(), help: stdout }
}

describe('egretta-agent', () => {
  let agent: ReturnType<typeof loadedBy>
  beforeAll(() => {
    agent = loadedBy('dist/agent/main.js')
  })

  it('starts, and the trace sees what it loads', () => {
    expect(agent.help).toContain('egretta-agent')
    expect(agent.loaded.some((module) => module.endsWith('dist/agent/main.js'))).toBe(true)
    expect(agent.packages).toContain('commander')
  })

  it('loads commander and nothing else: no cdk8s, no constructs, no handlebars', () => {
    expect(agent.packages).toEqual(['commander'])
  })

  it('loads nothing of the left stair', () => {
    expect(agent.loaded.filter((module) => /\/dist\/(place|compile|render|constructs|cli)\//.test(module))).toEqual([])
  })
})

describe('egretta', () => {
  let cli: ReturnType<typeof loadedBy>
  beforeAll(() => {
    cli = loadedBy('dist/cli/main.js')
  })

  it('starts, and the trace sees what it loads', () => {
    expect(cli.help).toContain('egretta')
    expect(cli.packages).toContain('commander')
  })

  it('does not load client-node', () => {
    expect(cli.packages).not.toContain('@kubernetes/client-node')
  })

  it('loads nothing that touches the host', () => {
    expect(cli.loaded.filter((module) => /\/dist\/(host|agent)\//.test(module))).toEqual([])
  })
})
