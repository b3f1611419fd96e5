import { describe, expect, it } from 'vitest'
import {
  resolveAddresses,
  resolveFlows,
  resolveNeighbors,
  resolveNft,
  resolvePortFlags,
  resolveRoutes,
  resolveRules,
} from '../../src/host/resolve.js'
import type { HostNames } from '../../src/host/symbols.js'
import type { HostAddress } from '../../src/syntax/addresses.js'
import { egressTable } from '../../src/syntax/egress-nat.js'
import { guardFlows, guardTable, secondaryGuardTable } from '../../src/syntax/guard.js'
import { flow, openflow, printFlow } from '../../src/syntax/openflow.js'
import type { HostRoute } from '../../src/syntax/routes.js'
import { hostNames, ip, link, liveAddress, liveRoute, prefix } from './names.js'

const port = (name: string, type: string, ofport: number | null) => ({ name, type, ofport })
const PATCH = 'patch-br-ex_node-a-to-br-int'
const LOCAL = port('br-ex', 'internal', 65534)

const LINKS = ['br-ex', 'ens3', 'ens4'].map((name, at) => link(name, at + 2))
const host = (ports: readonly ReturnType<typeof port>[], uplink: string | null = null, datapath = ''): HostNames =>
  hostNames(LINKS, [], [{ name: 'br-ex', uplink, datapath, ports: [LOCAL, ...ports] }])

const guard = guardFlows('br-ex', 'node-a', [], ['default'])
const out = [flow({ bridge: 'br-ex', priority: 1, cookie: 0xe6e70001n, match: 'in_port=LOCAL', actions: 'uplink(br-ex)' })]

describe('symbols of flows', () => {
  it('become port numbers', () => {
    const { entries, pending } = resolveFlows([...guard, ...out], host([port(PATCH, 'patch', 7), port('ens3', '', 1)]))
    expect(pending).toEqual([])
    expect(entries.map(printFlow).join('\n')).toMatch(/in_port=7,.*\n.*in_port=7,.*\n.*actions=output:1$/)
  })

  it.each([
    [null, 'Open vSwitch does not run, or not in OVS_RUNDIR'],
    [[], 'Open vSwitch has no bridge br-ex, or does not answer for it'],
  ])('wait for a bridge', (bridges, reason) => {
    const { entries, pending } = resolveFlows(guard, { ...host([]), bridges })
    expect(entries).toEqual([])
    expect(pending).toEqual(guard.map((entry) => ({ subsystem: 'openflow', key: openflow('br-ex').key(entry), reason })))
  })

  it('wait for a port, and for Open vSwitch to open it', () => {
    expect(resolveFlows(guard, host([])).pending[0]?.reason).toBe(`bridge br-ex has no port ${PATCH}`)
    expect(resolveFlows(guard, host([port(PATCH, 'patch', null)])).pending[0]?.reason).toBe(`Open vSwitch has not opened the port ${PATCH}`)
  })
})

describe('a flow that sends to several networks', () => {
  const BLUE = 'patch-br-ex_blue_node-a-to-br-int'
  const to = (actions: string, match = 'dl_dst=02:00:00:00:00:01') =>
    flow({ bridge: 'br-ex', priority: 10, cookie: 0xe6e70001n, match, actions })
  const all = to('output:patch(default),output:patch(blue),NORMAL')
  const answer = (entry: typeof all, ...ports: readonly ReturnType<typeof port>[]) => {
    const { entries, pending } = resolveFlows([entry], host(ports))
    return [entries.map(({ actions }) => actions), pending.map(({ reason }) => reason)]
  }
  const [one, two] = [port(PATCH, 'patch', 1), port(BLUE, 'patch', 3)]

  it('waits for the port of one network, and serves the others meanwhile', () => {
    expect(answer(all, one, two)).toEqual([['output:1,output:3,NORMAL'], []])
    expect(answer(all, one)).toEqual([['output:1,NORMAL'], [`bridge br-ex has no port ${BLUE}`]])
    expect(answer(all, one, port(BLUE, 'patch', null))).toEqual([['output:1,NORMAL'], [`Open vSwitch has not opened the port ${BLUE}`]])
    expect(answer(all, two)).toEqual([['output:3,NORMAL'], [`bridge br-ex has no port ${PATCH}`]])
  })

  it('waits whole where no network is left, or the port is more than one of those that it sends to', () => {
    const missing = [`bridge br-ex has no port ${BLUE}`]
    expect(answer(all)).toEqual([[], [expect.stringContaining('has no port')]])
    expect(answer(to('output:patch(blue),NORMAL'), one)).toEqual([[], missing])
    expect(answer(to('output:patch(default),output:uplink(br-ex)'), one)).toEqual([[], [expect.stringContaining('uplink of br-ex')]])
    expect(answer(to('output:patch(default),output:patch(blue)', 'in_port=patch(blue)'), one)).toEqual([[], missing])
    expect(answer(to('output:patch(default),clone(output:patch(blue))'), one)).toEqual([[], missing])
  })
})

describe('the uplink of a bridge', () => {
  const reason = (names: HostNames) => resolveFlows(out, names).pending[0]?.reason
  const number = (names: HostNames) => resolveFlows(out, names).entries[0]?.actions

  it('is the one that the bridge names, else its only device of the system', () => {
    expect(number(host([port('ens3', '', 1), port('ens4', '', 2)], 'ens4'))).toBe('output:2')
    expect(number(host([port('ens3', 'system', 1), port('gre0', 'gre', 2), port(PATCH, 'patch', 3)]))).toBe('output:1')
  })

  it('is not guessed', () => {
    expect(reason(host([port('ens3', '', 1), port('ens4', '', 2)]))).toMatch(/has several \(ens3, ens4\); set external_ids:bridge-uplink/)
    expect(reason(host([port(PATCH, 'patch', 3)]))).toMatch(/has none/)
  })
})

describe('devices of chains', () => {
  it('are replaced, and a chain whose device is missing waits with its rules, the rest of its table does not', () => {
    const names = host([port('ens3', '', 1)])
    const symbolic = resolveNft(guardTable([], 'uplink(br-ex)', '1.0.6'), names)
    expect(symbolic.pending).toEqual([])
    expect(symbolic.entries.flatMap((entry) => (entry.kind === 'chain' ? entry.hook?.dev : []))).toEqual(['ens3', 'ens3'])
    const missing = resolveNft(guardTable([], 'ens9', '1.0.6'), names)
    expect(missing.entries.map(({ kind }) => kind).sort()).toEqual(['set', 'set', 'table'])
    expect(new Set(missing.pending.map((each) => each.reason))).toEqual(new Set(['there is no network device ens9']))
  })
})

describe('fragments', () => {
  const [reassemble, plain] = ['ct(table=0,zone=64004)', 'NORMAL'].map((actions) =>
    flow({ bridge: 'br-ex', priority: 110, cookie: 0xe6e70001n, match: 'ip,nw_frag=yes,in_port=LOCAL', actions }),
  )
  const asked = [reassemble, plain].flatMap((one) => one ?? [])

  it('are put together by the datapath of the kernel alone', () => {
    expect(resolveFlows(asked, host([]))).toEqual({ entries: asked, pending: [] })
    expect(resolveFlows(asked, host([], null, 'netdev'))).toEqual({ entries: [plain], pending: [] })
  })
})

describe('flags of ports', () => {
  const flag = { bridge: 'br-ex', port: 'patch(tenant-blue_net)', flag: 'no-flood', for: null } as const
  const NETWORK = 'patch-br-ex_tenant.blue_net_node-a-to-br-int'

  it('become those of a port number', () => {
    expect(resolvePortFlags([flag], host([port(NETWORK, 'patch', 7)]))).toEqual({ entries: [{ ...flag, port: '7' }], pending: [] })
  })

  it('wait for the port', () => {
    expect(resolvePortFlags([flag], host([]))).toEqual({
      entries: [],
      pending: [
        { subsystem: 'openflow', key: 'br-ex port patch(tenant-blue_net) no-flood', reason: `bridge br-ex has no port ${NETWORK}` },
      ],
    })
  })
})

const NETWORK = 'network(198.51.100.0/24)'
const TABLE = `1000+ifindex(${NETWORK})`
const [BR_EX, ETH1] = [
  link('br-ex', 2, ['192.0.2.11/24']),
  link('eth1', 7, ['198.51.100.11/24', liveAddress('fe80::7/64', 'eth1', { scope: 'link' })]),
]
const withEth1 = hostNames([BR_EX, ETH1], [liveRoute('198.51.100.0/24', 'eth1')])
const without = hostNames([BR_EX])
const WHY = 'no network device has an address in 198.51.100.0/24'

describe('what secondary egress IPs need', () => {
  it('in nftables: an element waits alone, the rest of the table does not', () => {
    const pods = ['10.244.1.3', '10.244.1.4'].map((pod, at) => ({
      ...{ pod: ip(pod), address: ip('198.51.100.50'), for: 'EgressIP/eip-a' },
      device: at === 0 ? NETWORK : 'network(203.0.113.0/24)',
    }))
    const asked = egressTable('shared', [prefix('10.244.0.0/16')], pods)
    const { entries, pending } = resolveNft(asked, withEth1)
    expect(entries).toHaveLength(asked.length - 1)
    expect(entries.flatMap((entry) => (entry.kind === 'element' ? [entry.value] : []))).toEqual([{ concat: ['10.244.1.3', 'eth1'] }])
    expect(pending.map(({ reason }) => reason)).toEqual(['no network device has an address in 203.0.113.0/24'])
  })

  it('in the guard: the chains of a device that is missing wait, those of the others do not', () => {
    const silenced = [{ address: ip('198.51.100.50'), for: 'EgressIP/eip-a' }]
    const { entries, pending } = resolveNft(secondaryGuardTable(silenced, [NETWORK, 'network(203.0.113.0/24)'], '1.0.6'), withEth1)
    expect(entries.flatMap((entry) => (entry.kind === 'chain' ? entry.hook?.dev : []))).toEqual(['eth1', 'eth1'])
    expect(pending.every(({ reason }) => reason === 'no network device has an address in 203.0.113.0/24')).toBe(true)
    expect(pending.filter(({ key }) => key.startsWith('chain'))).toHaveLength(2)
  })

  it('in the rules: the number of the table', () => {
    const rule = { priority: 6000, src: prefix('10.244.1.3/32'), fwmark: null, table: TABLE, for: null }
    const main = { ...rule, priority: 5999, table: 'main' }
    expect(resolveRules([rule, main], withEth1)).toEqual({ entries: [{ ...rule, table: '1007' }, main], pending: [] })
    expect(resolveRules([rule, main], without)).toEqual({
      entries: [main],
      pending: [{ subsystem: 'rules', key: `6000 from 10.244.1.3/32 lookup ${TABLE}`, reason: WHY }],
    })
  })

  const route = (over: Partial<HostRoute>): HostRoute => ({
    ...{ dst: prefix('172.30.0.0/16'), family: 4, gateway: null, dev: 'br-ex', src: null, mtu: null, metric: null, scope: null },
    ...{ table: 'main', for: null },
    ...over,
  })

  it('in the routes: all of the device in the place of their copy', () => {
    const copy = route({ dst: null, dev: NETWORK, table: TABLE })
    const { entries, pending } = resolveRoutes([copy], withEth1, [])
    expect(pending).toEqual([])
    expect(entries.map(({ dst, dev, table }) => [dst?.length, dev, table])).toEqual([
      [0, 'eth1', '1007'],
      [0, '', '1007'],
      [24, 'eth1', '1007'],
    ])
    expect(resolveRoutes([copy], without, []).pending).toEqual([
      { subsystem: 'routes', key: `routes-of(${NETWORK}) inet table ${TABLE}`, reason: WHY },
    ])
  })

  it('in the routes: a device that is up, and a source that the host has or gets first', () => {
    const asked = [route({ src: ip('169.254.0.2') })]
    expect(resolveRoutes(asked, without, []).pending[0]?.reason).toBe('the host does not have 169.254.0.2')
    const coming: HostAddress = { address: prefix('169.254.0.2/17'), dev: 'br-ex', for: null }
    expect(resolveRoutes(asked, without, [coming])).toEqual({ entries: asked, pending: [] })
    const down = hostNames([{ ...BR_EX, up: false }])
    expect(resolveRoutes(asked, down, [coming]).pending[0]?.reason).toBe('the network device br-ex is down')
  })

  it('in the addresses: an interface that has one of the family already', () => {
    const on = (address: string, dev = NETWORK): HostAddress => ({ address: prefix(address), dev, for: null })
    expect(resolveAddresses([on('198.51.100.50/32')], withEth1).entries).toEqual([on('198.51.100.50/32', 'eth1')])
    const first = 'an egress IP must not be the first one'
    expect(resolveAddresses([on('2001:db8:1::50/128')], withEth1).pending[0]?.reason).toBe(
      `eth1 has no IPv6 address of its own, and ${first}`,
    )
    const alone = hostNames([link('br-ex', 2, ['192.0.2.50/32', '192.0.2.51/32'])])
    const both = [on('192.0.2.50/32', 'br-ex'), on('192.0.2.51/32', 'br-ex')]
    expect(resolveAddresses(both, alone).pending).toHaveLength(2)
    expect(resolveAddresses([on('169.254.0.2/17', 'br-ex')], hostNames([link('br-ex', 2)])).pending).toEqual([])
  })

  it('in the neighbors: a device that is there', () => {
    const neighbor = { dst: ip('10.244.1.1'), lladdr: '0a:58:0a:f4:01:01', dev: 'ovn-k8s-mp0', for: null }
    expect(resolveNeighbors([neighbor], withEth1).pending[0]?.reason).toBe('there is no network device ovn-k8s-mp0')
    expect(resolveNeighbors([{ ...neighbor, dev: NETWORK }], withEth1).entries).toEqual([{ ...neighbor, dev: 'eth1' }])
  })
})
