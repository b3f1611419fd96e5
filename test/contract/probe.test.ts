import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { announce } from '../../src/host/announce.js'
import { createExec, type Exec } from '../../src/host/exec.js'
import { type Claim, clock, fallsSilent, probe } from '../../src/host/probe.js'
import type { Wire } from '../../src/host/wire.js'
import { type Address, parseAddress } from '../../src/model/address.js'
import { record } from '../lab/capture.js'
import { cable, createNamespace, type Namespace, until } from '../lab/netns.js'
import { addBridge, startOvs } from '../lab/ovs.js'
import { describeWith } from '../requires.js'
import { execOn, type Machine, machine } from './machine.js'

const ip = (text: string): Address => {
  const address = parseAddress(text)
  if (!address) throw new Error(text)
  return address
}

const MAC = '02:00:00:00:00:01'
const OTHER = '02:00:00:00:00:0b'
const HELD = ['192.0.2.50', '2001:db8::50']
const FREE = ['192.0.2.51', '2001:db8::51']

describeWith(['root', 'linux', 'ip', 'nft', 'ovs', 'arping', 'ndptool', 'tcpdump'], 'asking for an address on its wire', () => {
  let host: Machine
  let station: Namespace
  let exec: Exec
  beforeEach(async () => {
    host = machine('probe', { ovs: true })
    exec = execOn(host)
    station = createNamespace('station')
    cable({ namespace: host.namespace, device: 'eth1', mac: MAC }, { namespace: station, device: 'eth0', mac: OTHER })
    const settled = () => !host.namespace.exec('ip', ['addr', 'show', 'dev', 'eth1']).stdout.includes('tentative')
    await until('link-local address', 10, settled)
  })
  afterEach(() => {
    station?.close()
    host?.close()
  })

  const hold = (dev: string, namespace = station) => {
    for (const text of HELD)
      namespace.exec('ip', [
        'addr',
        'add',
        `${text}/${text.includes(':') ? '128' : '32'}`,
        'dev',
        dev,
        ...(text.includes(':') ? ['nodad'] : []),
      ])
  }
  const bridgeWire = (vlan: number): Wire => {
    const { ovs } = host
    if (!ovs) throw new Error('no Open vSwitch')
    ovs.vsctl('add-port', 'br-ex', 'eth1')
    const port = Number(ovs.vsctl('get', 'interface', 'eth1', 'ofport'))
    return { kind: 'bridge', bridge: 'br-ex', rundir: ovs.rundir, mac: MAC, port, vlan, device: 'eth1' }
  }
  const deviceWire = (): Wire => ({ kind: 'device', device: 'eth1' })
  const claims = (wire: Wire, texts = [...HELD, ...FREE]): readonly Claim[] => texts.map((text) => ({ address: ip(text), wire }))
  const sorted = (heard: ReadonlyMap<string, string>) => [...heard].sort(([a], [b]) => (a < b ? -1 : 1))
  const answered = HELD.map((text) => [text, OTHER])

  it('says who answers, through a bridge of Open vSwitch and on a device', async () => {
    hold('eth0')
    const before = host.namespace.exec('nft', ['list', 'ruleset']).stdout
    expect(sorted(await probe(exec, claims(deviceWire())))).toEqual(answered)
    expect(sorted(await probe(exec, claims(bridgeWire(0))))).toEqual(answered)
    expect(host.namespace.exec('nft', ['list', 'ruleset']).stdout).toBe(before)
  })

  it('hears answers in the VLAN of the gateway, and finds nobody outside of it', async () => {
    // A bridge of its own that is a station in VLAN 7 alone.
    const ovs = startOvs(station, join(host.folder, 'station'))
    addBridge(station, ovs, 'vlan7', OTHER)
    ovs.vsctl('set', 'port', 'vlan7', 'tag=7', '--', 'add-port', 'vlan7', 'eth0')
    hold('vlan7')
    const wire = bridgeWire(7)
    expect(sorted(await probe(exec, claims(wire)))).toEqual(answered)
    expect(sorted(await probe(exec, claims({ ...wire, vlan: 8 } as Wire)))).toEqual([])
  })

  it('hears what a flow of the bridge drops', async () => {
    hold('eth0')
    const wire = bridgeWire(0)
    host.ovs?.ofctl('add-flow', 'br-ex', 'priority=1000,actions=drop')
    expect(sorted(await probe(exec, claims(wire)))).toEqual(answered)
  })

  it('tells nobody that the address is here, and leaves neighbors as they are', async () => {
    station.exec('ip', ['addr', 'add', '192.0.2.9/24', 'dev', 'eth0'])
    host.namespace.exec('ip', ['addr', 'add', '192.0.2.8/24', 'dev', 'eth1'])
    for (const wire of [deviceWire(), bridgeWire(0)]) {
      const listening = await record(station, 'eth0', join(host.folder, `${wire.kind}.pcap`), 'arp', 'in')
      expect((await probe(exec, claims(wire, ['192.0.2.51']))).size).toBe(0)
      const frames = (await listening.stop()).map(({ frame }) => frame)
      expect(frames.map((frame) => [frame.readUInt16BE(20), frame.subarray(28, 32).join('.'), frame.subarray(38, 42).join('.')])).toEqual(
        Array.from({ length: 3 }, () => [1, '0.0.0.0', '192.0.2.51']),
      )
      expect(station.exec('ip', ['neigh']).stdout).not.toContain('192.0.2.51')
    }
  })

  it('takes a thousand addresses in not much more time than one', async () => {
    const wire = bridgeWire(0)
    station.exec('ip', ['-batch', '-'], {
      input: Array.from({ length: 1000 }, (_, n) => `addr add 198.18.${n >> 8}.${n & 255}/32 dev eth0\n`).join(''),
    })
    const many = Array.from({ length: 2000 }, (_, n) => `198.18.${n >> 8}.${n & 255}`)
    expect((await probe(exec, claims(wire, many))).size).toBe(1000)
  })

  it('fails where nobody can be asked, and says why', async () => {
    const poor = createExec({ prefix: host.prefix, path: '/nonexistent' })
    await expect(probe(poor, claims(deviceWire()))).rejects.toThrow(/is not installed/)
    await expect(probe(exec, claims({ kind: 'device', device: 'eth9' }))).rejects.toThrow(/arping|ndptool|eth9/)
    await expect(probe(exec, claims({ ...bridgeWire(0), device: null } as Wire))).rejects.toThrow(/no device for the uplink of br-ex/)
    expect(host.namespace.exec('nft', ['list', 'tables']).stdout).toBe('')
  })

  it('notices that one of the stations falls silent, and ends at its deadline and when it is told', async () => {
    hold('eth0')
    const held = claims(deviceWire(), HELD)
    const turn = fallsSilent(exec, held, clock() + 60)
    station.exec('ip', ['addr', 'del', '2001:db8::50/128', 'dev', 'eth0'])
    await turn
    expect(sorted(await probe(exec, held))).toEqual([['192.0.2.50', OTHER]])
    const only = claims(deviceWire(), ['192.0.2.50'])
    await fallsSilent(exec, only, clock() + 0.2)
    const told = new AbortController()
    const waiting = fallsSilent(exec, only, clock() + 60, told.signal)
    told.abort()
    await waiting
  })

  it('announces with every form that stations believe', async () => {
    for (const wire of [deviceWire(), bridgeWire(0)]) {
      const dev = wire.kind === 'bridge' ? 'br-ex' : 'eth1'
      hold(dev, host.namespace)
      const about = `ether src ${MAC} and ((arp and arp[14:4] = 0xc0000232) or icmp6[icmp6type] = 136)`
      const listening = await record(station, 'eth0', join(host.folder, `${wire.kind}.pcap`), about, 'in')
      await announce(exec, claims(wire, HELD))
      const forms = (await listening.stop()).map(({ frame }) =>
        frame.readUInt16BE(12) === 0x0806 ? `ARP ${frame.readUInt16BE(20)}` : `ICMPv6 ${frame[54]}`,
      )
      expect([...forms].sort()).toEqual(['ARP 1', 'ARP 2', 'ICMPv6 136'])
    }
  })
})
