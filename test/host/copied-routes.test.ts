import { describe, expect, it } from 'vitest'
import { copiedRoutes } from '../../src/host/copied-routes.js'
import type { Family } from '../../src/model/address.js'
import type { HostRoute } from '../../src/syntax/routes.js'
import { routes } from '../../src/syntax/routes.js'
import { ip, link, liveRoute } from './names.js'

const copy = (family: Family): HostRoute => ({
  ...{ dst: null, family, gateway: null, dev: 'eth1', src: null, mtu: null, metric: null, scope: null },
  ...{ table: '1007', for: 'EgressIP/eip-a' },
})
const ETH1 = link('eth1', 7, ['198.51.100.11/24', '198.51.100.50/32', '2001:db8:1::11/64', '2001:db8:1::50/128'])
const printed = (entries: readonly HostRoute[]) => JSON.parse(routes.print(entries)) as object[]
const ours = { dev: 'eth1', table: '1007', for: 'EgressIP/eip-a' }
const last = { dst: '0.0.0.0/0', type: 'unreachable', metric: 4278198272, scope: 'global', table: '1007', for: 'EgressIP/eip-a' }

describe('a copy of the routes of a device', () => {
  it('keeps metric, scope, gateway and MTU, not the source, and adds a default route where there is none, and one behind it that refuses', () => {
    const live = [
      liveRoute('198.51.100.0/24', 'eth1', { src: ip('198.51.100.11'), metric: 100 }),
      liveRoute('10.0.0.0/8', 'eth1', { gateway: ip('198.51.100.1'), scope: 'global', mtu: 1400 }),
      liveRoute('10.7.0.0/16', 'eth1', { gateway: ip('fe80::1'), scope: 'global' }),
    ]
    expect(printed(copiedRoutes(copy(4), ETH1, live))).toEqual([
      { dst: '0.0.0.0/0', ...ours, scope: 'global' },
      last,
      { dst: '10.0.0.0/8', gateway: '198.51.100.1', ...ours, mtu: 1400, scope: 'global' },
      { dst: '10.7.0.0/16', gateway: 'fe80::1', ...ours, scope: 'global' },
      { dst: '198.51.100.0/24', ...ours, metric: 100, scope: 'link' },
    ])
  })

  it('takes the default route of the device as it is', () => {
    const live = [
      liveRoute('0.0.0.0/0', 'eth1', { gateway: ip('198.51.100.1'), metric: 200, scope: 'global' }),
      liveRoute('0.0.0.0/0', 'br-ex', { gateway: ip('192.0.2.1'), scope: 'global' }),
    ]
    expect(printed(copiedRoutes(copy(4), ETH1, live))).toEqual([
      { dst: '0.0.0.0/0', gateway: '198.51.100.1', ...ours, metric: 200, scope: 'global' },
      last,
    ])
  })

  it('holds IPv6 routes too, but none for an address of the device itself', () => {
    const live = [
      liveRoute('fe80::/64', 'eth1', { metric: 256, protocol: 2 }),
      liveRoute('2001:db8:1::/64', 'eth1', { metric: 256, protocol: 2 }),
      liveRoute('2001:db8:1::50/128', 'eth1', { metric: 256, protocol: 2 }),
      liveRoute('2001:db8:9::9/128', 'eth1', { gateway: ip('2001:db8:1::1'), metric: 1024 }),
    ]
    expect(printed(copiedRoutes(copy(6), ETH1, live))).toEqual([
      { dst: '::/0', ...ours },
      { dst: '::/0', type: 'unreachable', metric: 4278198272, table: '1007', for: 'EgressIP/eip-a' },
      { dst: '2001:db8:1::/64', ...ours, metric: 256 },
      { dst: '2001:db8:9::9/128', gateway: '2001:db8:1::1', ...ours, metric: 1024 },
      { dst: 'fe80::/64', ...ours, metric: 256 },
    ])
  })

  it('leaves out other devices, families and tables, and what is no plain route', () => {
    const live = [
      liveRoute('10.1.0.0/16', 'eth2'),
      liveRoute('10.2.0.0/16', ''),
      liveRoute('2001:db8:5::/48', 'eth1'),
      liveRoute('10.3.0.0/16', 'eth1', { table: '100' }),
      liveRoute('10.4.0.0/16', 'eth1', { table: '1007', protocol: 230 }),
    ]
    expect(printed(copiedRoutes(copy(4), ETH1, live))).toEqual([{ dst: '0.0.0.0/0', ...ours, scope: 'global' }, last])
  })

  it('reads the table of the VRF where the device is in one (no VRF on this kernel)', () => {
    const live = [liveRoute('10.3.0.0/16', 'eth1', { table: '100' }), liveRoute('10.4.0.0/16', 'eth1')]
    expect(printed(copiedRoutes(copy(4), { ...ETH1, table: '100' }, live))).toEqual([
      { dst: '0.0.0.0/0', ...ours, scope: 'global' },
      last,
      { dst: '10.3.0.0/16', ...ours, scope: 'link' },
    ])
  })

  it('has the first of several that differ in their gateway alone, and no route that refuses in the place of a real one', () => {
    const live = [
      liveRoute('10.0.0.0/8', 'eth1', { gateway: ip('198.51.100.1'), scope: 'global' }),
      liveRoute('10.0.0.0/8', 'eth1', { gateway: ip('198.51.100.2'), scope: 'global' }),
      liveRoute('0.0.0.0/0', 'eth1', { gateway: ip('198.51.100.1'), scope: 'global', metric: 4278198272 }),
    ]
    expect(printed(copiedRoutes(copy(4), ETH1, live))).toEqual([
      { dst: '0.0.0.0/0', gateway: '198.51.100.1', ...ours, metric: 4278198272, scope: 'global' },
      { dst: '10.0.0.0/8', gateway: '198.51.100.1', ...ours, scope: 'global' },
    ])
  })

  it('is the same whatever the order', () => {
    const live = [liveRoute('10.3.0.0/16', 'eth1'), liveRoute('10.4.0.0/16', 'eth1'), liveRoute('10.2.0.0/16', 'eth1')]
    expect(copiedRoutes(copy(4), ETH1, [...live].reverse())).toEqual(copiedRoutes(copy(4), ETH1, live))
  })
})
