import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { NO_CHECKS } from '../../src/agent/checks.js'
import { type Daemon, type DaemonOptions, startDaemon } from '../../src/agent/daemon.js'
import { remembering } from '../../src/agent/remember.js'
import type { Report } from '../../src/agent/run.js'
import { openSource } from '../../src/agent/source.js'
import type { Problem } from '../../src/model/problem.js'
import { addBridge, addPatch } from '../lab/ovs.js'
import { describeWith } from '../requires.js'
import { BRIDGE, NODE, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'an agent that keeps a node', () => {
  let node: Node
  let daemon: Daemon | null
  let reports: Report[]
  let complaints: Problem[]
  beforeEach(() => {
    node = openNode('daemon')
    daemon = null
    reports = []
    complaints = []
  })
  afterEach(async () => {
    await daemon?.stop()
    node?.close()
  })

  const start = async (over: Partial<DaemonOptions> = {}) => {
    const exec = { prefix: node.prefix }
    const source = openSource(join(node.folder, 'out'), { node: NODE, stateDir: node.stateDir, home: null, exec })
    if (!source) throw new Error('no source')
    daemon = await startDaemon({
      source,
      node: NODE,
      version: '0.0.0',
      stateDir: node.stateDir,
      rundir: node.ovs.rundir,
      maxRemove: 50,
      onTerm: 'leave',
      settle: 200,
      check: null,
      listen: null,
      period: 60_000,
      exec,
      told: (report) => reports.push(report),
      complained: (problems) => complaints.push(...problems),
      ...over,
    })
    return daemon
  }
  const until = async (what: string, look: () => boolean) => {
    for (const started = Date.now(); !look(); await sleep(20)) {
      if (Date.now() - started > 20_000) throw new Error(`no ${what}: ${JSON.stringify([reports.map(summary).slice(-3), complaints])}`)
    }
  }
  const last = () => reports.at(-1)
  const steady = () => until('steady phase', () => last()?.phase === 'steady' && last()?.exitCode === 0)
  const flows = () => node.ovs.ofctl('dump-flows', BRIDGE, '--no-stats', '--no-names')
  const table = () => node.namespace.exec('nft', ['list', 'tables']).stdout.includes('ovn-kubernetes-egressip')
  const addresses = () => node.namespace.exec('ip', ['-o', 'addr', 'show', 'dev', BRIDGE]).stdout
  const undone = () => `${node.state()}`

  it('starts with the guard of announcements, and removes it once the entries have been there for a while', async () => {
    await start()
    await steady()
    expect(reports[0]?.phase).toBe('startup')
    expect(summary(reports[0] as Report).changes.filter((change) => change.includes('priority=498')).length).toBeGreaterThan(0)
    expect(flows()).not.toContain('0x305')
    expect(addresses()).toContain('192.0.2.50')
  })

  it('waits for its check, and takes an nft guard away only then', async () => {
    await node.agent('apply', { phase: 'shutdown' })
    const flag = join(node.folder, 'synced')
    await start({ check: ['test', '-e', flag] })
    await until('pass', () => reports.length > 0)
    await sleep(1500)
    expect(last()?.phase).toBe('startup')
    expect(table()).toBe(true)
    expect(flows()).toContain('0x305')
    node.namespace.exec('touch', [flag])
    await steady()
    expect(table()).toBe(false)
  })

  it('repairs whatever goes, at once, and touches nothing else', async () => {
    writeBundle(node.bundle, { flows: 5, secondary: [] })
    node.namespace.exec('nft', ['add table inet theirs'])
    await start()
    await steady()
    const whole = undone()
    const losses: readonly (() => void)[] = [
      () => node.namespace.exec('ip', ['addr', 'del', '192.0.2.50/32', 'dev', BRIDGE]),
      () => node.namespace.exec('ip', ['neigh', 'flush', 'dev', BRIDGE, 'nud', 'permanent']),
      () => node.ovs.ofctl('del-flows', BRIDGE, 'table=9'),
      () => node.namespace.exec('nft', ['delete table inet egretta']),
    ]
    for (const lose of losses) {
      lose()
      expect(undone()).not.toBe(whole)
      await until('repair', () => undone() === whole)
    }
  })

  it('repairs a bridge that was deleted and made again', async () => {
    writeBundle(node.bundle, { flows: 5 })
    await start()
    await steady()
    node.ovs.vsctl('del-br', BRIDGE)
    await until('loss', () => last()?.exitCode === 4)
    addBridge(node.namespace, node.ovs, BRIDGE, '02:00:00:00:00:01')
    node.ovs.vsctl('del-port', 'br-int', `patch-br-int-to-${BRIDGE}_${NODE}`)
    addPatch(node.ovs, BRIDGE, NODE)
    node.namespace.exec('ip', ['addr', 'add', '192.0.2.11/24', 'dev', BRIDGE])
    node.namespace.exec('ip', ['addr', 'add', '2001:db8::11/64', 'dev', BRIDGE, 'nodad'])
    await until('repair', () => flows().includes('table=9') && addresses().includes('192.0.2.50'))
  })

  it('applies what its source says, keeps the last good one where it says nonsense, and goes on repairing it', async () => {
    await start()
    await steady()
    writeBundle(node.bundle, { egress: ['192.0.2.50', '192.0.2.60'] })
    // A pass is over when it is told: one that is stopped before leaves the bundle before it as the applied one.
    const came = () => last()?.exitCode === 0 && last()?.changes.some(({ key }) => key.includes('192.0.2.60'))
    await until('new bundle', () => came() === true)
    const before = reports.length
    rmSync(join(node.bundle, 'addresses.json'))
    await until('complaint', () => complaints.length > 0)
    expect(complaints[0]).toMatchObject({ code: 'InvalidBundle' })
    node.namespace.exec('ip', ['addr', 'del', '192.0.2.60/32', 'dev', BRIDGE])
    await until('repair', () => reports.length > before && came() === true)
    rmSync(join(node.folder, 'out'), { recursive: true })
    await daemon?.stop()
    node.namespace.exec('ip', ['addr', 'del', '192.0.2.60/32', 'dev', BRIDGE])
    await start()
    await until('repair without a source', () => addresses().includes('192.0.2.60'))
  })

  it('applies the bundle before again where the new one is refused', async () => {
    writeBundle(node.bundle, { flows: 40 })
    await start()
    await steady()
    writeBundle(node.bundle, { flows: 2, egress: ['192.0.2.60'] })
    await until('refusal', () => last()?.problems.some(({ code }) => code === 'TooManyRemovals') === true)
    node.ovs.ofctl('del-flows', BRIDGE, 'table=9')
    await until('repair', () => flows().split('table=9').length === 41)
    expect(addresses()).not.toContain('192.0.2.60')
  })

  it('tries a bundle that a check has put back more and more seldom, and keeps the one before it up meanwhile', async () => {
    const ok = join(node.folder, 'ok')
    await start({
      checks: { ...NO_CHECKS, command: ['sh', '-c', `! ip address show dev ${BRIDGE} | grep -q 192.0.2.60 || test -e ${ok}`] },
    })
    await steady()
    writeBundle(node.bundle, { egress: ['192.0.2.50', '192.0.2.60'] })
    const failed = () => reports.filter(({ problems }) => problems.some(({ code }) => code === 'CheckFailed')).length
    await until('second try', () => failed() === 2)
    node.namespace.exec('ip', ['addr', 'del', '192.0.2.50/32', 'dev', BRIDGE])
    await sleep(1200)
    expect(addresses()).toContain('192.0.2.50')
    expect(failed(), 'tries within a second after the second one').toBe(2)
    writeFileSync(ok, '')
    await until('third try', () => last()?.exitCode === 0)
    expect(addresses()).toContain('192.0.2.60')
  })

  it('lets the node fall silent when it is told so by another process, and speak again', async () => {
    await start()
    await steady()
    const place = { bundle: node.bundle, node: NODE, stateDir: node.stateDir }
    await remembering({ ...place, phase: 'shutdown' }, () => node.agent('apply', { phase: 'shutdown' }))
    await until('shutdown phase', () => last()?.phase === 'shutdown')
    node.namespace.exec('nft', ['flush ruleset'])
    await until('guard', table)
    await remembering({ ...place, phase: 'steady' }, () => node.agent('apply'))
    await steady()
    expect(table()).toBe(false)
  })

  it('falls silent when it stops, with guard, and changes nothing with leave', async () => {
    await start({ onTerm: 'leave' })
    await steady()
    const before = node.state()
    expect(await daemon?.stop()).toBe(null)
    expect(node.state()).toBe(before)
    await start({ onTerm: 'guard' })
    await until('first pass', () => reports.at(-1)?.phase === 'startup')
    const report = await daemon?.stop()
    expect(report).toMatchObject({ phase: 'shutdown', exitCode: 0 })
    expect(table()).toBe(true)
    expect(flows()).toContain('0x305')
    daemon = null
    await start()
    await steady()
    expect(table()).toBe(false)
  })

  it('is alone on a host', async () => {
    await start()
    const first = daemon
    await expect(start()).rejects.toThrow('another egretta-agent run is on this host already')
    daemon = first
  })

  it('does not get stuck behind a program that hangs', async () => {
    await start({ check: ['sleep', '60'], onTerm: 'guard' })
    await until('pass', () => reports.length > 0)
    node.namespace.exec('ip', ['addr', 'del', '192.0.2.50/32', 'dev', BRIDGE])
    await until('repair', () => addresses().includes('192.0.2.50'))
    expect(last()?.phase).toBe('startup')
  })
})
