import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { apply } from '../../src/agent/apply.js'
import type { Request } from '../../src/agent/run.js'
import { PHASES } from '../../src/model/bundle.js'
import { OWN_COOKIE } from '../../src/model/numbers.js'
import { flow, openflow } from '../../src/syntax/openflow.js'
import { capture, type Heard, record } from '../lab/capture.js'
import { count } from '../lab/handover.js'
import { bridge, cable, createNamespace, type Namespace } from '../lab/netns.js'
import { ask } from '../lab/probe.js'
import { describeWith } from '../requires.js'
import { artefacts, BRIDGE, type Content, NODE, withFile, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

const MOVING = ['192.0.2.50', '2001:db8::50']
const SECOND = [
  { network: '198.51.100.0/24', egressIP: '198.51.100.50', pods: ['10.244.1.3'] },
  { network: '2001:db8:51::/64', egressIP: '2001:db8:51::50', pods: ['fd00:10:244:1::3'] },
]
const ALL = [...MOVING, ...SECOND.map(({ egressIP }) => egressIP)]
const CARD = { client: 'eth0', a: 'uplink', second: 'ens4' }
const CLIENT = { 4: '192.0.2.9', 6: '2001:db8::9' }

/** Two nodes and a client on one wire, a second wire for the interfaces of their own. */
interface Pair {
  readonly client: Namespace
  readonly old: Node
  readonly young: Node
  close(): void
}

function openPair(): Pair {
  const wires = createNamespace('wires')
  const client = createNamespace('client')
  const [old, young] = [openNode('old'), openNode('new')]
  const ports: string[][] = [[], []]
  for (const [index, { namespace, ovs }] of [old, young].entries()) {
    namespace.exec('ip', ['addr', 'flush', 'dev', BRIDGE, 'scope', 'global'])
    ovs.vsctl('set', 'bridge', BRIDGE, `other-config:hwaddr=02:00:00:00:00:0${index + 1}`)
    namespace.exec('ip', ['addr', 'add', `192.0.2.1${index + 1}/24`, 'dev', BRIDGE])
    namespace.exec('ip', ['addr', 'add', `2001:db8::1${index + 1}/64`, 'dev', BRIDGE, 'nodad'])
    for (const [wire, device] of [CARD.a, CARD.second].entries()) {
      const port = `n${index}w${wire}`
      cable({ namespace, device, ...(wire === 1 ? { mac: `02:00:00:00:01:0${index + 1}` } : {}) }, { namespace: wires, device: port })
      ports[wire]?.push(port)
    }
    ovs.vsctl('add-port', BRIDGE, CARD.a)
    namespace.exec('ip', ['addr', 'add', `198.51.100.1${index + 1}/24`, 'dev', CARD.second])
    namespace.exec('ip', ['addr', 'add', `2001:db8:51::1${index + 1}/64`, 'dev', CARD.second, 'nodad'])
    for (const key of ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1', 'net.ipv4.conf.all.arp_ignore=1'])
      namespace.exec('sysctl', ['-qw', key])
  }
  for (const [wire, device] of ['eth0', 'eth1'].entries()) {
    cable({ namespace: client, device, mac: `02:00:00:00:0${wire}:09` }, { namespace: wires, device: `c${wire}` })
    bridge(wires, `wire${wire}`, [...(ports[wire] ?? []), `c${wire}`])
  }
  client.exec('ip', ['addr', 'add', `${CLIENT[4]}/24`, 'dev', 'eth0'])
  client.exec('ip', ['addr', 'add', `${CLIENT[6]}/64`, 'dev', 'eth0', 'nodad'])
  client.exec('ip', ['addr', 'add', '198.51.100.9/24', 'dev', 'eth1'])
  client.exec('ip', ['addr', 'add', '2001:db8:51::9/64', 'dev', 'eth1', 'nodad'])
  return {
    client,
    old,
    young,
    close: () => {
      for (const each of [old, young, client, wires]) each.close()
    },
  }
}

const MACS = { old: ['02:00:00:00:00:01', '02:00:00:00:01:01'], young: ['02:00:00:00:00:02', '02:00:00:00:01:02'] }

describeWith(['root', 'linux', 'ip', 'nft', 'ovs', 'arping', 'ndptool', 'tcpdump'], 'an egress IP that moves to another node', () => {
  let pair: Pair
  beforeEach(async () => {
    pair = openPair()
    await sleep(2000)
  })
  afterEach(() => pair?.close())

  const content = (index: number, holds: boolean): Content => ({
    own: [`192.0.2.1${index + 1}`, `2001:db8::1${index + 1}`],
    device: CARD.a,
    egress: holds ? MOVING : [],
    secondary: holds ? SECOND : [],
  })
  const give = (node: Node, holds: boolean) => writeBundle(node.bundle, content(node === pair.old ? 0 : 1, holds))
  const patient = (node: Node, over: Partial<Request> = {}) => {
    const { bundle, stateDir, ovs, prefix } = node
    return apply({ bundle, stateDir, node: NODE, phase: 'steady', rundir: ovs.rundir, maxRemove: 100, exec: { prefix }, ...over })
  }
  const holds = (node: Node) => {
    const listed = node.namespace.exec('ip', ['-o', 'addr', 'show']).stdout
    return ALL.filter((text) => listed.includes(` ${text}/`))
  }
  const tables = (node: Node) => node.namespace.exec('nft', ['list', 'tables']).stdout.trim().split('\n').sort()
  const guards = (node: Node) => tables(node).filter((table) => table.includes('netdev'))

  /** What the client hears on both wires while it asks for every address 20 times a second. */
  const listen = async () => {
    const asking = ALL.map((address) => {
      const second = address.startsWith('198') || address.includes(':51:')
      const [source4, source6] = second ? ['198.51.100.9', '2001:db8:51::9'] : [CLIENT[4], CLIENT[6]]
      return ask(pair.client, second ? 'eth1' : 'eth0', address.includes(':') ? source6 : source4, [address], 20)
    })
    const captures = await Promise.all(['eth0', 'eth1'].map((dev) => capture(pair.client, dev, join(pair.old.folder, `${dev}.pcap`))))
    return async (): Promise<readonly Heard[]> => {
      for (const each of asking) each.stop()
      return (await Promise.all(captures.map((each) => each.stop()))).flat()
    }
  }
  const speaks = ({ kind }: Heard) => kind !== 'question'

  for (const first of ['old', 'new'] as const) {
    it(`whichever node applies first: the ${first} one`, async () => {
      give(pair.old, true)
      give(pair.young, false)
      expect((await patient(pair.old)).problems).toEqual([])
      await patient(pair.young)
      expect(holds(pair.old)).toEqual(ALL)
      const stop = await listen()
      await sleep(500)
      give(pair.old, false)
      give(pair.young, true)
      const order = first === 'old' ? [pair.old, pair.young] : [pair.young, pair.old]
      const [a, b] = order as [Node, Node]
      const running = patient(a)
      if (first === 'old') await running
      else await sleep(1500)
      expect(holds(pair.young)).toEqual([])
      const reports = await Promise.all([running, patient(b)])
      await sleep(300)
      const heard = await stop()
      for (const report of reports) expect(summary(report)).toMatchObject({ exitCode: 0, problems: [], pending: [] })
      expect([holds(pair.old), holds(pair.young)]).toEqual([[], ALL])
      expect([guards(pair.old), guards(pair.young)]).toEqual([[], []])
      for (const address of ALL) {
        const about = heard.filter((one) => one.address === address)
        const start = about.find(({ kind, mac }) => kind === 'answer' && MACS.young.includes(mac))
        expect(start, address).toBeDefined()
        const from = start?.at ?? 0
        expect(
          about.filter((one) => one.at >= from && MACS.old.includes(one.mac) && speaks(one)),
          address,
        ).toEqual([])
        const announced = about.filter(({ kind, mac }) => kind === 'claim' && MACS.young.includes(mac))
        expect(announced.length, address).toBeGreaterThanOrEqual(3)
      }
      const { stdout } = pair.young.namespace.exec('ip', ['-6', 'addr', 'show'])
      expect(stdout).not.toMatch(/dadfailed|tentative/)
    })
  }

  it('is claimed in the end though another station answers for it, and whoever runs the agent is told', async () => {
    pair.client.exec('ip', ['addr', 'add', '192.0.2.50/32', 'dev', 'eth0'])
    give(pair.young, true)
    const waits = await pair.young.agent('apply', { maxRemove: 100 })
    expect(summary(waits)).toMatchObject({
      exitCode: 4,
      problems: [],
      pending: ['addresses: another station, 02:00:00:00:00:09, answers for it'],
    })
    expect(holds(pair.young)).toEqual(ALL.filter((text) => text !== '192.0.2.50'))
    expect(guards(pair.young)).toEqual([])
    const report = await patient(pair.young, { claimAfter: 2 })
    expect(summary(report)).toMatchObject({ exitCode: 0, problems: ['AddressStillAnswered'], pending: [] })
    expect(report.problems[0]?.message).toMatch(/02:00:00:00:00:09, still answers for 192\.0\.2\.50 after [23] seconds/)
    expect(holds(pair.young)).toEqual(ALL)
    expect(summary(await patient(pair.young))).toMatchObject({ exitCode: 0, changes: [], problems: [] })
  })

  it('lets no pod out through it while it waits, with this address or another', async () => {
    pair.client.exec('ip', ['addr', 'add', '198.51.100.50/32', 'dev', 'eth1'])
    give(pair.young, true)
    expect((await pair.young.agent('apply')).exitCode).toBe(4)
    const { namespace } = pair.young
    expect(namespace.exec('nft', ['list', 'table', 'inet', 'egretta']).stdout).not.toContain('198.51.100.50')
    expect(namespace.exec('nft', ['list', 'table', 'inet', 'egretta']).stdout).toContain('0x000003f1')
    expect(namespace.exec('ip', ['rule']).stdout).not.toContain('10.244.1.3')
    expect(namespace.exec('ip', ['-6', 'rule']).stdout).toContain('fd00:10:244:1::3')
  })

  it('is given back and taken again by hand, and nobody answers meanwhile', async () => {
    give(pair.old, true)
    await patient(pair.old)
    const released = await pair.old.agent('apply', { move: { verb: 'release', address: '2001:db8::50' } })
    expect(summary(released)).toMatchObject({
      exitCode: 4,
      problems: [],
      pending: ['addresses: the node gave it back; egretta-agent claim 2001:db8::50 takes it again'],
    })
    await pair.old.agent('apply', { move: { verb: 'release', address: '198.51.100.50' } })
    expect(holds(pair.old)).toEqual(['192.0.2.50', '2001:db8:51::50'])
    expect(guards(pair.old)).toEqual(['table netdev egretta-guard', 'table netdev ovn-kubernetes-egressip'])
    expect(summary(await pair.old.agent('apply'))).toMatchObject({ exitCode: 4, changes: [], problems: [] })
    // The address is at another station now, so it is not simply taken again; our own guard does not hide that.
    pair.client.exec('ip', ['addr', 'add', '2001:db8::50/128', 'dev', 'eth0', 'nodad'])
    const claimed = await pair.old.agent('apply', { move: { verb: 'claim', address: '2001:db8::50' } })
    expect(summary(claimed)).toMatchObject({ exitCode: 4, problems: [] })
    expect(claimed.pending.map(({ reason }) => reason)).toContain('another station, 02:00:00:00:00:09, answers for it')
    pair.client.exec('ip', ['addr', 'del', '2001:db8::50/128', 'dev', 'eth0'])
    expect((await patient(pair.old)).exitCode).toBe(4)
    expect(summary(await patient(pair.old, { move: { verb: 'claim', address: '198.51.100.50' } }))).toMatchObject({
      exitCode: 0,
      problems: [],
    })
    expect(holds(pair.old)).toEqual(ALL)
    expect(guards(pair.old)).toEqual([])
  })

  it('is forgotten as given back when the bundle has it no more, and unknown when it never had', async () => {
    give(pair.old, true)
    await patient(pair.old)
    await pair.old.agent('apply', { move: { verb: 'release', address: '192.0.2.50' } })
    give(pair.old, false)
    expect((await patient(pair.old)).exitCode).toBe(0)
    expect(guards(pair.old)).toEqual([])
    give(pair.old, true)
    expect((await patient(pair.old)).exitCode).toBe(0)
    const before = pair.old.state()
    const refused = await pair.old.agent('apply', { move: { verb: 'release', address: '192.0.2.77' } })
    expect(summary(refused)).toMatchObject({ exitCode: 1, changes: [], problems: ['UnknownEgressIP'] })
    expect(pair.old.state()).toBe(before)
    writeFileSync(join(pair.old.stateDir, 'moves.json'), '{')
    expect(summary(await pair.old.agent('apply'))).toMatchObject({ exitCode: 1, changes: [], problems: ['CommandFailed'] })
    expect(readFileSync(join(pair.old.stateDir, 'moves.json'), 'utf8')).toBe('{')
  })

  it('is asked for and announced in the VLAN of the gateway, which the flows of the bundle name', async () => {
    const base = { bridge: BRIDGE, table: 9, priority: 1, cookie: OWN_COOKIE + 1n, actions: 'drop' }
    const vlan = {
      path: `openflow.${BRIDGE}.flows`,
      text: openflow(BRIDGE).print([flow({ ...base, match: 'dl_vlan=7,ip' })]),
      phases: PHASES,
    }
    const all = content(1, true)
    writeBundle(pair.young.bundle, all, withFile(artefacts(all), vlan))
    const listening = await record(pair.client, 'eth0', join(pair.old.folder, 'vlan.pcap'), 'ether src 02:00:00:00:00:02', 'in')
    expect(summary(await pair.young.agent('apply'))).toMatchObject({ exitCode: 0, problems: [] })
    const tagged = (await listening.stop()).map(({ frame }) => frame).filter((frame) => frame.readUInt32BE(12) === 0x81000007)
    const of = (type: number) => tagged.filter((frame) => frame.readUInt16BE(16) === type).length
    // Three probes of each family; one announcement of IPv6, two of IPv4.
    expect([of(0x0806), of(0x86dd)]).toEqual([5, 4])
  })

  it('leaves nothing behind of a probe whose agent was killed', async () => {
    give(pair.young, true)
    pair.young.namespace.exec('nft', ['add table netdev egretta-probe-0; add chain netdev egretta-probe-0 hear'])
    expect(summary(await pair.young.agent('diff')).changes.join()).not.toContain('probe')
    expect(summary(await pair.young.agent('apply'))).toMatchObject({ exitCode: 0, problems: [] })
    expect(tables(pair.young)).toEqual(['table inet egretta'])
  })

  it('is claimed with a warning where nobody can be asked', async () => {
    give(pair.young, true)
    pair.young.ovs.vsctl('set', 'bridge', BRIDGE, 'external-ids:bridge-uplink=uplink')
    const bundle = writeBundle(pair.young.bundle, { ...content(1, true), ownership: { nftables: 'off' } })
    const report = await pair.young.agent('apply', { bundle })
    expect(summary(report).problems).toEqual(['AddressNotProbed'])
    expect(holds(pair.young)).toEqual(ALL)
  })

  it('is neither silenced nor taken away by a pass that is refused', async () => {
    give(pair.old, true)
    await patient(pair.old)
    give(pair.old, false)
    pair.old.namespace.exec('ip', ['neigh', 'replace', '169.254.0.9', 'lladdr', '02:00:00:00:00:99', 'nud', 'permanent', 'dev', BRIDGE])
    const stop = await listen()
    writeBundle(pair.old.bundle, { ...content(0, false), masquerade: ['169.254.0.1', 'fd69::1', '169.254.0.9'] })
    expect(summary(await pair.old.agent('apply', { maxRemove: 100 }))).toMatchObject({
      exitCode: 1,
      changes: [],
      problems: ['ForeignConflict'],
    })
    await sleep(300)
    const heard = await stop()
    expect(guards(pair.old)).toEqual([])
    expect(holds(pair.old)).toEqual(ALL)
    expect(
      count(
        heard.filter(({ address }) => address === '192.0.2.50'),
        '02:00:00:00:00:01',
        '',
        0,
        Number.POSITIVE_INFINITY,
      ).oldAnswers,
    ).toBeGreaterThan(0)
  })
})
