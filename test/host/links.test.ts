import { describe, expect, it } from 'vitest'
import type { Exec } from '../../src/host/exec.js'
import { readLinks } from '../../src/host/links.js'
import { printPrefix } from '../../src/model/address.js'
import { createNamespace } from '../lab/netns.js'
import { describeWith } from '../requires.js'

const says =
  (stdout: string): Exec =>
  async () => ({ code: 0, stdout, stderr: '' })

const FOREVER = { valid_life_time: 4294967295, preferred_life_time: 4294967295 }

/** What iproute2 prints of two VRFs and their interfaces: this machine's kernel has none. */
const VRFS = JSON.stringify([
  {},
  { ifindex: 7, ifname: 'eth3', flags: ['UP'], master: 'blue', linkinfo: { info_kind: 'veth', info_slave_kind: 'vrf' }, addr_info: [] },
  { ifindex: 5, ifname: 'blue', flags: ['UP'], linkinfo: { info_kind: 'vrf', info_data: { table: 100 } }, addr_info: [] },
  { ifindex: 8, ifname: 'eth4', flags: [], master: 'br0', linkinfo: { info_slave_kind: 'bridge' }, addr_info: [] },
  { ifindex: 9, ifname: 'br0', flags: ['UP'], linkinfo: { info_kind: 'bridge', info_data: { forward_delay: 1500 } } },
])

describe('network devices', () => {
  it('have the table of their VRF, else the main one (as iproute2 prints VRFs; not run against a kernel)', async () => {
    const links = await readLinks(says(VRFS))
    expect(links.map(({ name, index, up, table }) => [name, index, up, table])).toEqual([
      ['blue', 5, true, '100'],
      ['eth3', 7, true, '100'],
      ['eth4', 8, false, 'main'],
      ['br0', 9, true, 'main'],
    ])
  })

  it('have their addresses with the owner that newer iproute2 prints, by name or number', async () => {
    const address = (local: string, over: object) => ({ local, prefixlen: 32, scope: '0', ...FOREVER, ...over })
    const addr_info = [
      address('192.0.2.50', { label: 'eth1:vip', protocol: '0xe6' }),
      address('192.0.2.51', { secondary: true, protocol: '85', scope: '253' }),
      address('2001:db8::50', { prefixlen: 128, preferred_life_time: 0, deprecated: true, valid_life_time: 100 }),
      { prefixlen: 32, scope: '0', ...FOREVER },
    ]
    const [link] = await readLinks(says(JSON.stringify([{ ifindex: 2, ifname: 'eth1', flags: ['UP'], addr_info }])))
    expect(link?.addresses.map(({ address: prefix, ...rest }) => ({ address: printPrefix(prefix), ...rest }))).toEqual([
      {
        ...{ address: '192.0.2.50/32', dev: 'eth1', scope: 'global', label: 'eth1:vip', secondary: false },
        ...{ dynamic: false, preferred: 4294967295, protocol: 230 },
      },
      {
        ...{ address: '192.0.2.51/32', dev: 'eth1', scope: 'link', label: '', secondary: true },
        ...{ dynamic: false, preferred: 4294967295, protocol: 85 },
      },
      {
        ...{ address: '2001:db8::50/128', dev: 'eth1', scope: 'global', label: '', secondary: false },
        ...{ dynamic: true, preferred: 0, protocol: null },
      },
    ])
  })
})

describeWith(['root', 'linux', 'ip'], 'network devices of a kernel', () => {
  it('are read as they are', async () => {
    const namespace = createNamespace('links')
    try {
      const ip = (line: string) => namespace.exec('ip', line.split(' '))
      ip('link add eth1 index 77 type veth peer name w1 index 78')
      ip('link set eth1 up')
      ip('addr add 198.51.100.11/24 dev eth1')
      ip('addr add 198.51.100.12/24 dev eth1 label eth1:vip')
      ip('addr add 2001:db8:1::50/128 dev eth1 nodad preferred_lft 0')
      const links = await readLinks(async (command, args) => {
        const { status, stdout, stderr } = namespace.exec(command, args)
        return { code: status, stdout, stderr }
      })
      expect(links.map(({ name, index, up, table }) => [name, index, up, table])).toEqual([
        ['lo', 1, true, 'main'],
        ['eth1', 77, true, 'main'],
        ['w1', 78, false, 'main'],
      ])
      expect(
        links[1]?.addresses.map(({ address, label, secondary, preferred }) => [printPrefix(address), label, secondary, preferred]),
      ).toEqual(
        expect.arrayContaining([
          ['198.51.100.11/24', 'eth1', false, 4294967295],
          ['198.51.100.12/24', 'eth1:vip', true, 4294967295],
          ['2001:db8:1::50/128', '', false, 0],
        ]),
      )
    } finally {
      namespace.close()
    }
  })
})
