import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../src/cli/program.js'
import { PLAIN } from '../../src/plan/style.js'
import { clusterObject, egressIPObject, NODES, namespaceObject } from '../constructs/sources.js'
import { egretta } from './terminal.js'

const ROOT = join(import.meta.dirname, '../..')
const LOCK = 'egretta.lock.json'
const SHOP = namespaceObject('shop', { env: 'prod' })

let folder: string
const before = process.cwd()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'egretta-cli-'))
  process.chdir(folder)
})
afterEach(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true, force: true })
})

function project(...intent: readonly object[]): void {
  for (const [role, objects] of [['intent', intent] as const, ['topology', [...NODES, SHOP]] as const]) {
    mkdirSync(role, { recursive: true })
    writeFileSync(join(role, 'all.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
  }
}

/** Path below a folder to text. */
function tree(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const full = files.map((entry) => join(entry.parentPath, entry.name)).sort()
  return Object.fromEntries(full.map((file) => [file.slice(path.length + 1), readFileSync(file, 'utf8')]))
}

describe('egretta synth', () => {
  it('writes out/ and the lock, and then changes nothing', async () => {
    project(egressIPObject('eip', ['192.0.2.50', '2001:db8:1::50']))
    const first = await egretta('synth')
    expect(first).toMatchObject({ exit: 0, err: '', out: `out: 2 addresses on 3 nodes; ${LOCK} written\n` })
    const [files, lock] = [tree('out'), readFileSync(LOCK, 'utf8')]
    expect(await egretta('synth')).toMatchObject({ exit: 0, out: 'out: 2 addresses on 3 nodes\n' })
    expect(tree('out')).toEqual(files)
    expect(readFileSync(LOCK, 'utf8')).toBe(lock)
    expect((await egretta('plan')).out).toContain('No changes.')
    expect(readdirSync('.').sort()).toEqual([LOCK, 'intent', 'out', 'topology'])
  })
  it('writes what is valid when there are errors, the lock too, and exits 3', async () => {
    project(egressIPObject('eip', ['192.0.2.50', 'oops']))
    const { exit, err } = await egretta('synth', '--out', 'elsewhere')
    expect(exit).toBe(3)
    expect(err).toContain('error InvalidAddress eip')
    expect(Object.keys(tree('elsewhere'))).toContain('manifests/EgressIP.eip.yaml')
    expect(existsSync(LOCK)).toBe(true)
  })
  it('leaves the old folder and the lock when a file does not parse', async () => {
    project(egressIPObject('eip', ['192.0.2.50']))
    await egretta('synth')
    const [files, lock] = [tree('out'), readFileSync(LOCK, 'utf8')]
    writeFileSync('intent/bad.yaml', 'a: [')
    const { exit, err } = await egretta('synth')
    expect(exit).toBe(1)
    expect(err).toMatch(/intent\/bad\.yaml:1:\d+: error UnreadableInput/)
    expect(err).toMatch(/nothing was written\n$/)
    expect(tree('out')).toEqual(files)
    expect(readFileSync(LOCK, 'utf8')).toBe(lock)
  })
  it('refuses a folder with a file that is not its own, before it writes anything', async () => {
    project(egressIPObject('eip', ['192.0.2.50']))
    mkdirSync('out')
    writeFileSync('out/notes.txt', 'mine')
    const { exit, err } = await egretta('synth')
    expect(exit).toBe(1)
    expect(err).toContain('egretta: out holds files that egretta did not write: out/notes.txt; move them away')
    expect(err).not.toContain('    at ')
    expect(tree('.')).not.toHaveProperty(LOCK)
    expect((await egretta('synth', '--out', '.')).exit).toBe(1)
  })
  it('writes nothing beside another run, and nothing over a lock that another run has written since', async () => {
    project(egressIPObject('eip', ['192.0.2.50']))
    const lock = join(realpathSync('.'), '.out.egretta-lock')
    symlinkSync(`1@${hostname()}`, lock)
    expect(await egretta('synth')).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/^egretta: another egretta \(process 1 on .* is writing out; run again/),
    })
    expect(existsSync(LOCK)).toBe(false)
    rmSync(lock)
    let err = ''
    const add = (text: string) => {
      err += text
    }
    const progress = () => writeFileSync(LOCK, '{}')
    expect(await run(['synth'], { out: add, err: add, progress, style: PLAIN, errorStyle: PLAIN })).toBe(1)
    expect(err).toBe('egretta: egretta.lock.json was changed while egretta worked; run again; nothing was written\n')
    expect(existsSync('out')).toBe(false)
  })
  it('--frozen writes nothing and exits 2 when the lock would change', async () => {
    project(egressIPObject('eip', ['192.0.2.50']))
    const { exit, err } = await egretta('synth', '--frozen')
    expect(exit).toBe(2)
    expect(err).toContain(`${LOCK} would change; nothing was written`)
    expect(readdirSync('.').sort()).toEqual(['intent', 'topology'])
    await egretta('synth')
    rmSync('out', { recursive: true })
    expect((await egretta('synth', '--frozen')).exit).toBe(0)
    expect(existsSync('out/index.json')).toBe(true)
    project(egressIPObject('eip', ['192.0.2.50', '192.0.2.51']))
    expect((await egretta('synth', '--frozen')).exit).toBe(2)
  })
  it('keeps no lock with a PATH unless it is named', async () => {
    writeFileSync(
      'dump.json',
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...NODES, SHOP, egressIPObject('eip', ['192.0.2.50'])] }),
    )
    expect((await egretta('synth', 'dump.json')).exit).toBe(0)
    expect(existsSync(LOCK)).toBe(false)
    expect(await egretta('synth', 'dump.json', '--frozen')).toMatchObject({ exit: 1, err: expect.stringContaining('--lock FILE') })
    expect((await egretta('synth', 'dump.json', '--lock', 'deep/my.lock')).exit).toBe(0)
    expect(existsSync('deep/my.lock')).toBe(true)
  })
  it('prints the plan that it wrote as JSON', async () => {
    project(egressIPObject('eip', ['192.0.2.50']))
    const { exit, out } = await egretta('synth', '-o', 'json')
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ kind: 'Plan', summary: { added: 1 } })
  })
  it('remembers a removal until the cluster has deleted the object', async () => {
    const live = (name: string, address: string, node: string) =>
      egressIPObject(name, [address], { status: { items: [{ egressIP: address, node }] } })
    const cluster = [live('eip-a', '192.0.2.50', 'node-a'), live('eip-b', '192.0.2.60', 'node-b')]
    project(egressIPObject('eip-a', ['192.0.2.50']), egressIPObject('eip-b', ['192.0.2.60']))
    writeFileSync('topology/egressips.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: cluster }))
    await egretta('synth')
    project(egressIPObject('eip-a', ['192.0.2.50']))
    expect((await egretta('plan')).out).toContain('  - 192.0.2.60  eip-b  from node-b\n')
    await egretta('synth')
    const files = tree('out')
    expect(files['nodes/node-b/addresses.json']).not.toContain('EgressIP/')
    expect(await egretta('synth', '--frozen')).toMatchObject({ exit: 0, out: 'out: 1 address on 3 nodes\n' })
    expect(tree('out')).toEqual(files)
    writeFileSync('topology/egressips.json', JSON.stringify(cluster[0]))
    await egretta('synth')
    expect(Object.keys(JSON.parse(readFileSync(LOCK, 'utf8')).objects)).toEqual(['eip-a'])
    expect((await egretta('plan')).out).toContain('No changes.')
  })
  it('writes no lock for a project without objects', async () => {
    project(clusterObject({ placement: 'enforced' }))
    expect((await egretta('synth')).exit).toBe(0)
    expect(existsSync(LOCK)).toBe(false)
  })
})

describe('cdk8s synth', () => {
  const program = join(ROOT, 'dist/main.js')
  const environment = { ...process.env, CDK8S_CHECK_UPGRADE: 'false', CI: 'true' }
  const run = (command: string, ...args: readonly string[]) => spawnSync(command, args, { encoding: 'utf8', env: environment })

  it('gives the bytes of egretta synth', async () => {
    expect(existsSync(program), 'dist/main.js is not built; run npm run build').toBe(true)
    cpSync(join(ROOT, 'examples/kind-3-nodes'), 'demo', {
      recursive: true,
      filter: (path) => !path.endsWith('expected') && !path.endsWith(LOCK),
    })
    writeFileSync('cdk8s.yaml', `language: typescript\napp: node "${program}" demo\noutput: out\n`)
    const { status, stderr, stdout } = run(process.execPath, join(ROOT, 'node_modules/.bin/cdk8s'), 'synth')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('out/manifests/EgressIP.payments.yaml')
    const [written, lock] = [tree('out'), readFileSync(join('demo', LOCK), 'utf8')]
    rmSync(join('demo', LOCK))
    process.chdir('demo')
    expect((await egretta('synth', '--out', '../ours')).exit).toBe(0)
    expect(tree('../ours')).toEqual(written)
    expect(readFileSync(LOCK, 'utf8')).toBe(lock)
  })
  it('fails with the exit code and the problems of the app', () => {
    project(egressIPObject('eip', ['192.0.2.50', 'oops']))
    const errors = run(process.execPath, program)
    expect(errors.status).toBe(3)
    expect(errors.stderr).toContain('error InvalidAddress eip')
    expect(Object.keys(tree('out'))).toContain('index.json')
    writeFileSync('intent/bad.yaml', 'a: [')
    expect(run(process.execPath, program).status).toBe(1)
    const nowhere = run(process.execPath, program, 'nowhere')
    expect(nowhere.status).toBe(1)
    expect(nowhere.stderr).toMatch(/^egretta: nowhere\/intent and nowhere\/topology are not there/)
  })
})
