import { describe, expect, it } from 'vitest'
import { heard, packets } from './capture.js'

const ALL = 'ffffffffffff'
const A = '00005e00530c'
const CLIENT = '00005e005364'
const EGRESS4 = 'c0000232'
const CLIENT4 = 'c0000264'
const EGRESS6 = '20010db8000100000000000000000050'
const CLIENT6 = '20010db8000100000000000000000100'
const NOBODY = '0'.repeat(12)

const arp = (to: string, from: string, operation: 1 | 2, sender: string, target: string, about = NOBODY): Buffer =>
  Buffer.from(`${to}${from}0806${'0001080006040'}00${operation}${from}${sender}${about}${target}`, 'hex')
const ipv6 = (from: string, source: string, body: string): Buffer =>
  Buffer.from(`333300000001${from}86dd6000000000203aff${source}ff020000000000000000000000000001${body}`, 'hex')
const solicitation = (from: string, source: string, target: string): Buffer => ipv6(from, source, `8700000000000000${target}0101${from}`)
const advertisement = (from: string, flags: string, target: string): Buffer =>
  ipv6(from, target, `88000000${flags}000000${target}0201${from}`)

const said = (frame: Buffer): string[] => heard(0, frame).map(({ kind, address, mac }) => `${kind} ${address} ${mac}`)

describe('what a frame says about an address', () => {
  it('ARP: a question claims its sender and asks for its target', () => {
    expect(said(arp(ALL, CLIENT, 1, CLIENT4, EGRESS4))).toEqual([
      'claim 192.0.2.100 00:00:5e:00:53:64',
      'question 192.0.2.50 00:00:5e:00:53:64',
    ])
  })

  it('ARP: a reply to somebody is an answer, one to everybody a claim', () => {
    expect(said(arp(CLIENT, A, 2, EGRESS4, CLIENT4))).toEqual(['answer 192.0.2.50 00:00:5e:00:53:0c'])
    expect(said(arp(ALL, A, 2, EGRESS4, EGRESS4, A))).toEqual(['claim 192.0.2.50 00:00:5e:00:53:0c'])
    expect(said(arp(ALL, A, 1, EGRESS4, EGRESS4))).toEqual(['claim 192.0.2.50 00:00:5e:00:53:0c'])
  })

  it('ARP: a probe asks and claims nothing (RFC 5227)', () => {
    expect(said(arp(ALL, A, 1, '00000000', EGRESS4))).toEqual(['question 192.0.2.50 00:00:5e:00:53:0c'])
  })

  it('IPv6: a solicitation claims its source and asks for its target; one for duplicates claims its target', () => {
    expect(said(solicitation(CLIENT, CLIENT6, EGRESS6))).toEqual([
      'claim 2001:db8:1::100 00:00:5e:00:53:64',
      'question 2001:db8:1::50 00:00:5e:00:53:64',
    ])
    expect(said(solicitation(A, '0'.repeat(32), EGRESS6))).toEqual(['claim 2001:db8:1::50 00:00:5e:00:53:0c'])
  })

  it('IPv6: a solicited advertisement is an answer, an unsolicited one a claim', () => {
    expect(said(advertisement(A, '60', EGRESS6))).toEqual(['answer 2001:db8:1::50 00:00:5e:00:53:0c'])
    expect(said(advertisement(A, '20', EGRESS6))).toEqual(['claim 2001:db8:1::50 00:00:5e:00:53:0c'])
  })

  it('says nothing of other frames, cut ones included', () => {
    const whole = arp(ALL, CLIENT, 1, CLIENT4, EGRESS4)
    for (let length = 0; length < whole.length; length++) expect(said(whole.subarray(0, length))).toEqual([])
    expect(said(ipv6(A, CLIENT6, `8000000000000000${EGRESS6}`))).toEqual([])
  })
})

describe('a capture file', () => {
  const frame = arp(CLIENT, A, 2, EGRESS4, CLIENT4)
  const file = (magic: number, write: (buffer: Buffer, value: number, offset: number) => void, fraction: number): Buffer => {
    const head = Buffer.alloc(40)
    for (const [offset, value] of [
      [0, magic],
      [24, 1_785_000_000],
      [28, fraction],
      [32, frame.length],
      [36, frame.length],
    ] as const) {
      write(head, value, offset)
    }
    return Buffer.concat([head, frame])
  }
  const little = (buffer: Buffer, value: number, offset: number): void => void buffer.writeUInt32LE(value, offset)
  const big = (buffer: Buffer, value: number, offset: number): void => void buffer.writeUInt32BE(value, offset)

  it.each([
    ['micro, little endian', file(0xa1b2c3d4, little, 250_000)],
    ['micro, big endian', file(0xa1b2c3d4, big, 250_000)],
    ['nano, little endian', file(0xa1b23c4d, little, 250_000_000)],
    ['nano, big endian', file(0xa1b23c4d, big, 250_000_000)],
  ])('is read: %s', (_, bytes) => {
    expect([...packets(bytes)]).toEqual([{ at: 1_785_000_000_250, frame }])
    expect([...packets(Buffer.concat([bytes, bytes.subarray(24, 50)]))]).toHaveLength(1)
  })
})
