import { describe, expect, it } from 'vitest'
import { doubtfulAddresses, egressOnHost, type HostView, ownAddresses } from '../../src/agent/view.js'
import type { LiveAddress } from '../../src/host/links.js'
import { type Address, parseAddress, parsePrefix } from '../../src/model/address.js'

const ip = (text: string): Address => parseAddress(text) as Address
const live = (text: string, over: Partial<LiveAddress> = {}): LiveAddress => ({
  address: parsePrefix(text) as LiveAddress['address'],
  dev: 'br-ex',
  scope: 'global',
  label: '',
  secondary: false,
  dynamic: false,
  preferred: 4294967295,
  protocol: null,
  ...over,
})
const view = (addresses: readonly LiveAddress[], preferredSources: readonly Address[] = []): HostView => ({
  node: 'node-a',
  links: [],
  routes: [],
  bridges: [],
  addresses,
  preferredSources,
  chosenSources: [],
  ovnkube: [],
  probes: [],
})
const nothing = { marked: new Set<string>(), known: [], announced: [], silenced: [], secondary: { silenced: [], devices: [] } }
const HOST = [live('127.0.0.1/8', { scope: 'host' }), live('fe80::1/64', { scope: 'link' }), live('192.0.2.11/24'), live('2001:db8::11/64')]

describe('egress IPs on a host', () => {
  it('are those with our mark, with that of ovnkube, and those that a bundle names; nothing else', () => {
    const host = view([
      ...HOST,
      live('192.0.2.50/32'),
      live('192.0.2.51/32', { protocol: 85 }),
      live('2001:db8::52/128'),
      live('192.0.2.99/32'),
    ])
    const knowledge = { ...nothing, marked: new Set(['192.0.2.50']), known: [ip('2001:db8::52'), ip('192.0.2.53')] }
    expect(egressOnHost(host, knowledge).map(({ address: { address } }) => address.text)).toEqual([
      '192.0.2.50',
      '192.0.2.51',
      '2001:db8::52',
    ])
  })
})

describe('addresses of the node itself', () => {
  it('are those with a network, with a lease, of a route, and those that it may announce', () => {
    const host = view([...HOST, live('192.0.2.12/32', { dynamic: true }), live('192.0.2.13/32'), live('192.0.2.50/32')], [ip('192.0.2.13')])
    const own = ownAddresses(host, { ...nothing, marked: new Set(['192.0.2.50']), announced: [ip('192.0.2.14')] })
    expect([...own].sort()).toEqual(['127.0.0.1', '192.0.2.11', '192.0.2.12', '192.0.2.13', '192.0.2.14', '2001:db8::11'])
  })

  it('are in doubt where a host would have none of the family without them', () => {
    const known = [ip('192.0.2.50'), ip('2001:db8::50')]
    const doubt = (addresses: readonly LiveAddress[], over = {}) => [...doubtfulAddresses(view(addresses), { ...nothing, known, ...over })]
    expect(doubt([...HOST, live('192.0.2.50/32'), live('2001:db8::50/128')])).toEqual([])
    expect(doubt([live('192.0.2.50/32'), live('2001:db8::11/64'), live('2001:db8::50/128')])).toEqual(['192.0.2.50'])
    expect(doubt([live('192.0.2.50/32')], { marked: new Set(['192.0.2.50']) })).toEqual([])
  })
})
