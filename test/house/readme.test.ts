import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownFiles, ROOT } from './tree.js'

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => String(text))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'egretta-readme-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** What somebody who ran an example left in it. */
const LEFT_BEHIND = /[/]examples[/][^/]+[/](egretta[.]lock[.]json|out)$/

const CONSOLE = /^```console\n(.*?)^```$/gms
const UPDATE = process.env.EGRETTA_GOLDEN === 'update'

/** What the commands of each block print, all of them run in one session. */
function session(shown: readonly string[]): readonly string[] {
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true, filter: (path) => !LEFT_BEHIND.test(path) })
  mkdirSync(join(folder, 'bin'))
  symlinkSync(join(ROOT, 'dist/cli/main.js'), join(folder, 'bin/egretta'))
  const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`, NO_COLOR: '1' }
  const commands = (block: string) => block.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []))
  const script = shown.map((block) => commands(block).map((command) => `printf '$ %s\\n' '${command}'\n${command} 2>&1\n`))
  const { stdout } = spawnSync('sh', ['-c', script.map((lines) => lines.join('')).join("printf '\\036'\n")], {
    cwd: folder,
    encoding: 'utf8',
    env,
  })
  return stdout.split('\x1e')
}

describe('the console of the README', () => {
  it('shows what the commands print', () => {
    const shown = blocks('console')
    const printed = session(shown)
    expect(printed.join('')).toMatch(/^\$ egretta plan\nPlan for /m)
    if (UPDATE) {
      const each = printed.values()
      writeFileSync(
        join(ROOT, 'README.md'),
        readme.replace(CONSOLE, () => `\`\`\`console\n${each.next().value}\`\`\``),
      )
    } else expect(shown, 'npm run golden rewrites it').toEqual(printed)
  })
})

describe('the library example of the README', () => {
  it('is a cdk8s app that writes out/ as it stands', () => {
    const [app = '', ...others] = blocks('ts')
    expect(others).toEqual([])
    expect(app.trimEnd().split('\n').length).toBeLessThanOrEqual(12)
    mkdirSync(join(folder, 'app/node_modules'), { recursive: true })
    symlinkSync(ROOT, join(folder, 'app/node_modules/egretta'))
    cpSync(join(ROOT, 'examples/kind-3-nodes/topology'), join(folder, 'app/topology'), { recursive: true })
    writeFileSync(join(folder, 'app/app.mjs'), app)
    const { status, stderr } = spawnSync(process.execPath, ['app.mjs'], { cwd: join(folder, 'app'), encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(readdirSync(join(folder, 'app/out')).sort()).toEqual(['index.json', 'manifests', 'nodes'])
    expect(readFileSync(join(folder, 'app/out/manifests/EgressIP.orders.yaml'), 'utf8')).toContain('- 192.0.2.80')
  })
})

describe('links of the documents', () => {
  it('point to files that are there', () => {
    const links = ownFiles()
      .filter((file) => file.endsWith('.md'))
      .flatMap((document) => {
        const targets = [...readFileSync(join(ROOT, document), 'utf8').matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, target]) =>
          String(target),
        )
        return targets.filter((target) => !/^https?:/.test(target)).map((target) => join(document, '..', target))
      })
    expect(links.length).toBeGreaterThan(5)
    expect(links.filter((target) => !existsSync(join(ROOT, target)))).toEqual([])
  })
})
