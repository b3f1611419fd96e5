import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { NODE, writeBundle } from './bundles.js'
import { type Node, openNode } from './node.js'

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'agent', 'main.ts')

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'egretta-agent', () => {
  let node: Node
  beforeAll(() => {
    node = openNode('main')
    chmodSync(node.folder, 0o755)
  })
  afterAll(() => node?.close())

  function agent(args: readonly string[], env: Readonly<Record<string, string>> = {}, before: readonly string[] = []) {
    const [enter = '', ...words] = [...node.prefix, ...before, process.execPath, '--import', 'tsx', MAIN, ...args]
    const { status, stdout, stderr } = spawnSync(enter, words, {
      encoding: 'utf8',
      env: { ...process.env, OVS_RUNDIR: node.ovs.rundir, ...env },
    })
    return { status, stdout, stderr }
  }
  const usual = () => ['--bundle', node.bundle, '--node', NODE, '--state-dir', node.stateDir]

  it('prints what differs as text and as JSON, and says it with its exit code', () => {
    const text = agent(['diff', ...usual()])
    expect(text).toMatchObject({ status: 2, stderr: '' })
    expect(text.stdout).toMatch(/^ {2}\+ neighbors {2}169\.254\.0\.1 dev br-ex lladdr 0a:58:a9:fe:00:01\n/)
    expect(text.stdout).toMatch(/\nnode-a \(steady\): 4 to add, 0 to update, 0 to delete\.\n$/)
    const json = agent(['diff', ...usual(), '-o', 'json', '--phase', 'shutdown'])
    expect(json.status).toBe(2)
    const report = JSON.parse(json.stdout) as {
      kind: string
      node: string
      phase: string
      changes: readonly object[]
      pending: unknown
      problems: unknown
    }
    expect(report).toMatchObject({ kind: 'Change', node: NODE, phase: 'shutdown', pending: [], problems: [] })
    expect(report.changes).toContainEqual({
      subsystem: 'addresses',
      op: 'add',
      key: '192.0.2.50/32 dev br-ex',
      entry: { address: '192.0.2.50/32', dev: 'br-ex', for: 'EgressIP/eip-a' },
      from: null,
    })
    expect(report.changes).toContainEqual(
      expect.objectContaining({ subsystem: 'openflow', op: 'add', entry: expect.objectContaining({ cookie: '0x305', actions: 'drop' }) }),
    )
  })

  it('applies, then has nothing to do', () => {
    expect(agent(['apply', ...usual()])).toMatchObject({ status: 0, stderr: '' })
    expect(agent(['apply', ...usual()])).toEqual({ status: 0, stdout: 'node-a (steady): no changes.\n', stderr: '' })
  })

  it('knows its node from the environment, and refuses another', () => {
    const [, bundle = ''] = usual()
    expect(agent(['diff', '--bundle', bundle, '--state-dir', node.stateDir], { EGRETTA_NODE: NODE }).status).toBe(0)
    const other = agent(['apply', '--bundle', bundle, '--state-dir', node.stateDir, '-o', 'json'], { EGRETTA_NODE: 'node-b' })
    expect(other.status).toBe(1)
    expect(JSON.parse(other.stdout)).toMatchObject({ kind: 'Change', changes: [], problems: [{ code: 'WrongNode', severity: 'error' }] })
    expect(other.stderr).toMatch(/^error WrongNode: .*\n {2}→ Take the folder of this node/)
  })

  it('refuses what it does not understand', () => {
    for (const wrong of [['--phase', 'idle'], ['--max-remove', '101'], ['--max-remove', 'x'], ['--flush']]) {
      expect(agent(['apply', ...usual(), ...wrong]).status).toBe(1)
    }
    expect(agent(['apply']).status).toBe(1)
  })

  it('says so when it may not', () => {
    writeBundle(node.bundle, { egress: ['192.0.2.51'] })
    const powerless = ['setpriv', '--inh-caps=-all', '--bounding-set=-all']
    for (const command of ['diff', 'apply']) {
      const refused = agent([command, ...usual()], {}, powerless)
      expect(refused.status).toBe(1)
      expect(refused.stderr).toMatch(/error NoPermission: .*\n {2}→ Run as root/)
    }
  })

  it('does its work though nobody reads what it prints', () => {
    writeBundle(node.bundle, { egress: ['192.0.2.52', '192.0.2.11'] })
    const command = [...node.prefix, process.execPath, '--import', 'tsx', MAIN, 'diff', ...usual()].map((word) => `'${word}'`).join(' ')
    const script = `{ ${command}; echo "$?" >&3; } 3>"$1" 2>&1 | true`
    const result = join(node.folder, 'status')
    spawnSync('sh', ['-c', script, 'sh', result], { env: { ...process.env, OVS_RUNDIR: node.ovs.rundir, NODE_OPTIONS: '' } })
    expect(readFileSync(result, 'utf8')).toBe('1\n')
    const closed = spawnSync('sh', ['-c', `exec ${command} <&- >&- 2>&-`], { env: { ...process.env, OVS_RUNDIR: node.ovs.rundir } })
    expect(closed.status).toBe(1)
    writeBundle(node.bundle, { egress: ['192.0.2.51'] })
  })

  it('lets two that start at once work one after the other', async () => {
    const reports = await Promise.all([node.agent('apply'), node.agent('apply')])
    expect(reports.map(({ exitCode, problems }) => ({ exitCode, problems }))).toEqual([
      { exitCode: 0, problems: [] },
      { exitCode: 0, problems: [] },
    ])
    expect(reports.map(({ changes }) => changes.length).sort()).toEqual([0, 3])
  })
})
