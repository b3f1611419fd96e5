import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PATH } from '../../src/host/exec.js'
import { run } from '../lab/netns.js'
import { describeWith } from '../requires.js'
import { BRIDGE, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'a node that leaves falls silent', () => {
  let node: Node
  beforeEach(() => {
    node = openNode('silence')
  })
  afterEach(() => node?.close())

  const leave = (over = {}) => node.agent('apply', { phase: 'shutdown', ...over })
  const ruleset = () => node.namespace.exec('nft', ['list', 'ruleset']).stdout
  const flows = () => node.ovs.ofctl('dump-flows', BRIDGE, '--no-stats', '--no-names')
  const isSilent = () => /hook ingress device "ens3"/.test(ruleset()) && ruleset().includes('192.0.2.50')
  const bridge = () => node.namespace.exec('ip', ['-o', 'addr', 'show', 'dev', BRIDGE]).stdout.replaceAll(' tentative', '')

  it('whatever its state folder is like, and changes nothing else then', async () => {
    const cases: readonly (readonly [said: string, spoil: () => void])[] = [
      ['applied.json', () => writeFileSync(join(node.stateDir, 'applied.json'), '{"')],
      ['journal.json', () => mkdirSync(join(node.stateDir, 'journal.json'))],
      ['addresses.json', () => writeFileSync(join(node.stateDir, 'addresses.json'), '[{"address":7}]')],
      [
        'state',
        () => {
          rmSync(node.stateDir, { recursive: true })
          writeFileSync(node.stateDir, '')
        },
      ],
    ]
    for (const [said, spoil] of cases) {
      mkdirSync(node.stateDir, { recursive: true })
      const before = bridge()
      spoil()
      const report = await leave()
      expect(report.exitCode).toBe(1)
      expect(report.problems.map(({ message }) => message).join()).toContain(said)
      expect(isSilent()).toBe(true)
      expect(flows()).toContain('priority=498')
      expect(bridge()).toBe(before)
      rmSync(node.stateDir, { recursive: true })
      expect((await node.agent('apply')).exitCode).toBe(0)
      writeBundle(node.bundle, { egress: [], masquerade: [] })
      expect((await node.agent('apply')).exitCode).toBe(0)
      writeBundle(node.bundle)
      expect(isSilent()).toBe(false)
    }
  })

  it('though the disk of its state folder is full', async () => {
    mkdirSync(node.stateDir)
    run('mount', ['-t', 'tmpfs', '-o', 'size=4k,mode=0700', 'tmpfs', node.stateDir])
    try {
      writeFileSync(join(node.stateDir, 'full'), 'x'.repeat(4096))
      expect(summary(await leave())).toMatchObject({ exitCode: 1, problems: ['CommandFailed'] })
      expect(isSilent()).toBe(true)
      expect(flows()).toContain('priority=498')
      expect(bridge()).not.toContain('192.0.2.50')
    } finally {
      run('umount', [node.stateDir])
    }
  })

  it('before it waits for another agent, and without waiting for Open vSwitch', async () => {
    await node.agent('apply')
    rmSync(join(node.ovs.rundir, 'db.sock'))
    const deaf = createServer(() => {}).listen(join(node.ovs.rundir, 'db.sock'))
    const fd = openSync(join(node.stateDir, 'lock'), 'w')
    const [enter = '', ...words] = [...node.prefix, 'flock', '3']
    const other = spawn(enter, words, { stdio: ['ignore', 'ignore', 'ignore', fd] })
    await new Promise((resolve) => other.on('exit', resolve))
    const started = Date.now()
    const left = leave()
    while (!isSilent() && Date.now() - started < 5000) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(Date.now() - started).toBeLessThan(1500)
    closeSync(fd)
    const report = await left
    deaf.close()
    expect(report.changes[0]?.subsystem).toBe('nftables')
    expect(summary(report)).toMatchObject({ exitCode: 1, problems: ['CommandFailed'] })
    expect(report.problems[0]?.message).toMatch(/no answer within/)
  })

  it('at once while every program of Open vSwitch hangs', async () => {
    await node.agent('apply')
    const bin = join(node.folder, 'hanging')
    mkdirSync(bin)
    for (const name of ['ovs-ofctl', 'ovs-vsctl', 'ovs-appctl'])
      writeFileSync(join(bin, name), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 })
    const stopper = new AbortController()
    let left = false
    const report = leave({ exec: { prefix: node.prefix, path: `${bin}:${PATH}`, signal: stopper.signal } }).finally(() => {
      left = true
    })
    while (!isSilent() && !left) await new Promise((resolve) => setTimeout(resolve, 20))
    // It has ten seconds until it gives up.
    expect(left).toBe(false)
    expect(isSilent()).toBe(true)
    stopper.abort()
    expect(summary(await report)).toMatchObject({ exitCode: 1 })
    expect(isSilent()).toBe(true)
  })

  it('though the flows of the bridge can be neither read nor written', async () => {
    node.ovs.vsctl('set', 'bridge', BRIDGE, 'protocols=OpenFlow10')
    expect(summary(await leave())).toMatchObject({ exitCode: 1, problems: ['CommandFailed'] })
    expect(isSilent()).toBe(true)
    node.namespace.exec('nft', ['flush ruleset'])
    const bin = join(node.folder, 'bin')
    mkdirSync(bin)
    for (const name of ['ip', 'nft', 'flock']) symlinkSync(run('which', [name]).stdout.trim(), join(bin, name))
    const exec = { prefix: [run('which', ['nsenter']).stdout.trim(), ...node.prefix.slice(1)], path: bin }
    expect(summary(await leave({ exec }))).toMatchObject({ exitCode: 1, problems: ['MissingTool'] })
    expect(isSilent()).toBe(true)
  })

  it('for its egress IPs, though one of them is an address of the node', async () => {
    node.namespace.exec('ip', ['addr', 'add', '192.0.2.51/24', 'dev', BRIDGE])
    writeBundle(node.bundle, { egress: ['192.0.2.50', '192.0.2.51', '2001:db8::11'] })
    const before = bridge()
    const report = await leave()
    expect(summary(report)).toMatchObject({ exitCode: 1, problems: ['NodeAddress', 'NodeAddress'] })
    expect(isSilent()).toBe(true)
    expect(ruleset()).not.toMatch(/192\.0\.2\.51|2001:db8::11|0x20010db8000000000000000000000011/)
    expect(bridge()).toBe(before)
  })
})
