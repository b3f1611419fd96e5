import { describe, expect, it } from 'vitest'
import { parseAddress, printPrefix } from '../../src/model/address.js'
import { hosting } from '../../src/model/hosting.js'
import { type Document, dumpOf, node, platform } from './cluster.js'

/** The hosting network on the only node, as text. */
function on(host: Document, address: string, ...others: Document[]): string | null {
  const { topology } = dumpOf([host, ...others])
  const [only] = topology.nodes
  const parsed = parseAddress(address)
  if (!only || !parsed) throw new Error('no node, or no address')
  const found = hosting(only, topology.facts, parsed)
  return found && `${found.type} ${printPrefix(found.network)}`
}

describe('the hosting network', () => {
  const twoLegs = node('alder', { primary: ['192.0.2.11/24', '2001:db8:1::11/64'], others: ['198.51.100.11/24', '198.51.100.140/26'] })

  it('is the primary one of the family where that contains the address', () => {
    expect(on(twoLegs, '192.0.2.77')).toBe('primary 192.0.2.0/24')
    expect(on(twoLegs, '2001:db8:1::77')).toBe('primary 2001:db8:1::/64')
  })

  it('is else the longest other host-cidr', () => {
    expect(on(twoLegs, '198.51.100.20')).toBe('secondary 198.51.100.0/24')
    expect(on(twoLegs, '198.51.100.150')).toBe('secondary 198.51.100.128/26')
    expect(on(twoLegs, '203.0.113.9')).toBeNull()
  })

  it('is the primary one even where another one is longer', () => {
    expect(on(node('alder', { primary: ['192.0.2.11/24'], others: ['192.0.2.200/26'] }), '192.0.2.210')).toBe('primary 192.0.2.0/24')
  })

  it('is never a single address, a link-local network, or one of an address that is not global unicast', () => {
    const odd = node('alder', { primary: ['192.0.2.11/32'], others: ['198.51.100.7/32', 'fe80::11/64', '169.254.3.1/16'] })
    expect(on(odd, '192.0.2.12')).toBeNull()
    expect(on(odd, '198.51.100.7')).toBeNull()
    expect(on(odd, 'fe80::99')).toBeNull()
    expect(on(odd, '169.254.3.9')).toBeNull()
  })

  it('is on clouds the subnet that the cloud names, and nothing else', () => {
    const cloud = { networks: { ipv4: '192.0.2.0/25' }, capacity: { ip: 10 } }
    const host = node('alder', { primary: ['192.0.2.11/32'], others: ['198.51.100.11/24'], cloud })
    for (const others of [[platform('GCP')], []]) {
      expect(on(host, '192.0.2.77', ...others)).toBe('primary 192.0.2.0/25')
      expect(on(host, '192.0.2.177', ...others)).toBeNull()
      expect(on(host, '198.51.100.20', ...others)).toBeNull()
    }
    expect(on(node('alder', { primary: ['192.0.2.11/24'] }), '192.0.2.77', platform('AWS'))).toBeNull()
    expect(on(node('alder', { primary: ['192.0.2.11/24'], cloud }), '192.0.2.177', platform('BareMetal'))).toBe('primary 192.0.2.0/24')
  })

  it('does not exist on a node whose annotations do not parse', () => {
    const broken = { 'k8s.ovn.org/host-cidrs': '["192.0.2.11/240"]' }
    expect(on(node('alder', { primary: ['192.0.2.11/24'], annotations: broken }), '192.0.2.77')).toBeNull()
  })
})
