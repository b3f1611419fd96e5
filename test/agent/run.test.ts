import { type ChildProcess, execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { BRIDGE, NODE, writeBundle } from './bundles.js'
import { type Node, openNode } from './node.js'

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'agent', 'main.ts')
const TSX = join(import.meta.dirname, '..', '..', 'node_modules', 'tsx', 'dist', 'esm', 'index.mjs')

describeWith(['root', 'linux', 'ip', 'nft', 'ovs', 'git'], 'egretta-agent run', () => {
  let node: Node
  let started: ChildProcess[]
  beforeEach(() => {
    node = openNode('run')
    started = []
  })
  afterEach(() => {
    for (const child of started) child.kill('SIGKILL')
    node?.close()
  })

  const words = (args: readonly string[]) => ['--import', TSX, MAIN, ...args, '--node', NODE, '--state-dir', node.stateDir]
  const once = (...args: readonly string[]) => {
    const { status, stdout, stderr } = node.namespace.exec(process.execPath, words(args), {
      env: { OVS_RUNDIR: node.ovs.rundir },
      mayFail: true,
    })
    return { status, stdout, stderr }
  }
  const start = (source: string, ...args: readonly string[]) => {
    // Nothing of where it is started counts: no terminal, no locale, no PATH, no current folder.
    const bare = ['LANG=tr_TR.UTF-8', 'PATH=/nowhere', `OVS_RUNDIR=${node.ovs.rundir}`, process.execPath]
    const run = ['run', '--source', source, '--settle', '0', '--listen', 'none', ...args]
    const child = node.namespace.spawn('env', ['-i', ...bare, ...words(run)], { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
    started.push(child)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes: Buffer) => {
        said += bytes.toString()
      })
    }
    const ended = new Promise<number | NodeJS.Signals | null>((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)))
    return { child, ended, said: () => said }
  }
  const until = async (what: string, look: () => boolean, said = () => '') => {
    for (const began = Date.now(); !look(); await sleep(20)) if (Date.now() - began > 20_000) throw new Error(`no ${what}: ${said()}`)
  }
  const steady = (agent: ReturnType<typeof start>) => until('steady phase', () => agent.said().includes(`${NODE} (steady): `), agent.said)
  const out = () => join(node.folder, 'out')
  const table = () => node.namespace.exec('nft', ['list', 'tables']).stdout.includes('ovn-kubernetes-egressip')
  const addresses = () => node.namespace.exec('ip', ['-o', 'addr', 'show', 'dev', BRIDGE]).stdout

  it('falls silent on SIGTERM, says so, and leaves no process behind', async () => {
    const agent = start(out())
    await steady(agent)
    agent.child.kill('SIGTERM')
    expect(await agent.ended).toBe(0)
    expect(agent.said()).toMatch(/node-a: SIGTERM, falling silent\.\n/)
    expect(agent.said()).toMatch(/node-a \(shutdown\): \d+ to add/)
    expect(table()).toBe(true)
    const left = node.namespace.processes().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0])
    expect(left.filter((name) => !/ovs-vswitchd|ovsdb-server/.test(name ?? ''))).toEqual([])
  })

  it('falls silent though Open vSwitch hangs and a program of the agent with it', async () => {
    const agent = start(out())
    await steady(agent)
    const daemons = ['ovs-vswitchd', 'ovsdb-server'].map((name) => Number(readFileSync(`${node.ovs.rundir}/${name}.pid`, 'utf8')))
    for (const pid of daemons) process.kill(pid, 'SIGSTOP')
    try {
      // A pass begins, and hangs.
      node.namespace.exec('ip', ['addr', 'del', '192.0.2.50/32', 'dev', BRIDGE])
      await sleep(500)
      agent.child.kill('SIGTERM')
      await until('guard', table)
      agent.child.kill('SIGTERM')
      expect(await agent.ended, 'the second signal').toBe(143)
    } finally {
      for (const pid of daemons) process.kill(pid, 'SIGCONT')
    }
  })

  it('changes nothing with leave; killed, it takes its watchers along, and the next one finds no lock', async () => {
    const agent = start(out(), '--on-term', 'leave')
    await steady(agent)
    const second = start(out())
    expect(await second.ended).toBe(1)
    expect(second.said()).toContain('another egretta-agent run is on this host already')
    const before = node.state()
    agent.child.kill('SIGTERM')
    expect(await agent.ended).toBe(0)
    expect(node.state()).toBe(before)
    const killed = start(out())
    await steady(killed)
    killed.child.kill('SIGKILL')
    await killed.ended
    await until('end of the watchers', () => node.namespace.processes().length === 2)
    await steady(start(out()))
  })

  it('shuts down with what it applied last, without its source, and an agent that runs keeps to it', async () => {
    expect(once('shutdown')).toMatchObject({ status: 0, stdout: 'node-a: no bundle was applied here, there is nothing to silence.\n' })
    const agent = start(out(), '--on-term', 'leave')
    await steady(agent)
    rmSync(out(), { recursive: true })
    expect(once('shutdown').status).toBe(0)
    await until('shutdown phase', () => agent.said().includes(`${NODE} (shutdown): `), agent.said)
    expect(table()).toBe(true)
    agent.child.kill('SIGTERM')
    expect(await agent.ended).toBe(0)
    expect(table()).toBe(true)
    await steady(start(out()))
    expect(table()).toBe(false)
  })

  it('gives an address back and takes it again', async () => {
    const agent = start(out())
    await steady(agent)
    expect(once('release', '192.0.2.50').status).toBe(4)
    expect(addresses()).not.toContain('192.0.2.50')
    node.namespace.exec('ip', ['neigh', 'flush', 'dev', BRIDGE, 'nud', 'permanent'])
    await until('repair', () => node.namespace.exec('ip', ['neigh', 'show', 'nud', 'permanent']).stdout.includes('169.254.0.1'))
    expect(addresses()).not.toContain('192.0.2.50')
    expect(once('release', '192.0.2.99')).toMatchObject({ status: 1, stderr: expect.stringContaining('UnknownEgressIP') })
    expect(once('claim', '192.0.2.50').status).toBe(0)
    expect(addresses()).toContain('192.0.2.50')
  })

  it('follows a branch of a git repository, and keeps what it has when that is not to be had', async () => {
    const origin = join(node.folder, 'origin')
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', origin, '-c', 'user.name=N', '-c', 'user.email=n@example.com', ...args], { encoding: 'utf8' }).trim()
    const publish = (egress: readonly string[]) => {
      writeBundle(node.bundle, { egress })
      cpSync(out(), join(origin, 'rendered'), { recursive: true })
      git('add', '--all')
      git('commit', '--quiet', '--message', 'Render')
    }
    mkdirSync(origin)
    git('init', '--quiet', '--initial-branch=main')
    publish(['192.0.2.50'])
    chmodSync(node.folder, 0o755)
    const agent = start(`git+file://${origin}#main:rendered`, '--poll', '0.2', '--on-term', 'leave')
    await steady(agent)
    expect(addresses()).toContain('192.0.2.50')
    publish(['192.0.2.60'])
    await until('next commit', () => addresses().includes('192.0.2.60') && !addresses().includes('192.0.2.50'), agent.said)
    git('reset', '--quiet', '--hard', 'HEAD^')
    await until('complaint', () => agent.said().includes('OlderBundle'), agent.said)
    expect(agent.said()).toMatch(/commit [0-9a-f]{40} came before [0-9a-f]{40}, which was applied; what was applied stays/)
    expect(addresses()).toContain('192.0.2.60')
    git('reset', '--quiet', '--hard', 'ORIG_HEAD')
    writeFileSync(join(origin, 'rendered', 'nodes', NODE, 'addresses.json'), '[]\n')
    git('commit', '--quiet', '--all', '--message', 'Break')
    await until('complaint', () => agent.said().includes('InvalidBundle'), agent.said)
    rmSync(origin, { recursive: true })
    await until('complaint', () => agent.said().includes('git fetch failed'), agent.said)
    node.namespace.exec('ip', ['addr', 'del', '192.0.2.60/32', 'dev', BRIDGE])
    await until('repair', () => addresses().includes('192.0.2.60'), agent.said)
    expect(existsSync(join(node.stateDir, 'applied', 'nodes', NODE, 'bundle.json'))).toBe(true)
  })

  it('refuses what it does not understand', async () => {
    for (const args of [
      ['--settle', '-1'],
      ['--listen', 'everywhere'],
      ['--on-term', 'panic'],
      ['--poll', 'x'],
    ]) {
      expect(await start(out(), ...args).ended, args.join(' ')).toBe(1)
    }
    const named = start('git+https://example.com/x')
    expect(await named.ended).toBe(1)
    expect(named.said()).toContain('names no git repository')
  })
})
