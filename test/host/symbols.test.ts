import { describe, expect, it } from 'vitest'
import type { Link } from '../../src/host/links.js'
import { isMissing, isNetworkPort, linkOf, patchPort } from '../../src/host/symbols.js'
import { symbolsIn } from '../../src/syntax/symbols.js'
import { hostNames, link, liveAddress } from './names.js'

const find = (text: string, links: readonly Link[]) => {
  const bridge = { name: 'br-ex', uplink: 'ens3', datapath: '', ports: [] }
  const found = linkOf(hostNames(links, [], [bridge]), symbolsIn(text)[0] ?? text)
  return isMissing(found) ? found.missing : found.name
}
const V4 = 'network(198.51.100.0/24)'

describe('the device of a network', () => {
  it.each([
    [V4, '198.51.100.11/24'],
    ['network(2001:db8:1::/64)', '2001:db8:1::11/64'],
  ])('%s is the one with an address in exactly this network', (text, address) => {
    const others = [link('br-ex', 2, ['192.0.2.11/24', '2001:db8::11/64']), link('eth2', 4, ['198.51.0.11/16', '2001:db8:1::12/48'])]
    expect(find(text, [...others, link('eth1', 3, [address])])).toBe('eth1')
    expect(find(text, others)).toMatch(/^no network device has an address in /)
  })

  it('is not told by an egress IP, a virtual, deprecated, secondary or link-local address', () => {
    const none = [
      link('a', 2, ['198.51.100.50/32']),
      link('b', 3, [liveAddress('198.51.100.11/24', 'b', { label: 'b:keepalivedvip' })]),
      link('c', 4, [liveAddress('198.51.100.12/24', 'c', { preferred: 0 })]),
      link('d', 5, [liveAddress('198.51.100.13/24', 'd', { secondary: true })]),
      link('e', 6, [liveAddress('198.51.100.14/24', 'e', { scope: 'link' })]),
    ]
    expect(find(V4, none)).toBe('no network device has an address in 198.51.100.0/24')
    expect(find(V4, [...none, link('eth1', 7, ['198.51.100.15/24'])])).toBe('eth1')
  })

  it('must be up, alone, and no bridge of Open vSwitch', () => {
    const [down, up] = [link('eth1', 3, ['198.51.100.11/24'], { up: false }), link('eth2', 4, ['198.51.100.12/24'])]
    expect(find(V4, [down])).toBe('eth1, which has an address in 198.51.100.0/24, is down')
    expect(find(V4, [down, up])).toBe('eth2')
    expect(find(V4, [{ ...down, up: true }, up])).toBe('several network devices have an address in 198.51.100.0/24: eth1, eth2')
    expect(find(V4, [link('br-ex', 2, ['192.0.2.11/24', '198.51.100.11/24'])])).toMatch(/is the bridge br-ex, not a secondary interface$/)
  })
})

describe('patch ports', () => {
  it('have the names that OVN-Kubernetes gives them', () => {
    expect(patchPort('breth0', 'default', 'ovn-worker')).toBe('patch-breth0_ovn-worker-to-br-int')
    expect(patchPort('br-ex', 'tenant-blue_net', 'node-a')).toBe('patch-br-ex_tenant.blue_net_node-a-to-br-int')
  })

  it.each([
    ['patch-br-ex_tenant.blue_net_node-a-to-br-int', 'patch', true],
    ['patch-br-ex_node-a-to-br-int', 'patch', false],
    ['patch-br-ex_tenant.blue_net_node-b-to-br-int', 'patch', false],
    ['patch-br-ex_tenant.blue_net_node-a-to-br-int', '', false],
    ['patch-br-two_net_node-a-to-br-int', 'patch', false],
  ])('%s of type "%s" is that of a user-defined network: %s', (name, type, is) => {
    expect(isNetworkPort('br-ex', { name, type, ofport: 3 }, 'node-a')).toBe(is)
  })
})
