import { type Address, addressOf, networkOf, parseAddress, parsePrefix, printPrefix, width } from '../model/address.js'
import { sharing } from './recent.js'
import { byText, mapOf } from './text.js'

/** One condition of a flow: canonical field name and canonical value. A protocol such as `arp` is a field with the value ''. */
export type Condition = readonly [field: string, value: string]

/** Other spellings of a field, in OVS's own documentation (ovs-fields(7)), and the one that is canonical here. */
const ALIASES: ReadonlyMap<string, string> = mapOf({
  eth_src: 'dl_src',
  eth_dst: 'dl_dst',
  eth_type: 'dl_type',
  ip_proto: 'nw_proto',
  ip_src: 'nw_src',
  ip_dst: 'nw_dst',
  ip_frag: 'nw_frag',
  ip_ecn: 'nw_ecn',
  tcp_src: 'tp_src',
  tcp_dst: 'tp_dst',
  udp_src: 'tp_src',
  udp_dst: 'tp_dst',
  sctp_src: 'tp_src',
  sctp_dst: 'tp_dst',
  icmpv4_type: 'icmp_type',
  icmpv4_code: 'icmp_code',
  tunnel_id: 'tun_id',
})

/** Protocol keyword to Ethernet type and, where it says one, IP protocol. */
const PROTOCOLS: ReadonlyMap<string, readonly [type: number, protocol: number | null]> = mapOf({
  ip: [0x0800, null],
  icmp: [0x0800, 1],
  tcp: [0x0800, 6],
  udp: [0x0800, 17],
  sctp: [0x0800, 132],
  arp: [0x0806, null],
  rarp: [0x8035, null],
  ipv6: [0x86dd, null],
  icmp6: [0x86dd, 58],
  tcp6: [0x86dd, 6],
  udp6: [0x86dd, 17],
  sctp6: [0x86dd, 132],
})

/** The keyword of an Ethernet type and an IP protocol. */
const KEYWORDS: ReadonlyMap<string, string> = new Map([...PROTOCOLS].map(([keyword, [type, protocol]]) => [`${type} ${protocol}`, keyword]))

type Form = 'decimal' | 'hex' | 'mac' | 'address' | 'flags'

/** How the values of a field are written, and its width in bits where a mask that covers all of it is no mask. */
function formOf(field: string): readonly [Form, bits: number] | null {
  if (/^reg\d+$/.test(field)) return ['hex', 32]
  if (/^xreg\d+$/.test(field)) return ['hex', 64]
  if (/^xxreg\d+$/.test(field)) return ['hex', 128]
  return FORMS.get(field) ?? null
}

const FORMS: ReadonlyMap<string, readonly [Form, bits: number]> = mapOf({
  dl_src: ['mac', 48],
  dl_dst: ['mac', 48],
  arp_sha: ['mac', 48],
  arp_tha: ['mac', 48],
  nd_sll: ['mac', 48],
  nd_tll: ['mac', 48],
  nw_src: ['address', 32],
  nw_dst: ['address', 32],
  arp_spa: ['address', 32],
  arp_tpa: ['address', 32],
  tun_src: ['address', 32],
  tun_dst: ['address', 32],
  ct_nw_src: ['address', 32],
  ct_nw_dst: ['address', 32],
  ipv6_src: ['address', 128],
  ipv6_dst: ['address', 128],
  nd_target: ['address', 128],
  ipv6_label: ['hex', 20],
  ct_ipv6_src: ['address', 128],
  ct_ipv6_dst: ['address', 128],
  dl_type: ['hex', 16],
  vlan_tci: ['hex', 16],
  dl_vlan: ['decimal', 12],
  dl_vlan_pcp: ['decimal', 3],
  nw_proto: ['decimal', 8],
  nw_tos: ['decimal', 8],
  nw_ecn: ['decimal', 2],
  nw_ttl: ['decimal', 8],
  arp_op: ['decimal', 16],
  tp_src: ['decimal', 16],
  tp_dst: ['decimal', 16],
  icmp_type: ['decimal', 8],
  icmp_code: ['decimal', 8],
  icmpv6_type: ['decimal', 8],
  icmpv6_code: ['decimal', 8],
  ct_zone: ['decimal', 16],
  pkt_mark: ['hex', 32],
  ct_mark: ['hex', 32],
  ct_label: ['hex', 128],
  metadata: ['hex', 64],
  tun_id: ['hex', 64],
  conj_id: ['decimal', 32],
  ct_state: ['flags', 32],
})

/** The conditions of a flow as OVS means them, in canonical spelling and order; the texts are `field` or `field=value`. */
export function canonicalMatch(texts: readonly string[]): readonly Condition[] {
  const found = new Map<string, string>()
  let type: number | null = null
  let protocol: number | null = null
  for (const text of texts) {
    const equals = text.indexOf('=')
    const written = (equals < 0 ? text : text.slice(0, equals)).trim().toLowerCase()
    const value = equals < 0 ? '' : text.slice(equals + 1).trim()
    const keyword = equals < 0 ? PROTOCOLS.get(written) : undefined
    if (keyword) {
      type = keyword[0]
      protocol = keyword[1] ?? protocol
    } else if (written === 'ip_dscp') {
      found.set('nw_tos', String(Number(value) << 2))
    } else if (written === 'vlan_vid' || written === 'vlan_tci' || written === 'dl_vlan') {
      for (const [field, said] of tag(written, value)) found.set(field, said)
    } else {
      const field = ALIASES.get(written) ?? written
      const number = readNumber(value)
      if (field === 'dl_type' && number !== null) type = Number(number)
      else if (field === 'nw_proto' && number !== null) protocol = Number(number)
      else found.set(field, value)
    }
  }
  if (type === 0x0806 || type === 0x8035) {
    // OVS keeps the operation and the addresses of ARP in the fields of IP
    if (protocol !== null) found.set('arp_op', String(protocol))
    protocol = null
    rename(found, { nw_src: 'arp_spa', nw_dst: 'arp_tpa' })
  }
  if (type === 0x86dd && protocol === 58) rename(found, { icmp_type: 'icmpv6_type', icmp_code: 'icmpv6_code' })
  return [...protocolConditions(type, protocol), ...[...found].flatMap(([field, value]) => condition(field, value))]
    .sort(([a], [b]) => rank(a) - rank(b) || byText(a, b))
    .map((found) => shared(found.join('='), found))
}

/** Those of thousands of flows differ in one or two, and the rest would fill the memory. */
const shared = sharing<Condition>()

/** Tag control information as Open vSwitch has it: 12 bits of VLAN, a bit that says that there is a tag, 3 bits of priority. */
const [VID, PRESENT, PRIORITY] = [0x0fff, 0x1000, 0xe000]

/** A condition on the VLAN tag in the words that Open vSwitch prints over OpenFlow 1.4. */
function tag(field: 'vlan_vid' | 'vlan_tci' | 'dl_vlan', text: string): readonly Condition[] {
  const [value, mask = field === 'vlan_tci' ? 0xffff : VID | PRESENT] = text.split('/').map(Number)
  if (value === undefined || Number.isNaN(value) || Number.isNaN(mask)) return [[field, text]]
  if (field === 'dl_vlan') return value === 0xffff ? [['vlan_tci', `0x0/${VID | PRESENT}`]] : [[field, text]]
  if (value === 0 && mask === 0xffff) return [['vlan_tci', `0x0/${VID | PRESENT}`]]
  if ((mask & (VID | PRESENT)) !== (VID | PRESENT) || (value & PRESENT) === 0) return [['vlan_tci', `${value}/${mask}`]]
  const priority: readonly Condition[] = (mask & PRIORITY) === PRIORITY ? [['dl_vlan_pcp', String(value >> 13)]] : []
  return (mask & PRIORITY) === 0 || priority.length > 0
    ? [['dl_vlan', String(value & VID)], ...priority]
    : [['vlan_tci', `${value}/${mask}`]]
}

function rename(found: Map<string, string>, names: Readonly<Record<string, string>>): void {
  for (const [from, to] of Object.entries(names)) {
    const value = found.get(from)
    if (value === undefined) continue
    found.delete(from)
    found.set(to, value)
  }
}

/** The shortest spelling: a keyword for both numbers, or one for the type beside the protocol's number, or numbers. */
function protocolConditions(type: number | null, protocol: number | null): readonly Condition[] {
  const keyword = (number: number | null) => KEYWORDS.get(`${type} ${number}`)
  const both = keyword(protocol)
  if (both) return [[both, '']]
  const one = keyword(null)
  const first: readonly Condition[] = one ? [[one, '']] : type === null ? [] : [['dl_type', hex(BigInt(type))]]
  return protocol === null ? first : [...first, ['nw_proto', String(protocol)]]
}

/** Printed in the order in which a packet is read: port, link layer, protocol, the rest by name. */
function rank(field: string): number {
  if (field === 'in_port') return 0
  if (field.startsWith('dl_') || field === 'vlan_tci') return 1
  return PROTOCOLS.has(field) ? 2 : 3
}

function condition(field: string, value: string): readonly Condition[] {
  if (field === 'in_port') return [[field, canonicalPort(value)]]
  const canonical = canonicalValue(field, value)
  return canonical === null ? [] : [[field, canonical]]
}

/** A port in a match or an output: LOCAL in capitals, a number in decimal, a symbol as it is. */
export function canonicalPort(text: string): string {
  if (/^(local|65534|0xfffe|0xfffffffe|4294967294)$/i.test(text)) return 'LOCAL'
  if (/^controller$/i.test(text)) return 'CONTROLLER'
  return /^(0x[0-9a-f]+|\d+)$/i.test(text) ? String(Number(text)) : text
}

/** The value of a field in OVS's own spelling; null when its mask is zero, so that it asks for nothing. Values of unknown fields stay as they are. */
export function canonicalValue(field: string, text: string): string | null {
  const form = formOf(field)
  if (!form) return text
  const [kind, bits] = form
  if (kind === 'flags') return canonicalFlags(text)
  if (kind === 'address') return canonicalAddress(text, bits)
  const slash = text.indexOf('/')
  const read = kind === 'mac' ? readMac : readNumber
  const value = read(slash < 0 ? text : text.slice(0, slash))
  const full = (1n << BigInt(bits)) - 1n
  const mask = slash < 0 ? full : read(text.slice(slash + 1))
  if (value === null || mask === null) return text
  if (mask === 0n) return null
  const print = kind === 'mac' ? printMac : kind === 'decimal' && mask === full ? String : hex
  return mask === full ? print(value) : `${print(value & mask)}/${print(mask)}`
}

/** ct_state: `+trk+est` in the order of the names. */
function canonicalFlags(text: string): string {
  const flags = text.match(/[+-][a-z]+/g)
  return flags ? flags.sort((a, b) => byText(a.slice(1), b.slice(1))).join('') : text
}

function canonicalAddress(text: string, bits: number): string | null {
  const slash = text.indexOf('/')
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash))
  if (!address || width(address.family) !== bits) return text
  if (slash < 0) return address.text
  const mask = parseAddress(text.slice(slash + 1))
  const length = mask ? lengthOf(mask) : text.slice(slash + 1)
  if (mask && length === null) return `${addressOf(address.family, address.value & mask.value).text}/${mask.text}`
  const prefix = parsePrefix(`${address.text}/${length}`)
  if (!prefix) return text
  if (prefix.length === 0) return null
  return prefix.length === bits ? address.text : printPrefix(networkOf(prefix))
}

/** The length that a mask such as 255.255.0.0 says; null when it is no mask of leading ones. */
function lengthOf(mask: Address): number | null {
  const digits = mask.value.toString(2).padStart(width(mask.family), '0')
  return /^1*0*$/.test(digits) ? digits.lastIndexOf('1') + 1 : null
}

/** An address in its RFC 5952 spelling; any other text as it is. */
export const canonicalText = (text: string): string => parseAddress(text)?.text ?? text

/** A number of any base that OVS reads; null for other text. */
export const readNumber = (text: string): bigint | null => (/^(0x[0-9a-f]+|\d+)$/i.test(text) ? BigInt(text) : null)

/** `0x` and lower-case digits without leading zeros. */
export const hex = (value: bigint): string => `0x${value.toString(16)}`

const readMac = (text: string): bigint | null =>
  /^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){5}$/i.test(text)
    ? BigInt(
        `0x${text
          .split(':')
          .map((byte) => byte.padStart(2, '0'))
          .join('')}`,
      )
    : null

const printMac = (value: bigint): string => (value.toString(16).padStart(12, '0').match(/../g) as string[]).join(':')
