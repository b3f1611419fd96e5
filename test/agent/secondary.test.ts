import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { cable } from '../lab/netns.js'
import { describeWith } from '../requires.js'
import { type Content, NODE, type Secondary, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

const CARD = 'eth1'
const V4: Secondary = { network: '198.51.100.0/24', egressIP: '198.51.100.50', pods: ['10.244.1.3', '10.244.2.3'] }
const V6: Secondary = { network: '2001:db8:1::/64', egressIP: '2001:db8:1::50', pods: ['fd00:10:244:1::3'] }
const BOTH: Content = { egress: [], masquerade: [], secondary: [V4, V6] }
const NONE: Content = { egress: [], masquerade: [], secondary: [] }
const CONVERGED = { exitCode: 0, changes: [], pending: [], problems: [] }

describeWith(['root', 'linux', 'ip', 'nft', 'ovs', 'conntrack'], 'egress IPs of secondary interfaces', () => {
  let node: Node
  beforeEach(() => {
    node = openNode('secondary')
    for (const name of ['net.ipv4.ip_forward', 'net.ipv6.conf.all.forwarding']) sysctl(name, 1)
    addCard()
    writeBundle(node.bundle, BOTH)
  })
  afterEach(() => node?.close())

  const ip = (...args: readonly string[]) => node.namespace.exec('ip', args).stdout
  const nft = (...args: readonly string[]) => node.namespace.exec('nft', args).stdout
  const sysctl = (name: string, value: number) => node.namespace.exec('sysctl', ['-w', `${name}=${value}`])
  const rules = () => ip('-N', 'rule') + ip('-6', '-N', 'rule')
  const index = () => Number(/^(\d+):/.exec(ip('-o', 'link', 'show', 'dev', CARD))?.[1])
  const table = (number: number) =>
    ['-4', '-6']
      .map((family) => node.namespace.exec('ip', [family, 'route', 'show', 'table', String(number)], { mayFail: true }).stdout)
      .join('')

  /** What duplicate detection changes by itself is left out. */
  const state = () => {
    const routes = (ip('route', 'show', 'table', 'all') + ip('-6', 'route', 'show', 'table', 'all')).split('\n')
    return [node.state(), rules(), routes.filter((line) => !/table local|fe80::/.test(line))]
  }

  function addCard(): void {
    cable({ namespace: node.namespace, device: CARD }, { namespace: node.namespace, device: 'wire1' })
    for (const address of ['198.51.100.11/24', '2001:db8:1::11/64']) {
      node.namespace.exec('ip', ['addr', 'add', address, 'dev', CARD, ...(address.includes(':') ? ['nodad'] : [])])
    }
    node.namespace.exec('ip', ['route', 'add', '203.0.113.0/24', 'via', '198.51.100.1', 'dev', CARD])
  }

  it('stand on the interface of their network, with table, rules and translations, and go without a trace', async () => {
    writeBundle(node.bundle, NONE)
    expect((await node.agent('apply')).exitCode).toBe(0)
    const before = state()
    writeBundle(node.bundle, BOTH)
    const report = summary(await node.agent('apply'))
    expect(report).toMatchObject({ exitCode: 0, pending: [], problems: [] })
    expect(summary(await node.agent('apply'))).toEqual(CONVERGED)
    const number = 1000 + index()
    expect(rules()).toContain(`6000:\tfrom 10.244.2.3 lookup ${number} proto 230`)
    expect(rules()).toContain(`6000:\tfrom fd00:10:244:1::3 lookup ${number} proto 230`)
    expect(table(number)).toMatch(
      /default dev eth1[\s\S]*198\.51\.100\.0\/24 dev eth1[\s\S]*203\.0\.113\.0\/24 via 198\.51\.100\.1 dev eth1/,
    )
    expect(nft('list', 'map', 'inet', 'egretta', 'egress-ip-snat-v4')).toMatch(
      /10\.244\.1\.3 . "eth1" comment "EgressIP\/eip-b" : 198\.51\.100\.50/,
    )
    expect(ip('addr', 'show', 'dev', CARD)).toMatch(/inet 198\.51\.100\.50\/32 scope global eth1/)
    writeBundle(node.bundle, NONE)
    expect((await node.agent('apply', { maxRemove: 100 })).exitCode).toBe(0)
    expect(state()).toEqual(before)
  })

  it('follow their interface to another ifindex, and leave nothing in the old table', async () => {
    await node.agent('apply')
    for (const looksBetween of [false, true]) {
      const old = 1000 + index()
      ip('link', 'del', CARD)
      if (looksBetween) {
        const waiting = await node.agent('apply')
        expect(waiting).toMatchObject({ exitCode: 4, problems: [] })
        expect(waiting.pending.map(({ subsystem }) => subsystem)).toEqual(
          expect.arrayContaining(['nftables', 'addresses', 'routes', 'rules']),
        )
        expect(rules()).not.toContain('6000:')
      }
      addCard()
      expect(1000 + index()).not.toBe(old)
      expect((await node.agent('apply')).exitCode).toBe(0)
      expect(table(old)).toBe('')
      expect(rules()).not.toContain(`lookup ${old}`)
      expect(rules()).toContain(`from 10.244.1.3 lookup ${1000 + index()} proto 230`)
      expect(summary(await node.agent('apply'))).toEqual(CONVERGED)
    }
  })

  it('leave a host as it was found when a step fails', async () => {
    writeBundle(node.bundle, NONE)
    await node.agent('apply')
    const before = state()
    writeBundle(node.bundle, BOTH)
    const bin = join(node.folder, 'bin')
    mkdirSync(bin)
    const script = ['#!/bin/sh', 'case "$*" in *-batch*) ;; *) exec /usr/sbin/ip "$@";; esac', 'text=$(cat)']
    script.push(
      'case "$text" in *"rule add from fd00"*) echo "RTNETLINK answers: No buffer space available\\nCommand failed -:1" >&2; exit 1;; esac',
    )
    script.push('printf "%s\\n" "$text" > "$0.in"; exec /usr/sbin/ip "$@" < "$0.in"')
    writeFileSync(join(bin, 'ip'), script.join('\n'), { mode: 0o755 })
    const exec = { prefix: node.prefix, path: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin` }
    // By then the table, the addresses, the routes and the IPv4 rules are there.
    const report = await node.agent('apply', { exec })
    expect(summary(report)).toEqual({ exitCode: 1, changes: [], pending: [], problems: ['CommandFailed'] })
    expect(report.problems[0]?.message).toMatch(/6000 from fd00:10:244:1::3/)
    expect(state()).toEqual(before)
    expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 0, problems: [] })
  })

  it('are not added to a host that does not forward, and the host says how to change that', async () => {
    sysctl(`net.ipv4.conf.${CARD}.forwarding`, 0)
    const before = node.state()
    const report = await node.agent('apply')
    expect(summary(report)).toMatchObject({ exitCode: 1, changes: [] })
    expect(report.problems.find(({ severity }) => severity === 'error')).toMatchObject({
      code: 'ForwardingOff',
      remedy: `Switch it on: sysctl -w net.ipv4.conf.${CARD}.forwarding=1`,
    })
    expect(node.state()).toBe(before)
  })

  const connect = (pod: string, egressIP: string, port = 7) => {
    const ports = `--sport ${port} --dport 9 --reply-port-src 9 --reply-port-dst ${port}`
    const words = `-I -p udp --timeout 600 -s ${pod} -d 203.0.113.9 -r 203.0.113.9 -q ${egressIP} ${ports}`
    node.namespace.exec('conntrack', words.split(' '))
  }
  const connections = () => node.namespace.exec('conntrack', ['-L', '-p', 'udp'], { mayFail: true }).stdout

  it('take the connections of a pod along when they go, and no other', async () => {
    await node.agent('apply')
    connect('10.244.1.3', V4.egressIP)
    connect('10.244.2.3', V4.egressIP, 8)
    connect('10.244.1.9', '198.51.100.9')
    writeBundle(node.bundle, { ...BOTH, secondary: [{ ...V4, pods: ['10.244.2.3'] }, V6] })
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(connections()).not.toContain('src=10.244.1.3')
    expect(connections()).toMatch(/src=10\.244\.1\.9[\s\S]*src=10\.244\.2\.3|src=10\.244\.2\.3[\s\S]*src=10\.244\.1\.9/)
    writeBundle(node.bundle, { ...BOTH, secondary: [{ ...V4, egressIP: '198.51.100.51', pods: ['10.244.2.3'] }, V6], conntrack: 'keep' })
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(connections()).toContain('src=10.244.2.3')
    writeBundle(node.bundle, { ...BOTH, secondary: [V6], conntrack: 'keep' })
    connect('10.244.2.3', '198.51.100.51', 10)
    expect((await node.agent('apply', { maxRemove: 100 })).exitCode).toBe(0)
    expect(connections(), 'of a pod whose rule goes').not.toContain('dst=198.51.100.51')
    writeBundle(node.bundle, { ...BOTH, secondary: [{ ...V4, egressIP: '198.51.100.51', pods: ['10.244.2.3'] }, V6] })
    expect((await node.agent('apply')).exitCode).toBe(0)
    writeBundle(node.bundle, { ...BOTH, secondary: [{ ...V4, pods: ['10.244.2.3'] }, V6] })
    connect('10.244.2.3', '198.51.100.51', 9)
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(connections()).toMatch(/dst=198\.51\.100\.50/)
    expect(connections()).not.toContain('dst=198.51.100.51')
  })

  it('take them along although the agent was killed before it came to that', async () => {
    await node.agent('apply')
    writeBundle(node.bundle, { ...BOTH, secondary: [V6] })
    // The translations went, then the agent did.
    nft('flush', 'map', 'inet', 'egretta', 'egress-ip-snat-v4')
    connect('10.244.1.3', V4.egressIP)
    const connectionsToEnd = [{ pod: '10.244.1.3', egressIP: V4.egressIP }, null, { pod: 7 }]
    const journal = { digest: '', addresses: [V4.egressIP], bridges: [], connections: connectionsToEnd }
    writeFileSync(join(node.stateDir, 'journal.json'), JSON.stringify(journal))
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(connections()).not.toContain('src=10.244.1.3')
  })

  it('do not count as removed when their interface has another ifindex, or another node has them', async () => {
    const pods = Array.from({ length: 12 }, (_, each) => `10.244.3.${each + 1}`)
    const many: Content = { ...BOTH, secondary: [{ ...V4, pods }] }
    writeBundle(node.bundle, many)
    expect((await node.agent('apply')).exitCode).toBe(0)
    ip('link', 'del', CARD)
    expect((await node.agent('apply')).exitCode).toBe(4)
    addCard()
    expect((await node.agent('apply')).exitCode).toBe(0)
    const before = node.state()
    writeBundle(node.bundle, NONE)
    const refused = await node.agent('apply')
    expect(new Set(summary(refused).problems)).toEqual(new Set(['TooManyRemovals']))
    expect(node.state()).toBe(before)
    const { digest } = JSON.parse(readFileSync(join(node.bundle, 'bundle.json'), 'utf8')) as { digest: string }
    const assignments = [{ egressIP: V4.egressIP, object: 'eip-b', node: 'node-b' }]
    writeFileSync(join(node.bundle, '..', '..', 'index.json'), JSON.stringify({ assignments, nodes: { [NODE]: digest } }))
    expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 0, problems: [] })
    expect(rules()).not.toContain('6000:')
  })

  it('keep their leak filter, whatever somebody puts into the table, and how much', async () => {
    writeBundle(node.bundle, BOTH)
    expect((await node.agent('apply', { maxRemove: 100 })).exitCode).toBe(0)
    const before = node.state()
    const rules = Array.from({ length: 100 }, () => 'add rule inet egretta egress-ip-sec-filter accept\n').join('')
    const chains = Array.from({ length: 50 }, (_, each) => `add chain inet egretta c${each}\n`).join('')
    const input = `flush chain inet egretta egress-ip-sec-filter\n${rules}${chains}`
    node.namespace.exec('nft', ['-f', '-'], { input })
    expect(node.state()).not.toBe(before)
    expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 0, problems: [] })
    expect(node.state()).toBe(before)
  })

  it('are silenced on their interface when the node leaves, whatever interface is missing', async () => {
    await node.agent('apply')
    expect(summary(await node.agent('apply', { phase: 'shutdown' }))).toMatchObject({ exitCode: 0, problems: [] })
    const guard = () => nft('list', 'table', 'netdev', 'egretta-guard')
    expect(guard()).toMatch(/hook ingress device "eth1"/)
    expect(guard()).toMatch(/hook egress device "eth1"/)
    expect(guard()).toContain('198.51.100.50')
    expect(guard()).toContain('0x20010db8000100000000000000000050')
    // The first table is the seed's, for the wire of the bridge alone.
    expect(nft('list', 'table', 'netdev', 'ovn-kubernetes-egressip')).not.toContain('198.51.100.50')
    expect(summary(await node.agent('apply', { phase: 'shutdown' }))).toEqual(CONVERGED)

    // The bundle loses the addresses, then their node leaves: they are on the host, so they stay silenced there.
    await node.agent('apply')
    expect(nft('list', 'tables')).not.toContain('egretta-guard')
    writeBundle(node.bundle, NONE)
    expect(summary(await node.agent('apply', { phase: 'shutdown', maxRemove: 100 }))).toMatchObject({ exitCode: 0, problems: [] })
    expect(guard()).toMatch(/hook ingress device "eth1"[\s\S]*198\.51\.100\.50|198\.51\.100\.50[\s\S]*hook ingress device "eth1"/)
    expect(summary(await node.agent('apply', { phase: 'shutdown' }))).toEqual(CONVERGED)

    const other: Secondary = { network: '198.51.101.0/24', egressIP: '198.51.101.50', pods: [] }
    writeBundle(node.bundle, { ...BOTH, egress: ['192.0.2.50'], secondary: [V4, other] })
    const half = await node.agent('apply', { phase: 'shutdown' })
    expect(summary(half)).toMatchObject({ exitCode: 4, problems: ['InterfaceMissing'] })
    expect(half.pending.every(({ key }) => key.includes('198.51.101'))).toBe(true)
    expect(guard()).toContain('198.51.101.50')
    expect(nft('list', 'table', 'netdev', 'ovn-kubernetes-egressip')).toContain('192.0.2.50')
  })
})
