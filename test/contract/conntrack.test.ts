import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { hostConntrack } from '../../src/host/conntrack.js'
import { createExec } from '../../src/host/exec.js'
import type { Bridge } from '../../src/host/ovsdb.js'
import { type Address, parseAddress } from '../../src/model/address.js'
import { until } from '../lab/netns.js'
import { describeWith } from '../requires.js'
import { execOn, type Machine, machine } from './machine.js'
import { BRIDGE } from './samples.js'

const ip = (text: string): Address => parseAddress(text) as Address
const [EGRESS_IP, OTHER_IP, EGRESS_IP6] = ['198.51.100.50', '198.51.100.51', '2001:db8:1::50'] as const
const ZONE = 64000
const [PEER, PEER6] = ['192.0.2.99', '2001:db8::99'] as const

const bridge = (datapath: string): readonly Bridge[] => [{ name: BRIDGE, uplink: null, datapath, ports: [] }]

describeWith(['root', 'linux', 'ip', 'conntrack'], 'connections in the kernel', () => {
  let host: Machine
  let port = 1000

  beforeAll(() => {
    host = machine('conntrack', { ovs: false })
  })
  afterAll(() => host.close())
  beforeEach(() => {
    host.namespace.exec('conntrack', ['-F'])
    connection('10.244.1.3', EGRESS_IP)
    connection('10.244.1.4', EGRESS_IP)
    connection('10.244.1.3', OTHER_IP)
    connection('fd00:10:244::3', EGRESS_IP6)
    connection('10.244.1.3', EGRESS_IP, ZONE)
    connection('fd00:10:244::4', EGRESS_IP6, ZONE)
  })

  /** An entry of a pod that speaks with a server, translated to the egress IP. */
  const connection = (pod: string, egressIP: string, zone?: number) => {
    const server = pod.includes(':') ? '2001:db8:9::9' : '203.0.113.9'
    const own = String(port++)
    const ports = ['--sport', own, '--dport', '80', '--reply-port-src', '80', '--reply-port-dst', own]
    const tuples = ['-s', pod, '-d', server, '-r', server, '-q', egressIP, ...ports]
    host.namespace.exec('conntrack', ['-I', '-p', 'udp', ...tuples, '-t', '600', ...(zone ? ['-w', String(zone)] : [])])
  }
  /** What is left: source, address that replies go to, zone. */
  const left = () =>
    host.namespace
      .exec('conntrack', ['-L', '-f', 'ipv4'])
      .stdout.concat(host.namespace.exec('conntrack', ['-L', '-f', 'ipv6']).stdout)
      .split('\n')
      .flatMap((line) => {
        const [, source, address] = /src=(\S+) .*dst=(\S+) sport=80/.exec(line) ?? []
        return source ? [`${source} ${address}${line.includes(`zone=${ZONE}`) ? ' zone' : ''}`] : []
      })
      .sort()
  const forget = (connections: Parameters<ReturnType<typeof hostConntrack>['forget']>[0], datapath = 'system') =>
    hostConntrack(execOn(host), host.folder, bridge(datapath), false).forget(connections)

  it('end for a pod and an egress IP, in every zone, and no other ones', async () => {
    await forget([{ pod: ip('10.244.1.3'), egressIP: ip(EGRESS_IP) }])
    expect(left()).toEqual([
      '10.244.1.3 198.51.100.51',
      '10.244.1.4 198.51.100.50',
      'fd00:10:244::3 2001:db8:1::50',
      'fd00:10:244::4 2001:db8:1::50 zone',
    ])
  })

  it('end for several pods of both families', async () => {
    const pods = ['10.244.1.3', '10.244.1.4', '10.244.1.5'].map((pod) => ({ pod: ip(pod), egressIP: ip(EGRESS_IP) }))
    await forget([...pods, { pod: ip('fd00:10:244::3'), egressIP: ip(EGRESS_IP6) }])
    expect(left()).toEqual(['10.244.1.3 198.51.100.51', 'fd00:10:244::4 2001:db8:1::50 zone'])
  })

  it('end for an egress IP of a bridge in its zone alone', async () => {
    await forget([
      { bridge: BRIDGE, zone: ZONE, egressIP: ip(EGRESS_IP) },
      { bridge: BRIDGE, zone: ZONE, egressIP: ip(EGRESS_IP6) },
    ])
    expect(left()).toEqual([
      '10.244.1.3 198.51.100.50',
      '10.244.1.3 198.51.100.51',
      '10.244.1.4 198.51.100.50',
      'fd00:10:244::3 2001:db8:1::50',
    ])
  })

  it('need not be there', async () => {
    const before = left()
    await forget([])
    await forget([{ pod: ip('10.244.9.9'), egressIP: ip(EGRESS_IP) }])
    await forget([{ bridge: BRIDGE, zone: 5, egressIP: ip(EGRESS_IP) }])
    expect(left()).toEqual(before)
  })

  it('say what is missing', async () => {
    const of = { pod: ip('10.244.1.3'), egressIP: ip(EGRESS_IP) }
    const without = hostConntrack(createExec({ path: host.folder, scratch: [host.folder] }), host.folder, [], false)
    await expect(without.forget([of])).rejects.toMatchObject({ code: 'MissingTool', remedy: expect.stringContaining('conntrack-tools') })
    const refusing = hostConntrack(
      async () => ({ code: 1, stdout: '', stderr: 'conntrack v1.4.7: Operation failed: such' }),
      host.folder,
      [],
      false,
    )
    await expect(refusing.forget([of])).rejects.toMatchObject({ code: 'CommandFailed' })
    await expect(forget([{ bridge: BRIDGE, zone: ZONE, egressIP: ip(EGRESS_IP) }], 'netdev')).rejects.toMatchObject({
      message: expect.stringContaining('no control socket'),
    })
  })
})

describeWith(['root', 'linux', 'ip', 'ovs'], 'connections in the datapath of ovs-vswitchd', () => {
  it('end for an egress IP in its zone alone', async () => {
    const host = machine('conntrack-ovs', { ovs: true })
    const { ovs } = host
    if (!ovs) throw new Error('no Open vSwitch')
    try {
      const control = ['-t', `${ovs.rundir}/ovs-vswitchd.ctl`]
      const entries = () =>
        host.namespace
          .exec('ovs-appctl', [...control, 'dpctl/dump-conntrack'])
          .stdout.split('\n')
          .flatMap((line) => /reply=\(src=[^,]+,dst=([^,]+),.*zone=(\d+)/.exec(line)?.slice(1, 3).join(' ') ?? [])
          .sort()
      /** The host says something to a neighbor, and the bridge translates it. */
      const connection = async (peer: string, egressIP: string, zone: number) => {
        const count = entries().length
        ovs.ofctl('del-flows', BRIDGE)
        ovs.ofctl(
          'add-flow',
          BRIDGE,
          `in_port=LOCAL,udp${peer.includes(':') ? '6' : ''},actions=ct(commit,zone=${zone},nat(src=${egressIP}))`,
        )
        host.namespace.exec('bash', ['-c', `echo > /dev/udp/${peer}/80`])
        await until('entry', 10, () => entries().length > count)
      }
      for (const peer of [PEER, PEER6]) {
        host.namespace.exec('ip', ['neigh', 'add', peer, 'lladdr', '02:00:00:00:00:99', 'dev', BRIDGE, 'nud', 'permanent'])
      }
      await connection(PEER, EGRESS_IP, ZONE)
      await connection(PEER, OTHER_IP, ZONE)
      await connection(PEER, EGRESS_IP, 5)
      await connection(PEER6, EGRESS_IP6, ZONE)
      expect(entries()).toHaveLength(4)
      const conntrack = hostConntrack(execOn(host), ovs.rundir, bridge('netdev'), false)
      await conntrack.forget([{ bridge: BRIDGE, zone: ZONE, egressIP: ip(EGRESS_IP) }])
      expect(entries()).toHaveLength(3)
      await conntrack.forget([{ bridge: BRIDGE, zone: ZONE, egressIP: ip(EGRESS_IP6) }])
      expect(entries()).toEqual([`${EGRESS_IP} 5`, `${OTHER_IP} ${ZONE}`])
    } finally {
      host.close()
    }
  })
})
