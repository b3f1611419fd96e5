import type { Address } from '../model/address.js'

/**
 * Ethernet frames of the hand-over of an address, without padding and checksum, which the network card adds. A MAC is six bytes in
 * hexadecimal with colons.
 */

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(':', ''), 'hex')

const BROADCAST = bytes('ff:ff:ff:ff:ff:ff')
const NO_MAC = bytes('00:00:00:00:00:00')
const ALL_NODES = bytes('ff020000000000000000000000000001')
const UNSPECIFIED = Buffer.alloc(16)
const ARP = 0x0806
const IPV6 = 0x86dd
const ICMPV6 = 58
const SOLICITATION = 135
const ADVERTISEMENT = 136
const OVERRIDE = 0x20
const TARGET_LINK_LAYER_ADDRESS = bytes('0201')

/**
 * The question whether anybody has the address, which tells nobody anything about who asks. IPv4: an ARP probe (RFC 5227, 2.1.1). IPv6: the
 * neighbor solicitation of duplicate address detection (RFC 4862, 5.4.2), to which the holder answers all nodes.
 */
export const probe = (mac: string, address: Address): Buffer =>
  address.family === 4 ? arp(mac, 1, Buffer.alloc(4), octets(address), NO_MAC) : solicitation(mac, octets(address))

/**
 * That the address is here now. IPv4: an ARP announcement as request (RFC 5227, 2.3) and as reply, because there are stations that believe
 * only one of them. IPv6: an unsolicited neighbor advertisement that overrides what its readers know (RFC 4861, 7.2.6).
 */
export const announcement = (mac: string, address: Address): readonly Buffer[] => {
  const self = octets(address)
  return address.family === 4 ? [arp(mac, 1, self, self, NO_MAC), arp(mac, 2, self, self, bytes(mac))] : [advertisement(mac, self)]
}

/** A frame with the tag of a VLAN (IEEE 802.1Q, priority 0); 0 is none. */
export const tagged = (frame: Buffer, vlan: number): Buffer =>
  vlan === 0 ? frame : Buffer.concat([frame.subarray(0, 12), word(0x8100), word(vlan), frame.subarray(12)])

function octets({ family, value }: Address): Buffer {
  const length = family === 4 ? 4 : 16
  return Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex')
}

function word(value: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeUInt16BE(value)
  return buffer
}

const ethernet = (to: Buffer, from: string, type: number, payload: Buffer): Buffer => Buffer.concat([to, bytes(from), word(type), payload])

/** RFC 826 */
function arp(mac: string, operation: number, sender: Buffer, target: Buffer, targetMac: Buffer): Buffer {
  const header = [word(1), word(0x0800), Buffer.from([6, 4]), word(operation)]
  return ethernet(BROADCAST, mac, ARP, Buffer.concat([...header, bytes(mac), sender, targetMac, target]))
}

function solicitation(mac: string, target: Buffer): Buffer {
  const group = Buffer.concat([bytes('ff0200000000000000000001ff'), target.subarray(13)])
  return discovery(mac, UNSPECIFIED, group, Buffer.concat([Buffer.from([SOLICITATION, 0, 0, 0, 0, 0, 0, 0]), target]))
}

function advertisement(mac: string, target: Buffer): Buffer {
  const header = Buffer.from([ADVERTISEMENT, 0, 0, 0, OVERRIDE, 0, 0, 0])
  return discovery(mac, target, ALL_NODES, Buffer.concat([header, target, TARGET_LINK_LAYER_ADDRESS, bytes(mac)]))
}

/** Neighbor discovery goes to a multicast group here, and with the hop limit that no router leaves at 255 (RFC 4861, 7.1). */
function discovery(mac: string, source: Buffer, group: Buffer, message: Buffer): Buffer {
  const header = Buffer.concat([bytes('60000000'), word(message.length), Buffer.from([ICMPV6, 255]), source, group])
  const sum = checksum(Buffer.concat([source, group, word(0), word(message.length), Buffer.from([0, 0, 0, ICMPV6]), message]))
  const checked = Buffer.concat([message.subarray(0, 2), word(sum), message.subarray(4)])
  return ethernet(Buffer.concat([bytes('3333'), group.subarray(12)]), mac, IPV6, Buffer.concat([header, checked]))
}

/** The Internet checksum (RFC 1071) of an even number of bytes. */
function checksum(data: Buffer): number {
  let sum = 0
  for (let at = 0; at < data.length; at += 2) sum += data.readUInt16BE(at)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return sum ^ 0xffff
}
