import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from './tree.js'

/** A project that uses the package as its README says, compiled as strictly as TypeScript can. */
const APP = `import { EgressApp, EgressCluster, EgressIP, NO_OPTIONS, readSources, type LabelSelectorProps, type PlacementOptions } from 'egretta'

const app = new EgressApp({ outdir: 'out' })
const { files, problems } = readSources(['topology'], 'topology')
const options: PlacementOptions = { ...NO_OPTIONS, drain: ['node-a'] }
new EgressCluster(app, 'demo', { topology: files, problems, options })
const cluster = new EgressCluster(app, 'other', { topology: files, problems, options: { rebalance: 3 } })
const selector: LabelSelectorProps = { matchExpressions: [{ key: 'env', operator: 'In', values: ['prod'] }] }
new EgressIP(cluster, 'shop', { egressIPs: ['192.0.2.50'], namespaceSelector: selector, podSelector: {} })
app.synth()
`
const CONFIG = {
  compilerOptions: {
    module: 'NodeNext',
    target: 'ES2023',
    lib: ['ES2023'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    types: [],
  },
  files: ['app.ts'],
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'egretta-package-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' })
  return stdout
}

/** Puts a package of the checkout where an installation would put it. */
function install(name: string): void {
  const at = join(folder, 'node_modules', name)
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules', name), at)
}

describe('the package as npm packs it', () => {
  it('has types that a strict project compiles against, which checks those of its dependencies too', () => {
    const [packed] = JSON.parse(run('npm', 'pack', ROOT, '--ignore-scripts', '--json', '--pack-destination', folder)) as [
      { filename: string },
    ]
    const own = join(folder, 'node_modules/egretta')
    mkdirSync(own, { recursive: true })
    run('tar', '-xzf', packed.filename, '-C', own, '--strip-components=1')
    const { dependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
    for (const name of Object.keys(dependencies)) install(name)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG))
    writeFileSync(join(folder, 'app.ts'), APP)
    run(process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.')
  })
})
