import { readFileSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { BRIDGE, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

const CONVERGED = { exitCode: 0, changes: [], pending: [], problems: [] }

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'the phases of a node', () => {
  let node: Node
  let untouched: string
  beforeAll(() => {
    node = openNode('phases')
    // What others have here: a guard must not hit it, and it must come out as it went in.
    node.namespace.exec('nft', ['add table inet theirs; add chain inet theirs c { type filter hook input priority 0; }'])
    node.namespace.exec('ip', ['neigh', 'add', '192.0.2.1', 'lladdr', '02:00:00:00:00:fe', 'dev', BRIDGE, 'nud', 'permanent'])
    // OVN's cookies on br-int look like anything.
    node.ovs.ofctl('add-flow', 'br-int', 'cookie=0xe6e70001,table=3,priority=7,actions=drop')
    node.ovs.ofctl('add-flow', 'br-int', 'cookie=0x305,table=3,priority=8,actions=drop')
    untouched = node.state()
  })
  afterAll(() => node?.close())

  const flows = () => node.ovs.ofctl('dump-flows', BRIDGE, '--no-stats', '--no-names')
  const table = () => node.namespace.exec('nft', ['list', 'tables']).stdout.includes('ovn-kubernetes-egressip')

  it('diff changes nothing and says what differs', async () => {
    const report = summary(await node.agent('diff'))
    expect(report.exitCode).toBe(2)
    expect(report.changes).toEqual([
      'add neighbors 169.254.0.1 dev br-ex',
      'add neighbors fd69::1 dev br-ex',
      'add addresses 192.0.2.50/32 dev br-ex',
      'add addresses 2001:db8::50/128 dev br-ex',
    ])
    expect(node.state()).toBe(untouched)
  })

  it('steady holds the base and no guard, as the kernel should have it', async () => {
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(summary(await node.agent('apply'))).toEqual(CONVERGED)
    const listed = node.namespace.exec('ip', ['-d', 'addr', 'show', 'dev', BRIDGE]).stdout
    expect(listed).toMatch(/inet 192\.0\.2\.50\/32 scope global br-ex\n\s+valid_lft forever preferred_lft forever/)
    expect(listed).toMatch(/inet6 2001:db8::50\/128 scope global nodad deprecated \n\s+valid_lft forever preferred_lft 0sec/)
    expect(node.namespace.exec('ip', ['-N', 'neigh', 'show', '169.254.0.1']).stdout).toMatch(/lladdr 0a:58:a9:fe:00:01 PERMANENT proto 230/)
    expect(table()).toBe(false)
    expect(flows()).not.toContain('0x305')
  })

  it('shutdown loads both guards, the one of nftables first, and keeps the base', async () => {
    const report = summary(await node.agent('apply', { phase: 'shutdown' }))
    expect(report).toMatchObject({ exitCode: 0, problems: [], pending: [] })
    expect(report.changes[0]).toMatch(/nftables/)
    expect(report.changes.at(-1)).toMatch(/openflow/)
    expect(table()).toBe(true)
    expect(flows()).toContain('arp_spa=192.0.2.11')
    expect(summary(await node.agent('apply', { phase: 'shutdown' }))).toEqual(CONVERGED)
  })

  it('shutdown mends a guard that somebody changed', async () => {
    const nft = (command: string) => node.namespace.exec('nft', [command])
    const before = nft('list ruleset').stdout
    const guard = 'netdev ovn-kubernetes-egressip'
    const spoils = [
      `add table ${guard} { flags dormant; }`,
      `insert rule ${guard} egressip-drop accept`,
      `flush chain ${guard} egressip-silence`,
      `chain ${guard} egressip-drop { policy drop; }`,
      `delete element ${guard} egressip-v4 { 192.0.2.50 }`,
      `delete chain ${guard} egressip-drop; add chain ${guard} egressip-drop { type filter hook ingress device "wire" priority 0; }`,
    ]
    for (const spoil of spoils) {
      nft(spoil)
      const { exitCode, changes } = summary(await node.agent('apply', { phase: 'shutdown' }))
      expect(exitCode).toBe(0)
      expect(changes.length).toBeGreaterThan(0)
      expect(nft('list ruleset').stdout.split('\n').sort()).toEqual(before.split('\n').sort())
    }
  })

  it('startup keeps the flows and leaves an nft guard that is there', async () => {
    expect(summary(await node.agent('apply', { phase: 'startup' }))).toEqual(CONVERGED)
    expect(table()).toBe(true)
  })

  it('steady removes both guards after the base is in place', async () => {
    node.namespace.exec('ip', ['addr', 'del', '192.0.2.50/32', 'dev', BRIDGE])
    const { changes, exitCode } = summary(await node.agent('apply'))
    expect(exitCode).toBe(0)
    expect(changes[0]).toBe('add addresses 192.0.2.50/32 dev br-ex')
    expect(changes.at(-1)).toMatch(/^delete openflow/)
    expect(table()).toBe(false)
    expect(flows()).not.toContain('0x305')
  })

  it('startup loads the flows alone where no guard is', async () => {
    const { changes, exitCode } = summary(await node.agent('apply', { phase: 'startup' }))
    expect(exitCode).toBe(0)
    expect(changes.every((change) => change.startsWith('add openflow'))).toBe(true)
    expect(table()).toBe(false)
  })

  it('a node that hosts nothing any more is as it was found', async () => {
    writeBundle(node.bundle, { egress: [], masquerade: [] })
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(node.state()).toBe(untouched)
    expect(summary(await node.agent('apply'))).toEqual(CONVERGED)
  })

  it('shutdown silences what is still on the host, though the bundle lost it', async () => {
    writeBundle(node.bundle)
    await node.agent('apply')
    // The address goes from the intent, and the node leaves before a steady pass could take it off.
    writeBundle(node.bundle, { egress: ['192.0.2.60'] })
    const report = await node.agent('apply', { phase: 'shutdown' })
    expect(report.exitCode).toBe(0)
    const silenced = node.namespace.exec('nft', ['list', 'table', 'netdev', 'ovn-kubernetes-egressip']).stdout
    for (const text of ['192.0.2.50', '2001:db8::50', '192.0.2.60', '0x20010db8000000000000000000000050']) expect(silenced).toContain(text)
    expect(silenced).not.toContain('192.0.2.11')
    // The pass took the addresses off the host; flows of OVN may answer for them still.
    expect(node.namespace.exec('ip', ['addr']).stdout).not.toContain('192.0.2.50')
    expect(summary(await node.agent('apply', { phase: 'shutdown' }))).toEqual(CONVERGED)
    rmSync(node.stateDir, { recursive: true })
    expect(summary(await node.agent('diff', { phase: 'shutdown' }))).toEqual(CONVERGED)
  })

  it('steady says for which address the node speaks again though nobody gave it to it', async () => {
    writeBundle(node.bundle)
    // Forgets what the shutdown before this one silenced; the state folder of that one is gone as well.
    node.namespace.exec('ip', ['addr', 'del', '192.0.2.60/32', 'dev', BRIDGE])
    await node.agent('apply')
    await node.agent('apply', { phase: 'shutdown' })
    rmSync(node.stateDir, { recursive: true })
    writeBundle(node.bundle, { egress: ['2001:db8::50'] })
    const report = await node.agent('apply')
    expect(summary(report)).toMatchObject({ exitCode: 0, problems: ['NotConverged'] })
    expect(report.problems[0]).toMatchObject({
      severity: 'warning',
      remedy: expect.stringContaining('ip address delete 192.0.2.50/32 dev br-ex'),
    })
    expect(table()).toBe(false)
    for (const address of ['192.0.2.50/32', '2001:db8::50/128']) node.namespace.exec('ip', ['addr', 'del', address, 'dev', BRIDGE])
    expect(summary(await node.agent('apply')).exitCode).toBe(0)
  })

  it('without a bridge, a port or a device, what waits is pending and delays nothing else', async () => {
    await node.agent('apply')
    const before = node.ovs.vsctl('list-ports', BRIDGE)
    node.ovs.vsctl('del-port', BRIDGE, before)
    const report = summary(await node.agent('apply', { phase: 'shutdown' }))
    expect(report).toMatchObject({ exitCode: 4, problems: [] })
    expect(new Set(report.pending)).toEqual(new Set([`openflow: bridge br-ex has no port ${before}`]))
    expect(table()).toBe(true)
    await node.agent('apply')

    writeBundle(node.bundle, { device: 'uplink(br-ex)' })
    const symbol = summary(await node.agent('apply', { phase: 'shutdown' }))
    expect(symbol.exitCode).toBe(4)
    expect(symbol.pending).toContain('nftables: the uplink of br-ex is not known: it has none; set external_ids:bridge-uplink')
    node.ovs.vsctl('add-port', BRIDGE, 'wire')
    const { pending } = summary(await node.agent('apply', { phase: 'shutdown' }))
    expect(pending.filter((line) => line.startsWith('nftables'))).toEqual([])
    expect(node.namespace.exec('nft', ['list', 'ruleset']).stdout).toMatch(/hook ingress device "wire"/)
  })

  it('waits for no Open vSwitch that hangs or does not run', async () => {
    writeBundle(node.bundle)
    await node.agent('apply')
    const daemon = Number(readFileSync(`${node.ovs.rundir}/ovs-vswitchd.pid`, 'utf8'))
    process.kill(daemon, 'SIGSTOP')
    const hung = await node.agent('apply', { phase: 'shutdown' }).finally(() => process.kill(daemon, 'SIGCONT'))
    expect(new Set(summary(hung).pending)).toEqual(new Set(['openflow: Open vSwitch has no bridge br-ex, or does not answer for it']))
    expect(table()).toBe(true)
    await node.agent('apply')

    rmSync(`${node.ovs.rundir}/db.sock`)
    const steady = summary(await node.agent('diff'))
    expect(steady.exitCode, 'steady cannot say that the guard flows have gone').toBe(4)
    expect(steady.pending).toEqual(['openflow: Open vSwitch does not run, or not in OVS_RUNDIR'])
    const blind = summary(await node.agent('apply', { phase: 'shutdown' }))
    expect(blind.exitCode).toBe(4)
    expect(new Set(blind.pending)).toEqual(new Set(['openflow: Open vSwitch does not run, or not in OVS_RUNDIR']))
    expect(node.namespace.exec('nft', ['list', 'ruleset']).stdout).toMatch(/hook ingress device "ens3"/)
  })
})
