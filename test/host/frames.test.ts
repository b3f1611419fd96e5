import { describe, expect, it } from 'vitest'
import { announcement, probe, tagged } from '../../src/host/frames.js'
import { type Address, parseAddress } from '../../src/model/address.js'

const MAC = '02:00:00:00:00:0a'
const ip = (text: string): Address => {
  const address = parseAddress(text)
  if (!address) throw new Error(text)
  return address
}

/** Captured on a cable: what arping 20221126 and the IPv6 of Linux 6.18 send. */
const CAPTURED = {
  arpProbe: 'ffffffffffff02000000000a0806000108000604000102000000000a00000000ffffffffffffc000023c',
  arpRequest: 'ffffffffffff02000000000a0806000108000604000102000000000ac000024dffffffffffffc000024d',
  arpReply: 'ffffffffffff02000000000a0806000108000604000202000000000ac000024d02000000000ac000024d',
  solicitation:
    '3333ff00007702000000000a86dd6000000000183aff00000000000000000000000000000000ff0200000000000000000001ff00007787004c010000000020010db8000000000000000000000077',
  advertisement:
    '33330000000102000000000a86dd6000000000203aff20010db8000000000000000000000077ff0200000000000000000000000000018800f8352000000020010db8000000000000000000000077020102000000000a',
} as const

/** arping fills the hardware address that an ARP request asks for with ones; RFC 5227 wants zeros. */
const withoutTarget = (hex: string): string => `${hex.slice(0, 64)}000000000000${hex.slice(76)}`

describe('frames of a hand-over', () => {
  it('ask as arping and the kernel do', () => {
    expect(probe(MAC, ip('192.0.2.60')).toString('hex')).toBe(withoutTarget(CAPTURED.arpProbe))
    expect(probe(MAC, ip('2001:db8::77')).toString('hex')).toBe(CAPTURED.solicitation)
  })

  it('announce as arping and the kernel do', () => {
    const [request, reply] = announcement(MAC, ip('192.0.2.77')).map((frame) => frame.toString('hex'))
    expect([request, reply]).toEqual([withoutTarget(CAPTURED.arpRequest), CAPTURED.arpReply])
    expect(announcement(MAC, ip('2001:db8::77')).map((frame) => frame.toString('hex'))).toEqual([CAPTURED.advertisement])
  })

  it('carry the tag of a VLAN behind the addresses, and none for VLAN 0', () => {
    const frame = probe(MAC, ip('192.0.2.60'))
    expect(tagged(frame, 0)).toEqual(frame)
    expect(tagged(frame, 4094).toString('hex')).toBe(`ffffffffffff02000000000a81000ffe${frame.toString('hex').slice(24)}`)
  })

  it('have a checksum that folds more than one carry', () => {
    const frame = probe('ff:ff:ff:ff:ff:fe', ip('2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff'))
    const message = frame.subarray(54)
    let sum = 0
    for (const part of [frame.subarray(22, 54), Buffer.from([0, message.length, 0, 58]), message]) {
      for (let at = 0; at < part.length; at += 2) sum += part.readUInt16BE(at)
    }
    expect(sum % 0xffff).toBe(0)
  })
})
