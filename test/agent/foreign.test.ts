import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { artefacts, BRIDGE, NODE, withFile, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'an agent among others', () => {
  let node: Node
  beforeEach(() => {
    node = openNode('foreign')
  })
  afterEach(() => node?.close())

  const ip = (...args: readonly string[]) => node.namespace.exec('ip', args)
  const baseFlow = (line: string) =>
    writeBundle(node.bundle, {}, withFile(artefacts(), { path: `openflow.${BRIDGE}.flows`, text: `${line}\n`, phases: ['steady'] }))

  it("is content with a new bridge's own flow, and never takes it for its own", async () => {
    baseFlow('cookie=0xe6e70001,table=0,priority=0,actions=NORMAL')
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(node.ovs.ofctl('dump-flows', BRIDGE, '--no-stats')).toBe(' priority=0 actions=NORMAL\n')
    writeBundle(node.bundle, { egress: [], masquerade: [] })
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(node.ovs.ofctl('dump-flows', BRIDGE, '--no-stats')).toBe(' priority=0 actions=NORMAL\n')
  })

  it('changes nothing at all when an entry of others means something else', async () => {
    baseFlow('cookie=0xe6e70001,table=0,priority=0,actions=drop')
    ip('neigh', 'add', 'fd69::1', 'lladdr', '02:00:00:00:00:99', 'dev', BRIDGE, 'nud', 'permanent')
    const before = node.state()
    const report = await node.agent('apply')
    expect(summary(report)).toMatchObject({ exitCode: 1, problems: ['ForeignConflict', 'ForeignConflict'] })
    expect(report.problems.map(({ message }) => message).join()).toMatch(/br-ex table=0 priority=0.*fd69::1 dev br-ex/)
    expect(node.state()).toBe(before)
  })

  it('is content with addresses and neighbors that others made, and never deletes them', async () => {
    ip('addr', 'add', '192.0.2.50/32', 'dev', BRIDGE)
    ip('neigh', 'add', '169.254.0.1', 'lladdr', '0a:58:a9:fe:00:01', 'dev', BRIDGE, 'nud', 'permanent')
    const before = node.state()
    expect(summary(await node.agent('apply')).changes).toEqual([
      'add neighbors fd69::1 dev br-ex',
      'add addresses 2001:db8::50/128 dev br-ex',
    ])
    writeBundle(node.bundle, { egress: [], masquerade: [] })
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(node.state()).toBe(before)
  })

  it('takes no address of others along with its own, though the kernel would', async () => {
    writeBundle(node.bundle, { egress: [], hostMasquerade: ['169.254.0.2/17'] })
    expect((await node.agent('apply')).exitCode).toBe(0)
    ip('addr', 'add', '169.254.7.7/17', 'dev', BRIDGE)
    const before = node.state()
    writeBundle(node.bundle, { egress: [], hostMasquerade: ['169.254.169.2/29'] })
    const report = await node.agent('apply')
    expect(summary(report)).toMatchObject({ exitCode: 1, changes: [], problems: ['CommandFailed'] })
    expect(report.problems[0]?.message).toContain('would delete 169.254.7.7/17 with it')
    expect(node.state()).toBe(before)
    node.namespace.exec('sysctl', ['-w', ...(report.problems[0]?.remedy ?? '').split(' ').slice(-1)])
    expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 0, problems: [] })
    expect(ip('-o', 'addr', 'show', 'dev', BRIDGE).stdout).toMatch(/169\.254\.7\.7\/17/)
    expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 0, changes: [] })
  })

  it('mends an address of its own that somebody changed', async () => {
    await node.agent('apply')
    const before = node.state()
    ip('addr', 'change', '2001:db8::50/128', 'dev', BRIDGE, 'valid_lft', 'forever', 'preferred_lft', 'forever')
    const report = await node.agent('apply')
    expect(summary(report)).toMatchObject({ exitCode: 0, problems: [] })
    expect(summary(report).changes).toEqual(['update addresses 2001:db8::50/128 dev br-ex'])
    expect(node.state()).toBe(before)
    expect(summary(await node.agent('apply')).changes).toEqual([])
  })

  it('takes the place of what the kernel learned', async () => {
    ip('neigh', 'add', '169.254.0.1', 'lladdr', '02:00:00:00:00:99', 'dev', BRIDGE, 'nud', 'reachable')
    ip('neigh', 'add', 'fd69::1', 'dev', BRIDGE, 'nud', 'failed')
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(ip('-N', 'neigh', 'show', '169.254.0.1').stdout).toMatch(/0a:58:a9:fe:00:01 PERMANENT proto 230/)
  })

  it('does not take for its own what others add after its own address went', async () => {
    await node.agent('apply')
    ip('addr', 'del', '192.0.2.50/32', 'dev', BRIDGE)
    writeBundle(node.bundle, { egress: ['2001:db8::50'] })
    await node.agent('apply')
    ip('addr', 'add', '192.0.2.50/32', 'dev', BRIDGE)
    await node.agent('apply')
    expect(ip('addr', 'show', 'dev', BRIDGE).stdout).toContain('192.0.2.50/32')
  })

  it("refuses to treat the node's own address as an egress IP", async () => {
    const cases: readonly (readonly [egress: string, own: readonly string[], prepare: () => void])[] = [
      ['192.0.2.11', [], () => {}],
      ['2001:db8::11', ['192.0.2.11'], () => {}],
      // As on Google's cloud: a single address, known by the flows of the guard, by its route, or by its lease.
      ['203.0.113.7', ['203.0.113.7'], () => ip('addr', 'add', '203.0.113.7/32', 'dev', BRIDGE)],
      [
        '203.0.113.8',
        [],
        () => {
          ip('addr', 'add', '203.0.113.8/32', 'dev', BRIDGE)
          ip('route', 'add', 'default', 'via', '192.0.2.1', 'dev', BRIDGE, 'src', '203.0.113.8')
        },
      ],
      ['203.0.113.9', [], () => ip('addr', 'add', '203.0.113.9/32', 'dev', BRIDGE, 'valid_lft', '3600', 'preferred_lft', '3600')],
    ]
    for (const [egress, own, prepare] of cases) {
      prepare()
      writeBundle(node.bundle, { egress: [egress], own })
      for (const phase of ['steady', 'startup', 'shutdown'] as const) {
        const before = node.state()
        const report = await node.agent('apply', { phase })
        expect(summary(report)).toMatchObject({ exitCode: 1, pending: [], problems: ['NodeAddress'] })
        expect(report.problems[0]?.message).toContain(egress)
        // The guards alone are loaded, and none of them names the address.
        const silenced = node.namespace.exec('nft', ['list', 'ruleset']).stdout
        expect(silenced).not.toContain(egress)
        expect(silenced).not.toMatch(/@th,64,128/)
        node.namespace.exec('nft', ['flush ruleset'])
        node.ovs.ofctl('del-flows', BRIDGE, 'cookie=0x305/-1')
        expect(node.state().replaceAll(/\d+sec/g, '')).toBe(before.replaceAll(/\d+sec/g, ''))
      }
    }
  })

  it('never silences an address of the node, whatever the state folder says', async () => {
    mkdirSync(node.stateDir, { recursive: true })
    const known = { digest: '', addresses: ['192.0.2.11', '2001:db8::11', '192.0.2.77'], bridges: ['br-int'] }
    writeFileSync(join(node.stateDir, 'applied.json'), JSON.stringify({ applied: known, predecessor: known }))
    writeFileSync(join(node.stateDir, 'addresses.json'), '[\n{"address":"192.0.2.11/24","dev":"br-ex"}\n]')
    ip('addr', 'add', '192.0.2.77/32', 'dev', BRIDGE)
    node.ovs.ofctl('add-flow', 'br-int', 'cookie=0x305,priority=8,actions=drop')
    const before = [node.ovs.ofctl('dump-flows', 'br-int', '--no-stats'), ip('-4', 'addr', 'show', 'dev', BRIDGE).stdout]
    writeBundle(node.bundle, { egress: ['2001:db8::50'] })
    expect((await node.agent('apply', { phase: 'shutdown' })).exitCode).toBe(0)
    expect([node.ovs.ofctl('dump-flows', 'br-int', '--no-stats'), ip('-4', 'addr', 'show', 'dev', BRIDGE).stdout]).toEqual(before)
    const silenced = node.namespace.exec('nft', ['list', 'ruleset']).stdout
    expect(silenced).toContain('192.0.2.77')
    expect(silenced).not.toMatch(/192\.0\.2\.11|2001:db8::11|0x20010db8000000000000000000000011/)
  })

  it('says which file of its own it cannot read, and changes nothing', async () => {
    mkdirSync(node.stateDir, { recursive: true })
    const before = node.state()
    for (const name of ['applied.json', 'addresses.json']) {
      writeFileSync(join(node.stateDir, name), '{"')
      const report = await node.agent('apply')
      expect(summary(report)).toEqual({ exitCode: 1, changes: [], pending: [], problems: ['CommandFailed'] })
      expect(report.problems[0]?.message).toContain(join(node.stateDir, name))
      rmSync(join(node.stateDir, name))
    }
    expect(node.state()).toBe(before)
  })

  it('does not silence the only address of a host, and says so', async () => {
    ip('addr', 'flush', 'dev', BRIDGE)
    ip('addr', 'add', '203.0.113.7/32', 'dev', BRIDGE)
    writeBundle(node.bundle, { egress: ['203.0.113.7', '192.0.2.50'], own: [] })
    const report = await node.agent('apply', { phase: 'shutdown' })
    expect(summary(report)).toMatchObject({ exitCode: 1, problems: ['NodeAddress'] })
    const silenced = node.namespace.exec('nft', ['list', 'ruleset']).stdout
    expect(silenced).toContain('192.0.2.50')
    expect(silenced).not.toContain('203.0.113.7')
  })

  it('does not silence the address with which a host speaks, though it stands alone', async () => {
    // A /32 that somebody set by hand, beside addresses of another network; the bundle lets the node announce nothing.
    for (const args of [
      ['addr', 'flush', 'dev', BRIDGE],
      ['addr', 'add', '203.0.113.7/32', 'dev', BRIDGE],
      ['addr', 'add', '2001:db8:1::7/128', 'dev', BRIDGE, 'nodad'],
      ['addr', 'add', '198.51.100.7/24', 'dev', 'ens3'],
      ['addr', 'add', '2001:db8:2::7/64', 'dev', 'ens3', 'nodad'],
      ['link', 'set', BRIDGE, 'up'],
      ['-4', 'route', 'add', 'default', 'via', '203.0.113.1', 'dev', BRIDGE, 'onlink'],
      ['-6', 'route', 'add', 'default', 'via', 'fe80::1', 'dev', BRIDGE, 'onlink'],
    ])
      ip(...args)
    writeBundle(node.bundle, { egress: ['192.0.2.50', '203.0.113.7', '2001:db8:1::7'], own: [] })
    expect(summary(await node.agent('apply', { phase: 'shutdown' }))).toMatchObject({
      exitCode: 1,
      problems: ['NodeAddress', 'NodeAddress'],
    })
    const silenced = node.namespace.exec('nft', ['list', 'ruleset']).stdout
    expect(silenced).toContain('192.0.2.50')
    expect(silenced).not.toMatch(/203\.0\.113\.7|2001:db8:1::7|0x20010db8000100000000000000000007/)
  })

  it('refuses to manage what ovnkube-node manages, and verifies it', async () => {
    const signs: readonly (() => void)[] = [
      () => node.namespace.exec('nft', ['add table inet ovn-kubernetes']),
      () => ip('link', 'add', 'ovn-k8s-mp0', 'type', 'bridge'),
      () => node.ovs.ofctl('add-flow', BRIDGE, 'cookie=0xdeff105,table=1,priority=0,actions=NORMAL'),
    ]
    for (const [index, plant] of signs.entries()) {
      plant()
      const before = node.state()
      const report = await node.agent('apply')
      expect(summary(report)).toEqual({ exitCode: 1, changes: [], pending: [], problems: ['OvnkubeActive'] })
      expect(report.problems[0]?.message.split(', ').length).toBeGreaterThan(index)
      expect(node.state()).toBe(before)
    }
    writeBundle(node.bundle, {
      ownership: { openflow: 'off', nftables: 'verify', neighbors: 'verify', addresses: 'verify', routes: 'verify', rules: 'verify' },
    })
    ip('addr', 'add', '192.0.2.50/32', 'dev', BRIDGE)
    ip('neigh', 'add', 'fd69::1', 'lladdr', '02:00:00:00:00:99', 'dev', BRIDGE, 'nud', 'permanent')
    const before = node.state()
    expect(summary(await node.agent('apply'))).toEqual({
      exitCode: 2,
      changes: ['add neighbors 169.254.0.1 dev br-ex', 'add addresses 2001:db8::50/128 dev br-ex', 'update neighbors fd69::1 dev br-ex'],
      pending: [],
      problems: [],
    })
    const leaving = summary(await node.agent('apply', { phase: 'shutdown' }))
    expect(leaving.exitCode).toBe(2)
    expect(leaving.changes).toContain('add nftables element netdev ovn-kubernetes-egressip egressip-v4 192.0.2.50')
    expect(node.state()).toBe(before)
  })

  it('forgets nothing of passes that did not end, however many', async () => {
    // A pass was killed while it had flows on another bridge, and the next one failed.
    node.ovs.vsctl('add-br', 'br-old', '--', 'set', 'bridge', 'br-old', 'datapath_type=netdev')
    node.ovs.ofctl('add-flow', 'br-old', 'cookie=0xe6e70001,table=9,priority=7,actions=drop')
    mkdirSync(node.stateDir, { mode: 0o700 })
    writeFileSync(join(node.stateDir, 'journal.json'), JSON.stringify({ digest: '', addresses: [], bridges: ['br-old'] }))
    const ipv6 = (disabled: 0 | 1) => node.namespace.exec('sh', ['-c', `echo ${disabled} > /proc/sys/net/ipv6/conf/${BRIDGE}/disable_ipv6`])
    ipv6(1)
    const failed = await node.agent('apply')
    expect(summary(failed)).toMatchObject({ exitCode: 1, changes: [], problems: ['CommandFailed'] })
    expect(failed.problems[0]?.message).toMatch(/IPv6 is disabled/)
    ipv6(0)
    expect(summary(await node.agent('apply')).changes).toContain('delete openflow br-old table=9 priority=7')
    expect(node.ovs.ofctl('dump-flows', 'br-old', '--no-stats')).toBe(' priority=0 actions=NORMAL\n')
  })

  it('removes no more than it may, but for addresses that went to other nodes', async () => {
    const egress = Array.from({ length: 12 }, (_, index) => `192.0.2.${60 + index}`)
    writeBundle(node.bundle, { egress })
    await node.agent('apply')
    writeBundle(node.bundle, { egress: egress.slice(0, 5) })
    const before = node.state()
    expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 1, problems: ['TooManyRemovals'] })
    expect(node.state()).toBe(before)
    const index = join(node.bundle, '..', '..', 'index.json')
    const assignments = egress.slice(5).map((egressIP) => ({ egressIP, object: 'eip-a', node: 'node-b' }))
    writeFileSync(index, JSON.stringify({ assignments, nodes: { [NODE]: 'of another rendering' } }))
    expect((await node.agent('apply')).exitCode).toBe(1)
    const { digest } = JSON.parse(readFileSync(join(node.bundle, 'bundle.json'), 'utf8')) as { digest: string }
    writeFileSync(index, JSON.stringify({ assignments, nodes: { [NODE]: digest } }))
    expect((await node.agent('apply')).exitCode).toBe(0)
    writeBundle(node.bundle, { egress: [] })
    expect((await node.agent('apply', { maxRemove: 100 })).exitCode).toBe(0)
  })

  it('loads the guard without its second chain where the kernel has no hook egress', async () => {
    const bin = join(node.folder, 'bin')
    mkdirSync(bin)
    const script = ['#!/bin/sh', 'case "$*" in *-f*) ;; *) exec /usr/sbin/nft "$@";; esac', 'text=$(cat)']
    script.push('case "$text" in *\'"hook":"egress"\'*) echo "Error: Operation not supported" >&2; exit 1;; esac')
    script.push('printf %s "$text" > "$0.in"; exec /usr/sbin/nft "$@" < "$0.in"')
    writeFileSync(join(bin, 'nft'), script.join('\n'))
    chmodSync(join(bin, 'nft'), 0o755)
    const exec = { prefix: node.prefix, path: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin` }
    expect(summary(await node.agent('apply', { phase: 'shutdown', exec }))).toMatchObject({ exitCode: 0, problems: ['NoEgressHook'] })
    const loaded = node.namespace.exec('nft', ['list', 'ruleset']).stdout
    expect(loaded).toContain('hook ingress device "ens3"')
    expect(loaded).not.toContain('hook egress')
  })
})
