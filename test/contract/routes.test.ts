import { afterEach, beforeEach, expect, it } from 'vitest'
import { readLinks } from '../../src/host/links.js'
import { resolveRoutes } from '../../src/host/resolve.js'
import { hostRoutes, preferredSources, readRoutes } from '../../src/host/routes.js'
import { parsePrefix } from '../../src/model/address.js'
import { diff } from '../../src/plan/diff.js'
import type { HostRoute } from '../../src/syntax/routes.js'
import { describeWith } from '../requires.js'
import { execOn, type Machine, machine } from './machine.js'
import { DEVICE, routes } from './samples.js'

describeWith(['root', 'linux', 'ip'], 'routes of a kernel', () => {
  const NETWORKS = { 4: 'network(198.51.100.0/24)', 6: 'network(2001:db8:1::/64)' }
  let host: Machine

  beforeEach(() => {
    host = machine('routes', { ovs: false })
    ip(`addr add 198.51.100.11/24 dev ${DEVICE}`)
    ip(`addr add 2001:db8:1::11/64 dev ${DEVICE} nodad`)
  })
  afterEach(() => host.close())

  const ip = (line: string) => host.namespace.exec('ip', line.split(' ')).stdout
  const copies = ([4, 6] as const).map(
    (family): HostRoute => ({
      ...{ dst: null, family, gateway: null, dev: NETWORKS[family], src: null, mtu: null, metric: null, scope: null },
      ...{ table: `1000+ifindex(${NETWORKS[family]})`, for: 'EgressIP/eip-a' },
    }),
  )
  /** Makes the host agree with the copies, and says what was different. */
  const pass = async () => {
    const exec = execOn(host)
    const names = { node: 'node-a', links: await readLinks(exec), routes: await readRoutes(exec), bridges: null }
    const { entries, pending } = resolveRoutes(copies, names, [])
    const subsystem = hostRoutes(exec)
    const { own, foreign } = await subsystem.observe()
    const { changes, conflicts } = diff(subsystem.language, entries, own, foreign)
    await subsystem.apply(changes)
    return { changes: changes.map(({ op, key }) => `${op} ${key}`), pending, conflicts }
  }
  const index = () => ip(`-o link show ${DEVICE}`).split(':')[0]
  const table = (number = `${1000 + Number(index())}`) =>
    (['-4', '-6'] as const).flatMap((family) => {
      const lines = host.namespace.exec('ip', [family, '-N', 'route', 'show', 'table', number], { mayFail: true }).stdout.split('\n')
      return lines.map((line) => line.replaceAll(/ +/g, ' ').trim()).filter(Boolean)
    })

  it('are copied, and a second pass has nothing to do', async () => {
    ip(`route add 10.0.0.0/8 via 198.51.100.1 dev ${DEVICE} mtu 1400 metric 5`)
    ip(`route add 203.0.113.1/32 via 203.0.113.1 dev ${DEVICE} onlink`)
    ip(`-6 route add 2001:db8:7::/48 via fe80::1 dev ${DEVICE}`)
    await pass()
    expect(table()).toEqual([
      `default dev ${DEVICE} proto 230`,
      '7 default proto 230 metric 4278198272',
      `10.0.0.0/8 via 198.51.100.1 dev ${DEVICE} proto 230 metric 5 onlink mtu 1400`,
      `198.51.100.0/24 dev ${DEVICE} proto 230 scope 253`,
      `203.0.113.1 via 203.0.113.1 dev ${DEVICE} proto 230 onlink`,
      `2001:db8:1::/64 dev ${DEVICE} proto 230 metric 256 pref medium`,
      `2001:db8:7::/48 via fe80::1 dev ${DEVICE} proto 230 metric 1024 onlink pref medium`,
      `fe80::/64 dev ${DEVICE} proto 230 metric 256 pref medium`,
      `default dev ${DEVICE} proto 230 metric 1024 pref medium`,
      '7 default dev lo proto 230 metric 4278198272 pref medium',
    ])
    expect(await pass()).toEqual({ changes: [], pending: [], conflicts: [] })
    // An egress IP brings a route of the kernel's own to the main table.
    ip(`addr add 2001:db8:1::50/128 dev ${DEVICE} nodad preferred_lft 0`)
    expect((await pass()).changes).toEqual([])
  })

  it('follow the ones that they were copied from', async () => {
    await pass()
    ip(`route add default via 198.51.100.1 dev ${DEVICE}`)
    const number = 1000 + Number(index())
    expect((await pass()).changes).toEqual([`update 0.0.0.0/0 table ${number}`])
    ip(`route del default via 198.51.100.1 dev ${DEVICE}`)
    ip(`route add 10.0.0.0/8 via 198.51.100.1 dev ${DEVICE}`)
    expect((await pass()).changes).toEqual([`update 0.0.0.0/0 table ${number}`, `add 10.0.0.0/8 table ${number}`].sort(byKey))
  })

  it('move to the new table when the device comes back with another index, and leave nothing in the old one', async () => {
    await pass()
    const old = `${1000 + Number(index())}`
    // A foreign route keeps the old table in use.
    ip(`route add blackhole 10.99.0.0/16 table ${old}`)
    ip(`link del ${DEVICE}`)
    expect((await pass()).pending.map(({ reason }) => reason)).toEqual([
      'no network device has an address in 198.51.100.0/24',
      'no network device has an address in 2001:db8:1::/64',
    ])
    ip(`link add ${DEVICE} index 333 type veth peer name wire`)
    ip('link set wire up')
    ip(`link set ${DEVICE} up`)
    ip(`addr add 198.51.100.11/24 dev ${DEVICE}`)
    ip(`addr add 2001:db8:1::11/64 dev ${DEVICE} nodad`)
    await pass()
    expect(table('1333').length).toBeGreaterThan(3)
    expect(table(old)).toEqual(['6 10.99.0.0/16'])
  })

  it('of a table that is not the one of the interface any more go, though the device is still there', async () => {
    ip(`route add default dev ${DEVICE} table 1444 protocol 230`)
    ip(`route add 10.1.0.0/16 dev ${DEVICE} table 1444 protocol 3`)
    await pass()
    expect(table('1444')).toEqual([`10.1.0.0/16 dev ${DEVICE} scope 253`])
  })

  it('are not updated where a second one of the same key could be hit', async () => {
    const subsystem = hostRoutes(execOn(host))
    const [first] = routes.more as [HostRoute]
    const { changes } = diff(subsystem.language, [first], [], [])
    await subsystem.apply(changes)
    ip('route prepend 172.30.0.0/16 via 192.0.2.9')
    const [next] = routes.changed as [HostRoute]
    const { own, foreign } = await subsystem.observe()
    const before = ip('-N route show')
    await expect(subsystem.apply(diff(subsystem.language, [next], own, foreign).changes)).rejects.toMatchObject({ code: 'CommandFailed' })
    expect(ip('-N route show')).toBe(before)
  })

  it('name the addresses that the host prefers', async () => {
    ip(`route add 203.0.113.0/24 dev ${DEVICE} src 198.51.100.11`)
    ip(`route add 203.0.114.0/24 dev ${DEVICE} src 192.0.2.11 table 1555`)
    const found = new Set(preferredSources(await readRoutes(execOn(host))).map(({ text }) => text))
    expect([...found].sort()).toEqual(['192.0.2.11', '198.51.100.11'])
    expect((await readRoutes(execOn(host))).every(({ table: name }) => name !== '255')).toBe(true)
  })

  it('are no obstacle where they are for one type of service or one source', async () => {
    ip('route add 172.30.0.0/16 tos 0x10 via 192.0.2.1')
    const dst = parsePrefix('172.30.0.0/16')
    expect((await readRoutes(execOn(host))).filter((route) => route.dst.address.text === dst?.address.text)).toEqual([])
  })
})

const byKey = (a: string, b: string): number => (a.slice(a.indexOf(' ')) < b.slice(b.indexOf(' ')) ? -1 : 1)
