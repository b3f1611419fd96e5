import { hex, readNumber } from './match.js'
import { mapOf } from './text.js'

/** Fields by the name that `set_field` has for them: the name in `load` and `move` (ovs-fields(7)), and the width in bits. */
const FIELDS: ReadonlyMap<string, readonly [name: string, bits: number]> = mapOf({
  eth_src: ['NXM_OF_ETH_SRC', 48],
  eth_dst: ['NXM_OF_ETH_DST', 48],
  ip_src: ['NXM_OF_IP_SRC', 32],
  ip_dst: ['NXM_OF_IP_DST', 32],
  ipv6_src: ['NXM_NX_IPV6_SRC', 128],
  ipv6_dst: ['NXM_NX_IPV6_DST', 128],
  in_port: ['NXM_OF_IN_PORT', 16],
  vlan_tci: ['NXM_OF_VLAN_TCI', 16],
  tun_id: ['NXM_NX_TUN_ID', 64],
  metadata: ['OXM_OF_METADATA', 64],
  pkt_mark: ['NXM_NX_PKT_MARK', 32],
  ct_mark: ['NXM_NX_CT_MARK', 32],
  ct_label: ['NXM_NX_CT_LABEL', 128],
  ...Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`reg${at}`, [`NXM_NX_REG${at}`, 32]])),
})
const BY_NAME: ReadonlyMap<string, string> = new Map([...FIELDS].map(([field, [name]]) => [name, field]))
const OTHER_NAMES: ReadonlyMap<string, string> = mapOf({ dl_src: 'eth_src', dl_dst: 'eth_dst', nw_src: 'ip_src', nw_dst: 'ip_dst' })

/** Fields that Open vSwitch sets with `set_field` when all of their bits are loaded. */
const SET_WHOLE = /^(reg\d+|ct_mark|ct_label|pkt_mark|tun_id|metadata)$/

interface Bits {
  readonly first: number
  readonly last: number
}

/** `NXM_NX_REG0[0..3]`, `reg0[]` or `reg0`; null for a field that is not known here. */
function read(text: string): { readonly field: string; readonly name: string; readonly width: number; readonly bits: Bits } | null {
  const [, written = '', first, last] = /^(\w+)(?:\[(?:(\d+)(?:\.\.(\d+))?)?\])?$/.exec(text) ?? []
  const field = BY_NAME.get(written) ?? OTHER_NAMES.get(written) ?? written
  const [name, width] = FIELDS.get(field) ?? []
  if (name === undefined || width === undefined) return null
  const from = Number(first ?? 0)
  return { field, name, width, bits: { first: from, last: first === undefined ? width - 1 : Number(last ?? from) } }
}

const print = (name: string, width: number, { first, last }: Bits): string =>
  first === 0 && last === width - 1 ? `${name}[]` : `${name}[${first === last ? first : `${first}..${last}`}]`

/** Bits of a field in the spelling of Open vSwitch: `NXM_NX_REG0[0]`. Text of fields that are not known here stays as it is. */
export function canonicalSubfield(text: string): string {
  const found = read(text)
  return found ? print(found.name, found.width, found.bits) : text
}

/** `load:VALUE->BITS` as Open vSwitch prints it. */
export function canonicalLoad(value: bigint, target: string): string {
  const found = read(target)
  if (!found) return `load:${hex(value)}->${target}`
  const { field, name, width, bits } = found
  const isWhole = bits.first === 0 && bits.last === width - 1
  return isWhole && SET_WHOLE.test(field) ? `set_field:${hex(value)}->${field}` : `load:${hex(value)}->${print(name, width, bits)}`
}

/** What setting some bits of a field loads; null where the mask is not one row of bits, or has all or none of them. */
export function maskedLoad(value: bigint, mask: bigint, field: string): string | null {
  const [name, width] = FIELDS.get(field) ?? []
  const digits = mask.toString(2)
  if (name === undefined || width === undefined || !/^1+0*$/.test(digits) || digits.length > width) return null
  const first = digits.length - (digits.lastIndexOf('1') + 1)
  const bits = { first, last: digits.length - 1 }
  if (first === 0 && bits.last === width - 1) return null
  return `load:${hex((value & mask) >> BigInt(first))}->${print(name, width, bits)}`
}

/** Value and mask of `5/0xff`, or of two MAC addresses; null where there is no mask. */
export function readMasked(text: string): readonly [value: bigint, mask: bigint] | null {
  const [value, mask] = text.split('/').map(readBits)
  return value === undefined || mask === undefined || value === null || mask === null ? null : [value, mask]
}

const readBits = (text: string): bigint | null =>
  /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(text) ? BigInt(`0x${text.replaceAll(':', '')}`) : readNumber(text)
