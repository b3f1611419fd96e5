import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Address,
  addressOf,
  compareAddresses,
  contains,
  type Prefix,
  parseAddress,
  parsePrefix,
  printPrefix,
  width,
} from '../../src/model/address.js'
import { aggregate, aggregateNetworks } from '../../src/model/aggregate.js'

const aggregated = (...texts: string[]) => aggregate(texts.map((text) => parseAddress(text) as Address)).map(printPrefix)

/** The last 32 addresses of a family, so that neighbors and whole blocks are likely. */
const last = (family: 4 | 6, host: number): Address => addressOf(family, (1n << BigInt(width(family))) - 32n + BigInt(host))
const few = fc.array(
  fc.tuple(fc.constantFrom(4 as const, 6 as const), fc.nat(31)).map(([family, host]) => last(family, host)),
  { maxLength: 64 },
)

/** How many prefixes it takes for the hosts of a block of 32, halving it. */
function fewest(hosts: ReadonlySet<number>, from = 0, size = 32): number {
  const here = [...hosts].filter((host) => host >= from && host < from + size).length
  if (here === 0 || here === size) return Math.min(here, 1)
  return fewest(hosts, from, size / 2) + fewest(hosts, from + size / 2, size / 2)
}

describe('aggregate', () => {
  it('joins neighbors that fill a network, and no others', () => {
    expect(aggregated()).toEqual([])
    expect(aggregated('192.0.2.11')).toEqual(['192.0.2.11/32'])
    expect(aggregated('192.0.2.13', '192.0.2.12', '192.0.2.12')).toEqual(['192.0.2.12/31'])
    expect(aggregated('192.0.2.11', '192.0.2.12')).toEqual(['192.0.2.11/32', '192.0.2.12/32'])
    expect(aggregated('2001:db8::3', '2001:db8::1', '2001:db8::', '192.0.2.0', '2001:db8::2')).toEqual(['192.0.2.0/32', '2001:db8::/126'])
    expect(aggregated('255.255.255.255', '::')).toEqual(['255.255.255.255/32', '::/128'])
  })

  it('holds exactly the addresses, in the fewest prefixes, sorted, whatever their order', () => {
    fc.assert(
      fc.property(few, fc.infiniteStream(fc.nat()), (addresses, keys) => {
        const prefixes = aggregate(addresses)
        for (const family of [4, 6] as const) {
          const here = new Set(addresses.filter((address) => address.family === family).map(({ text }) => text))
          const hosts = new Set(Array.from({ length: 32 }, (_, host) => host).filter((host) => here.has(last(family, host).text)))
          const of = prefixes.filter(({ address }) => address.family === family)
          for (let host = 0; host < 32; host++)
            expect(of.filter((prefix) => contains(prefix, last(family, host))).length).toBe(hosts.has(host) ? 1 : 0)
          expect(of.length).toBe(fewest(hosts))
          for (const { address, length } of of) expect(length).toBeGreaterThanOrEqual(width(address.family) - 5)
        }
        expect([...prefixes].sort((a, b) => compareAddresses(a.address, b.address))).toEqual(prefixes)
        const shuffled = addresses.map((address) => [keys.next().value, address] as const).sort(([a], [b]) => a - b)
        expect(aggregate(shuffled.map(([, address]) => address)).map(printPrefix)).toEqual(prefixes.map(printPrefix))
      }),
    )
  })

  it('takes twenty thousand addresses in its stride', () => {
    const block = Array.from({ length: 20_000 }, (_, host) => addressOf(4, 0x0a000000n + BigInt(host)))
    expect(aggregate(block).map(printPrefix)).toEqual(['10.0.0.0/18', '10.0.64.0/21', '10.0.72.0/22', '10.0.76.0/23', '10.0.78.0/27'])
  })
})

describe('aggregateNetworks', () => {
  const networks = (...texts: string[]) => aggregateNetworks(texts.map((text) => parsePrefix(text) as Prefix)).map(printPrefix)

  it('joins the subnets of nodes, and leaves out what lies in another one', () => {
    expect(networks()).toEqual([])
    expect(networks('10.244.1.0/24', '10.244.0.0/24', '10.244.3.0/24')).toEqual(['10.244.0.0/23', '10.244.3.0/24'])
    expect(networks('10.244.0.0/16', '10.244.3.0/24', '10.244.3.0/24', '10.245.0.9/16')).toEqual(['10.244.0.0/15'])
    expect(networks('fd01:0:0:2::/64', '10.128.2.0/23', 'fd01:0:0:3::/64')).toEqual(['10.128.2.0/23', 'fd01:0:0:2::/63'])
  })
})
