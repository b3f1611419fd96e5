import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Address,
  addressFault,
  addressOf,
  compareAddresses,
  contains,
  type Family,
  hardwareAddress,
  hex128,
  hostPrefix,
  isGlobalUnicast,
  lastOf,
  networkOf,
  nth,
  parseAddress,
  parsePrefix,
  printPrefix,
  width,
} from '../../src/model/address.js'

const address = (text: string): Address => parseAddress(text) as Address
const prefix = (text: string) => parsePrefix(text) as NonNullable<ReturnType<typeof parsePrefix>>

const v4 = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((value) => addressOf(4, value))
/** IPv6 with runs of zeros, but no IPv4-mapped one: those are no egress IPs. */
const v6 = fc
  .array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n))
  .filter((value) => value >> 32n !== 0xffffn)
  .map((value) => addressOf(6, value))
const any = fc.oneof(v4, v6)
const anyPrefix = any.chain((of) => fc.integer({ min: 0, max: width(of.family) }).map((length) => ({ address: of, length })))

/** Texts near an address: made of its characters, or an address with one character changed. */
const characters = [...'0123456789abcdefABCDEF:.%/ gx-']
const soup = fc.string({ unit: fc.constantFrom(...characters), maxLength: 24 })
const damaged = fc
  .tuple(any, fc.nat(40), fc.constantFrom('', ...characters))
  .map(([{ text }, at, replacement]) => text.slice(0, at) + replacement + text.slice(at + 1))
/** The URL parser of Node prints an IPv4-mapped address as `::ffff:` and two groups. */
const mapped = (text: string) => new URL(`http://[${text}]/`).hostname.startsWith('[::ffff:')

describe('an address', () => {
  it('is accepted where node:net accepts it, save zones and IPv4-mapped IPv6', () => {
    fc.assert(
      fc.property(fc.oneof(soup, damaged), (text) => {
        const expected = text.includes('%') ? 0 : isIP(text)
        const parsed = parseAddress(text)
        if (parsed === undefined && expected === 6 && addressFault(text).includes('IPv4-mapped')) return mapped(text)
        return (parsed?.family ?? 0) === expected
      }),
      { numRuns: 5000 },
    )
  })

  it('has the value of its parts, whatever the spelling', () => {
    fc.assert(
      fc.property(v6, fc.boolean(), (of, upper) => {
        const groups = Array.from({ length: 8 }, (_, at) => ((of.value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16).padStart(4, '0'))
        const long = groups.join(':')
        return parseAddress(upper ? long.toUpperCase() : long)?.text === of.text
      }),
    )
  })

  it('survives print and parse', () => {
    fc.assert(
      fc.property(any, (of) => {
        expect(parseAddress(of.text)).toEqual(of)
      }),
    )
  })

  it('is printed as RFC 5952 says', () => {
    fc.assert(
      fc.property(v6, ({ text }) => {
        expect(isIP(text)).toBe(6)
        expect(text).toBe(text.toLowerCase())
        expect(text).not.toMatch(/(^|:)0[0-9a-f]/)
        const runs = text.includes('::') ? [] : (text.match(/(?:^|:)0(?::0)+(?=:|$)/g) ?? [])
        expect(runs).toEqual([])
        // The WHATWG URL serializer follows RFC 5952 section 4 in full.
        expect(new URL(`http://[${text}]/`).hostname).toBe(`[${text}]`)
      }),
    )
  })

  it.each([
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0db8::0001', '2001:db8::1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['::', '::'],
    ['::1', '::1'],
    ['fd00::', 'fd00::'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ])('reads %s as %s', (written, text) => {
    expect(parseAddress(written)?.text).toBe(text)
  })

  it.each([
    ['', 'empty'],
    ['192.0.2.070', 'leading zero'],
    ['192.0.2.256', 'over 255'],
    ['192.0.2', 'four parts'],
    ['192.0.2.1/24', 'prefix length'],
    ['::ffff:192.0.2.70', 'IPv4-mapped'],
    ['0:0:0:0:0:FFFF:c000:201', 'IPv4-mapped'],
    ['fe80::1%eth0', 'zone'],
    ['1::2::3', 'more than once'],
    ['1:2:3:4:5:6:7:8:9', 'eight groups'],
    ['1:2:3:4:5:6:7:8::', 'too many groups'],
    ['12345::', 'one to four'],
    ['2001:db8::1.2.3', 'IPv4 part'],
    [' 192.0.2.1', 'not a number'],
  ])('refuses %j: %s', (text, why) => {
    expect(parseAddress(text)).toBeUndefined()
    expect(addressFault(text)).toContain(why)
  })

  it('sorts IPv4 before IPv6, then by value', () => {
    const texts = ['2001:db8::1', '192.0.2.10', '::', '192.0.2.9']
    expect(
      texts
        .map(address)
        .sort(compareAddresses)
        .map(({ text }) => text),
    ).toEqual(['192.0.2.9', '192.0.2.10', '::', '2001:db8::1'])
  })

  it('is global unicast in the sense of Go: private ranges are, link-local and multicast are not', () => {
    const judged = (texts: readonly string[]) => texts.map((text) => isGlobalUnicast(address(text)))
    expect(judged(['10.0.0.1', '192.168.0.1', 'fd00::1', '2001:db8::1', '8.8.8.8'])).toEqual([true, true, true, true, true])
    expect(
      judged(['0.0.0.0', '127.0.0.1', '169.254.1.1', '224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1', 'ff02::1']),
    ).not.toContain(true)
  })

  it('has the hardware address that OVN-Kubernetes derives from it', () => {
    expect(hardwareAddress(address('169.254.169.1'))).toBe('0a:58:a9:fe:a9:01')
    expect(hardwareAddress(address('fd69::1'))).toMatch(/^0a:58(:[0-9a-f]{2}){4}$/)
    expect(hardwareAddress(address('fd69:0::1'))).toBe(hardwareAddress(address('fd69::1')))
  })

  it('is 32 hex digits as a raw field', () => {
    expect(hex128(address('2001:db8::1'))).toBe('0x20010db8000000000000000000000001')
  })
})

describe('a prefix', () => {
  it('survives print and parse, host bits included', () => {
    fc.assert(
      fc.property(anyPrefix, (of) => {
        expect(parsePrefix(printPrefix(of))).toEqual(of)
      }),
    )
  })

  it.each(['192.0.2.0', '192.0.2.0/', '192.0.2.0/33', '192.0.2.0/+1', '192.0.2.0/08', '2001:db8::/129', '/24', 'x/24'])(
    'refuses %j',
    (text) => {
      expect(parsePrefix(text)).toBeUndefined()
    },
  )

  it('contains exactly the addresses from its network to its last address', () => {
    fc.assert(
      fc.property(anyPrefix, any, (of, other) => {
        const inside = other.family === of.address.family && other.value >= networkOf(of).address.value && other.value <= lastOf(of).value
        return contains(of, other) === inside && contains(of, of.address)
      }),
    )
  })

  it('counts from its network and not beyond it', () => {
    expect(nth(prefix('169.254.169.5/29'), 1)?.text).toBe('169.254.169.1')
    expect(nth(prefix('169.254.169.0/29'), 8)).toBeUndefined()
    expect(nth(prefix('255.255.255.248/29'), 8)).toBeUndefined()
    const v6Family: Family = 6
    expect(hostPrefix(address('fd69::1'))).toEqual({
      address: { family: v6Family, value: address('fd69::1').value, text: 'fd69::1' },
      length: 128,
    })
  })
})
