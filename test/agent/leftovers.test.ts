import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { BRIDGE, type Content, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

const SERVICE = '10.96.0.0/16'
const SERVICE6 = 'fd00:10:96::/112'
/** The form of today: by the dummy next hop of the masquerade subnet. */
const BUNDLE: Content = {
  egress: [],
  masquerade: ['169.254.169.4', 'fd69::4'],
  hostMasquerade: ['169.254.169.2/29', 'fd69::2/125'],
  services: [
    [SERVICE, '169.254.169.4'],
    [SERVICE6, 'fd69::4'],
  ],
}

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'routes to services that another gateway mode or release left behind', () => {
  let node: Node
  beforeEach(() => {
    node = openNode('leftovers')
    writeBundle(node.bundle, BUNDLE)
  })
  afterEach(() => node?.close())

  const ip = (...args: readonly string[]) => node.namespace.exec('ip', args).stdout
  const services = () => ip('route', 'show', SERVICE) + ip('-6', 'route', 'show', SERVICE6)
  const mp0 = () => {
    ip('link', 'add', 'ovn-k8s-mp0', 'type', 'bridge')
    ip('addr', 'add', '10.244.1.2/24', 'dev', 'ovn-k8s-mp0')
    ip('link', 'set', 'ovn-k8s-mp0', 'up')
  }

  it('are none where there is no other route', async () => {
    expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 0, problems: [] })
    expect(services()).toMatch(/10\.96\.0\.0\/16 via 169\.254\.169\.4 dev br-ex proto 230 mtu 1400/)
    expect(services()).toMatch(/fd00:10:96::\/112 via fd69::4 dev br-ex proto 230 metric 1024 mtu 1400/)
    expect(summary(await node.agent('apply'))).toEqual({ exitCode: 0, changes: [], pending: [], problems: [] })
    writeBundle(node.bundle, { egress: [], masquerade: [] })
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(services()).toBe('')
    expect(ip('addr')).not.toContain('169.254.169.2')
  })

  it('are named with their form and the command that removes them, and nothing is changed (seed 004)', async () => {
    ip('route', 'add', SERVICE, 'via', '192.0.2.1', 'dev', BRIDGE, 'mtu', '1400')
    const before = [node.state(), services()]
    const report = await node.agent('apply')
    expect(summary(report)).toEqual({ exitCode: 1, changes: [], pending: [], problems: ['LeftoverServiceRoute'] })
    expect(report.problems[0]?.message).toContain(
      '"10.96.0.0/16 via 192.0.2.1 dev br-ex", the form of shared gateway mode before release 4.10',
    )
    const command = /"ip (route del [^"]*)"/.exec(report.problems[0]?.remedy ?? '')?.[1] ?? ''
    expect(command).toBe('route del 10.96.0.0/16 via 192.0.2.1 dev br-ex')
    expect([node.state(), services()]).toEqual(before)
    ip(...command.split(' '))
    expect((await node.agent('apply')).exitCode).toBe(0)
  })

  it('are replaced where they are to be, and put back when the pass fails', async () => {
    ip('route', 'add', SERVICE, 'via', '192.0.2.1', 'dev', BRIDGE, 'mtu', '1400')
    // One of IPv6 that the kernel would ask before ours.
    ip('-6', 'route', 'add', SERVICE6, 'via', '2001:db8::1', 'dev', BRIDGE, 'metric', '512')
    const before = services()
    expect(summary(await node.agent('apply')).problems).toEqual(['LeftoverServiceRoute', 'LeftoverServiceRoute'])
    expect((await node.agent('diff', { replaceServiceRoutes: true })).problems).toEqual([])
    expect(services()).toBe(before)
    const bin = join(node.folder, 'bin')
    mkdirSync(bin)
    const script = '#!/bin/sh\ncase "$*" in *--bundle*) echo no >&2; exit 1;; esac\nexec /usr/bin/ovs-ofctl "$@"\n'
    writeFileSync(join(bin, 'ovs-ofctl'), script, { mode: 0o755 })
    const exec = { prefix: node.prefix, path: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin` }
    writeBundle(node.bundle, { ...BUNDLE, flows: 1 })
    expect(summary(await node.agent('apply', { replaceServiceRoutes: true, exec }))).toMatchObject({
      changes: [],
      problems: ['CommandFailed'],
    })
    expect(services()).toBe(before)
    const report = summary(await node.agent('apply', { replaceServiceRoutes: true }))
    expect(report).toMatchObject({ exitCode: 0, problems: [] })
    expect(report.changes).toContain(`update routes ${SERVICE} table main`)
    expect(services()).toMatch(
      /^10\.96\.0\.0\/16 via 169\.254\.169\.4 dev br-ex proto 230 mtu 1400 \nfd00:10:96::\/112 via fd69::4 [^\n]*\n$/,
    )
  })

  it('are not replaced where an entry cannot say them, so that a pass which fails could not put them back; the command removes them', async () => {
    const forms = [
      [`route add blackhole ${SERVICE}`],
      [`route add ${SERVICE} nexthop via 192.0.2.1 dev ${BRIDGE} nexthop via 192.0.2.2 dev ${BRIDGE}`],
      [`route add ${SERVICE} via 192.0.3.1 dev ${BRIDGE} onlink`],
      [`route add ${SERVICE} via 192.0.2.1 dev ${BRIDGE} mtu lock 1300 advmss 1200`],
      [`-6 route add ${SERVICE6} via fe80::1 dev ${BRIDGE} metric 100 pref high`],
      [`nexthop add id 5 via 192.0.2.1 dev ${BRIDGE}`, `route add ${SERVICE} nhid 5`],
      [`route add ${SERVICE} via 192.0.2.1 dev ${BRIDGE}`, `route append ${SERVICE} via 192.0.2.2 dev ${BRIDGE}`],
    ]
    for (const lines of forms) {
      for (const line of lines) ip(...line.split(' '))
      const before = services()
      const { problems, changes } = await node.agent('apply', { replaceServiceRoutes: true })
      expect(changes, lines.join()).toEqual([])
      expect(services()).toBe(before)
      expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['LeftoverServiceRoute']))
      for (const { remedy } of problems) ip(...(/"ip ([^"]*)"; it is more than/.exec(remedy)?.[1] ?? '').split(' '))
      expect(services(), lines.join()).toBe('')
    }
  })

  it('of local gateway mode lead to the management port', async () => {
    writeBundle(node.bundle, { ...BUNDLE, ownership: VERIFY })
    mp0()
    ip('route', 'add', SERVICE, 'via', '10.244.1.1', 'dev', 'ovn-k8s-mp0')
    const before = [node.state(), services()]
    const report = await node.agent('apply')
    // Whoever only verifies is told, too; the host is the way ovnkube wants it, or nobody else's business.
    expect(summary(report)).toMatchObject({ exitCode: 2, pending: [], problems: ['LeftoverServiceRoute'] })
    expect(report.problems[0]).toMatchObject({ severity: 'warning' })
    expect(report.problems[0]?.message).toContain('the form of local gateway mode before release 4.10')
    expect([node.state(), services()]).toEqual(before)
  })
})

const VERIFY = {
  openflow: 'verify',
  nftables: 'verify',
  neighbors: 'verify',
  addresses: 'verify',
  routes: 'verify',
  rules: 'verify',
} as const
