import { createHash } from 'node:crypto'

/** 4 for IPv4, 6 for IPv6. */
export type Family = 4 | 6

/** One IP address. `value` is the address as an unsigned integer (32 or 128 bits); `text` is its RFC 5952 spelling. */
export interface Address {
  readonly family: Family
  readonly value: bigint
  readonly text: string
}

/** An address with a prefix length. The host bits are kept: `192.0.2.11/24` is a node's address in its network. */
export interface Prefix {
  readonly address: Address
  readonly length: number
}

const WIDTH = { 4: 32, 6: 128 } as const

/** Number of bits of an address of the family: 32 or 128. */
export const width = (family: Family): number => WIDTH[family]

/**
 * Reads an IPv4 or IPv6 address in the spellings Go's netip.ParseAddr takes, minus zones and IPv4-mapped IPv6
 * (both are meaningless as an egress IP). Returns undefined otherwise; `addressFault` says why.
 */
export function parseAddress(text: string): Address | undefined {
  const read = text.includes(':') ? readV6(text) : readV4(text)
  return typeof read === 'string' ? undefined : read
}

/** Why `parseAddress` refuses a text, as the end of the sentence "… is not an address: …". */
export function addressFault(text: string): string {
  const read = text.includes(':') ? readV6(text) : readV4(text)
  return typeof read === 'string' ? read : 'it is one'
}

/** The address of a family with this integer value. */
export function addressOf(family: Family, value: bigint): Address {
  return { family, value, text: family === 4 ? printV4(value) : printV6(value) }
}

function readV4(text: string): Address | string {
  let value = 0
  let part = 0
  let digits = 0
  let dots = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === DOT && digits > 0) {
      value = value * 256 + part
      part = 0
      digits = 0
      dots++
      continue
    }
    part = part * 10 + code - ZERO
    digits++
    if (code < ZERO || code > ZERO + 9 || digits > 3 || part > 255 || (digits > 1 && part < 10)) return faultOfV4(text)
  }
  return dots === 3 && digits > 0 ? { family: 4, value: BigInt(value * 256 + part), text } : faultOfV4(text)
}

const DOT = 46
const ZERO = 48

/** Why a text is no IPv4 address. */
function faultOfV4(text: string): string {
  if (text === '') return 'it is empty'
  if (text.includes('/')) return 'it has a prefix length; write the address alone'
  const parts = text.split('.')
  if (parts.length !== 4) return 'an IPv4 address has four parts, an IPv6 address has colons'
  const wrong = parts.find((part) => !/^(0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) ?? ''
  if (!/^[0-9]{1,3}$/.test(wrong)) return `the part "${wrong}" is not a number from 0 to 255`
  return wrong.startsWith('0') ? `the part "${wrong}" has a leading zero` : `the part "${wrong}" is over 255`
}

function readV6(text: string): Address | string {
  const groups = groupsOf(text.includes('.') ? undotted(text) : text)
  if (groups === null || isMapped(groups)) return faultOfV6(text)
  return { family: 6, value: joined(groups), text: printGroups(groups) }
}

const isMapped = (groups: readonly number[]): boolean => groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)

/** The same with an IPv4 address at its end as two groups; as it is where none is there. */
function undotted(text: string): string {
  const at = text.lastIndexOf(':') + 1
  const dotted = readV4(text.slice(at))
  if (typeof dotted === 'string') return text
  return `${text.slice(0, at)}${(dotted.value >> 16n).toString(16)}:${(dotted.value & 0xffffn).toString(16)}`
}

/** The eight groups of an IPv6 address; null where the text is none. */
function groupsOf(text: string): readonly number[] | null {
  const groups: number[] = []
  let gap = -1
  let group = 0
  let digits = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code !== COLON) {
      const digit = hexDigit(code)
      if (digit < 0 || ++digits > 4) return null
      group = group * 16 + digit
      continue
    }
    const isGap = text.charCodeAt(at + 1) === COLON
    if (isGap ? gap >= 0 : digits === 0 || at === text.length - 1) return null
    if (digits > 0) groups.push(group)
    group = 0
    digits = 0
    if (!isGap) continue
    gap = groups.length
    at++
  }
  if (digits > 0) groups.push(group)
  if (gap < 0 || groups.length > 7) return gap < 0 && groups.length === 8 ? groups : null
  return [...groups.slice(0, gap), ...ZEROS.slice(groups.length), ...groups.slice(gap)]
}

const COLON = 58
const ZEROS: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0]

/** -1 where it is none. */
function hexDigit(code: number): number {
  const letter = code | 32
  return code >= ZERO && code <= ZERO + 9 ? code - ZERO : letter >= 97 && letter <= 102 ? letter - 87 : -1
}

/** Why a text is no IPv6 address. */
function faultOfV6(text: string): string {
  if (text.includes('%')) return 'it has a zone; an egress IP has none'
  if (text.includes('/')) return 'it has a prefix length; write the address alone'
  if (text.includes('.')) {
    const dotted = readV4(text.slice(text.lastIndexOf(':') + 1))
    if (typeof dotted === 'string') return `its IPv4 part is wrong: ${dotted}`
  }
  const halves = (text.includes('.') ? undotted(text) : text).split('::')
  if (halves.length > 2) return 'it has "::" more than once'
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - groups.flat().length
  if (halves.length === 1 && missing !== 0) return 'an IPv6 address has eight groups, or "::" in place of zero groups'
  if (halves.length === 2 && missing < 1) return 'it has too many groups'
  const wrong = groups.flat().find((group) => !/^[0-9a-fA-F]{1,4}$/.test(group))
  if (wrong !== undefined) return `the group "${wrong}" is not one to four hexadecimal digits`
  return 'it is an IPv4-mapped IPv6 address; write the IPv4 address'
}

const BYTES = new DataView(new ArrayBuffer(16))

function joined(groups: readonly number[]): bigint {
  for (let at = 0; at < 8; at++) BYTES.setUint16(2 * at, groups[at] as number)
  return (BYTES.getBigUint64(0) << 64n) | BYTES.getBigUint64(8)
}

function printV4(value: bigint): string {
  const n = Number(value)
  return `${n >>> 24}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`
}

const printV6 = (value: bigint): string =>
  printGroups(Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(112 - 16 * i)) & 0xffffn)))

/** RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups as "::". */
function printGroups(groups: readonly number[]): string {
  let best = { at: -1, length: 1 }
  for (let at = 0; at < 8; ) {
    let end = at
    while (end < 8 && groups[end] === 0) end++
    if (end - at > best.length) best = { at, length: end - at }
    at = end + 1
  }
  const hex = (from: number, to: number): string => {
    let text = ''
    for (let at = from; at < to; at++) text += `${at === from ? '' : ':'}${(groups[at] as number).toString(16)}`
    return text
  }
  return best.at < 0 ? hex(0, 8) : `${hex(0, best.at)}::${hex(best.at + best.length, 8)}`
}

/** Orders IPv4 before IPv6, then by value. */
export function compareAddresses(a: Address, b: Address): number {
  return a.family - b.family || (a.value < b.value ? -1 : a.value > b.value ? 1 : 0)
}

/** Reads `192.0.2.11/24`; undefined if the address or the length (0 to 32 or 128, no sign, no leading zero) is wrong. */
export function parsePrefix(text: string): Prefix | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = parseAddress(text.slice(0, slash))
  const digits = text.slice(slash + 1)
  if (!address || !/^(0|[1-9][0-9]{0,2})$/.test(digits)) return undefined
  const length = Number(digits)
  return length > width(address.family) ? undefined : { address, length }
}

/** `192.0.2.11/24` */
export const printPrefix = (prefix: Prefix): string => `${prefix.address.text}/${prefix.length}`

/** The prefix of one address alone: /32 or /128. */
export const hostPrefix = (address: Address): Prefix => ({ address, length: width(address.family) })

/** The network of a prefix: its address with the host bits cleared. */
export function networkOf(prefix: Prefix): Prefix {
  const { family, value } = prefix.address
  const shift = BigInt(width(family) - prefix.length)
  const network = (value >> shift) << shift
  return network === value ? prefix : { address: addressOf(family, network), length: prefix.length }
}

/** The last address of a network (the broadcast address of an IPv4 one). */
export function lastOf(prefix: Prefix): Address {
  const { family, value } = prefix.address
  return addressOf(family, value | ((1n << BigInt(width(family) - prefix.length)) - 1n))
}

/** Whether an address of the same family lies in the network of the prefix. */
export function contains(prefix: Prefix, address: Address): boolean {
  if (prefix.address.family !== address.family) return false
  const shift = BigInt(width(address.family) - prefix.length)
  return prefix.address.value >> shift === address.value >> shift
}

const NOT_GLOBAL = [
  '0.0.0.0/32',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/128',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
].map((text) => parsePrefix(text) as Prefix)

/** Go's netip.Addr.IsGlobalUnicast: private and unique-local count; unspecified, loopback, link-local, multicast, broadcast do not. */
export const isGlobalUnicast = (address: Address): boolean => !NOT_GLOBAL.some((prefix) => contains(prefix, address))

/** The address `offset` places after the start of the prefix's network; undefined when that is outside the network. */
export function nth(prefix: Prefix, offset: number): Address | undefined {
  const network = networkOf(prefix)
  const address = addressOf(network.address.family, network.address.value + BigInt(offset))
  return address.value < 1n << BigInt(width(address.family)) && contains(network, address) ? address : undefined
}

/**
 * The hardware address OVN-Kubernetes derives from an IP address (seed 002, IPAddrToHWAddr): `0a:58:` and the four
 * bytes of an IPv4 address, or the first four bytes of SHA-256 over the RFC 5952 text of an IPv6 address.
 */
export function hardwareAddress(address: Address): string {
  const bytes =
    address.family === 4
      ? [24n, 16n, 8n, 0n].map((shift) => Number((address.value >> shift) & 255n))
      : [...createHash('sha256').update(address.text).digest().subarray(0, 4)]
  return ['0a', '58', ...bytes.map((byte) => byte.toString(16).padStart(2, '0'))].join(':')
}

/** The address as `0x` and 32 hex digits, the form in which nft 1.0.6 takes a raw 128-bit field. */
export const hex128 = (address: Address): string => `0x${address.value.toString(16).padStart(32, '0')}`
