import { afterAll, beforeEach, expect, it } from 'vitest'
import { NO_CHECKS } from '../../src/agent/checks.js'
import { describeWith } from '../requires.js'
import { BRIDGE, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'a check after a pass', () => {
  let node: Node
  beforeEach(() => {
    node?.close()
    node = openNode('checks')
    writeBundle(node.bundle, { flows: 3 })
  })
  afterAll(() => node?.close())

  const checked = (...command: readonly string[]) => ({ checks: { ...NO_CHECKS, command } })

  it('that fails has the host put back, and says what it said', async () => {
    const before = node.state()
    const report = await node.agent('apply', checked('ls', '/no such file'))
    expect(summary(report)).toMatchObject({ exitCode: 1, changes: [], problems: ['CheckFailed'] })
    expect(report.problems[0]?.message).toMatch(/^after the pass "ls \/no such file" ended with 2: ls: .*No such file/)
    expect(node.state()).toBe(before)
    expect(report.seen?.held, 'reported after it was put back').toEqual([])
    const missing = await node.agent('apply', checked('no-such-program'))
    expect(missing.problems).toMatchObject([{ code: 'CheckFailed', message: expect.stringContaining('no-such-program is not installed') }])
    expect(node.state()).toBe(before)
  })

  it('that fails leaves what the node was to give up, and lets it speak again', async () => {
    expect((await node.agent('apply')).exitCode).toBe(0)
    const before = node.state()
    writeBundle(node.bundle, { egress: ['192.0.2.60'] })
    expect(summary(await node.agent('apply', checked('false')))).toMatchObject({ exitCode: 1, problems: ['CheckFailed'] })
    expect(node.state()).toBe(before)
  })

  it('sees the host as it is after the pass, and is not asked where nothing changes', async () => {
    const there = ['sh', '-c', `ip address show dev ${BRIDGE} | grep -q 192.0.2.50`]
    expect((await node.agent('apply', checked(...there))).exitCode).toBe(0)
    expect(summary(await node.agent('apply', checked('false')))).toMatchObject({ exitCode: 0, changes: [] })
  })

  it('that leaves something running keeps no other agent waiting', async () => {
    expect((await node.agent('apply', checked('sh', '-c', 'sleep 100 >/dev/null 2>&1 &'))).exitCode).toBe(0)
    expect(node.namespace.processes().length).toBeGreaterThan(2)
    expect(summary(await node.agent('apply'))).toEqual({ exitCode: 0, changes: [], pending: [], problems: [] })
  })

  it('does not keep a node from leaving, nor does diff ask it', async () => {
    expect((await node.agent('apply', { phase: 'shutdown', ...checked('false') })).exitCode).toBe(0)
    writeBundle(node.bundle, { flows: 4 })
    expect((await node.agent('diff', checked('touch', `${node.folder}/asked`))).exitCode).toBe(2)
    expect(node.namespace.exec('ls', [node.folder]).stdout).not.toContain('asked')
  })

  it('of the default gateway asks for it on its wire', async () => {
    const gateway = { checks: { ...NO_CHECKS, gateway: true } }
    expect((await node.agent('apply', gateway)).exitCode, 'without a gateway').toBe(0)
    node.namespace.exec('ip', ['route', 'add', 'default', 'via', '192.0.2.1', 'dev', BRIDGE])
    writeBundle(node.bundle, { flows: 5 })
    const before = node.state()
    const report = await node.agent('apply', gateway)
    expect(report.problems).toMatchObject([
      { code: 'CheckFailed', message: 'after the pass the default gateway 192.0.2.1 does not answer' },
    ])
    expect(node.state()).toBe(before)
  })
})
