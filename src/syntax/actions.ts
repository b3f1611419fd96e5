import { canonicalPort, canonicalText, canonicalValue, readNumber } from './match.js'
import { canonicalLoad, canonicalSubfield, maskedLoad, readMasked } from './subfields.js'
import { mapOf, splitTop } from './text.js'

/** Names of a field in `set_field` and the one that stands here; the value follows the field of the match. */
const SET_NAMES: ReadonlyMap<string, string> = mapOf({
  dl_src: 'eth_src',
  dl_dst: 'eth_dst',
  nw_src: 'ip_src',
  nw_dst: 'ip_dst',
  tunnel_id: 'tun_id',
})
const MATCH_NAMES: ReadonlyMap<string, string> = mapOf({ eth_src: 'dl_src', eth_dst: 'dl_dst', ip_src: 'nw_src', ip_dst: 'nw_dst' })

/** Order of the arguments of ct() as OVS prints them. */
const CT_ORDER = ['commit', 'force', 'table', 'zone', 'nat', 'alg', 'exec']

/** What the match says and actions depend on: whether the packet has a VLAN tag, and its transport protocol where one is known. */
export interface Packet {
  readonly tagged: boolean
  readonly transport: 'tcp' | 'udp' | 'sctp' | null
}
const UNKNOWN: Packet = { tagged: false, transport: null }

/**
 * The actions of a flow as ovs-vswitchd 3.1 prints them over OpenFlow 1.4: what older spellings (mod_dl_dst, load, strip_vlan, a bare port
 * number) mean is written in one way. Actions without a rule here stay as they are.
 */
export function canonicalActions(text: string, packet = UNKNOWN): string {
  let { tagged } = packet
  const parts = splitTop(text).flatMap((part) => {
    const actions = action(part, { ...packet, tagged })
    tagged = actions.includes('pop_vlan') ? false : tagged || actions.some((one) => one.startsWith('push_vlan'))
    return actions
  })
  return parts.length === 0 ? 'drop' : parts.join(',')
}

function action(text: string, packet: Packet): readonly string[] {
  const [, name = '', rest = ''] = /^([\w.-]+)(.*)$/s.exec(text) ?? []
  const argument = /^[:=]/.test(rest) ? rest.slice(1) : rest
  switch (name.toLowerCase()) {
    case 'drop':
      return []
    case 'normal':
    case 'flood':
    case 'all':
    case 'local':
    case 'in_port':
      return [name.toUpperCase()]
    case 'controller':
      return [`CONTROLLER${argument === '' ? ':65535' : rest}`]
    case 'output':
      return [output(argument, text)]
    case 'patch':
    case 'uplink':
      return [`output:${text}`]
    case 'strip_vlan':
      return ['pop_vlan']
    case 'mod_vlan_vid':
      return onTag(packet, `set_field:${Number(argument) + 0x1000}->vlan_vid`)
    case 'mod_vlan_pcp':
      return onTag(packet, `set_field:${Number(argument)}->vlan_pcp`)
    case 'mod_dl_src':
    case 'mod_dl_dst':
    case 'mod_nw_src':
    case 'mod_nw_dst':
    case 'mod_nw_ecn':
      return [setField(argument, name.toLowerCase().slice(4))]
    case 'mod_nw_tos':
      return [`set_field:${Number(argument) >> 2}->ip_dscp`]
    case 'mod_tp_src':
    case 'mod_tp_dst':
      return [packet.transport ? `set_field:${Number(argument)}->${packet.transport}_${name.toLowerCase().slice(7)}` : text]
    case 'write_metadata':
      return [`write_metadata:${canonicalValue('metadata', argument) ?? argument}`]
    case 'set_tunnel':
      return [setField(argument, 'tun_id')]
    case 'set_field': {
      const [value = '', field = ''] = argument.split('->')
      return [setField(value, field)]
    }
    case 'load': {
      const [value = '', target = ''] = argument.split('->')
      const number = readNumber(value)
      return [number === null ? text : canonicalLoad(number, target)]
    }
    case 'move':
      return [`move:${argument.split('->').map(canonicalSubfield).join('->')}`]
    case 'check_pkt_larger':
      return [text.replace(/->(.*)$/, (_, target: string) => `->${canonicalSubfield(target)}`)]
    case 'ct':
      return [connectionTracking(rest)]
    default:
      return [/^\d+$/.test(text) ? output(text, text) : text]
  }
}

/** What is written into a VLAN tag comes behind one. */
const onTag = ({ tagged }: Packet, set: string): readonly string[] => (tagged ? [set] : ['push_vlan:0x8100', set])

function output(port: string, text: string): string {
  if (port.startsWith('(')) return text
  if (port.includes('[')) return `output:${canonicalSubfield(port)}`
  const canonical = canonicalPort(port)
  return /^(local|normal|flood|all|in_port|controller)$/i.test(canonical)
    ? (action(canonical, UNKNOWN)[0] as string)
    : `output:${canonical}`
}

function setField(value: string, written: string): string {
  const field = SET_NAMES.get(written) ?? written
  const number = readNumber(value)
  if (field === 'vlan_vid' && number !== null) return `set_field:${number}->vlan_vid`
  const masked = readMasked(value)
  const load = masked && maskedLoad(...masked, field)
  if (load) return load
  return `set_field:${canonicalValue(MATCH_NAMES.get(field) ?? field, value) ?? value}->${field}`
}

function connectionTracking(rest: string): string {
  if (rest === '') return 'ct'
  const inner = rest.slice(1, -1)
  const parts = splitTop(inner).flatMap((part) => {
    const [, name = '', value = ''] = /^(\w+)(.*)$/s.exec(part) ?? []
    if (name === 'zone' && readNumber(value.slice(1)) === 0n) return []
    if (name === 'zone' && value.includes('[')) return `zone=${canonicalSubfield(value.slice(1))}`
    if (name === 'zone' || name === 'table') return `${name}=${canonicalPort(value.slice(1))}`
    if (name === 'nat' && value !== '') return `nat(${splitTop(value.slice(1, -1)).map(translation).join(',')})`
    if (name === 'exec') return `exec(${canonicalActions(value.slice(1, -1))})`
    return part
  })
  const place = (part: string) => CT_ORDER.indexOf(/^\w+/.exec(part)?.[0] ?? '')
  return `ct(${parts.sort((a, b) => place(a) - place(b)).join(',')})`
}

/** `src=ADDRESS` of nat(), a range of addresses or ports as it may be: `src=[2001:db8::1]-[2001:db8::2]:1-2`. */
function translation(text: string): string {
  const [, name, value = ''] = /^(src|dst)=(.*)$/.exec(text) ?? []
  return name
    ? `${name}=${value
        .split('-')
        .map(canonicalText)
        .join('-')
        .replace(/\[([^\]]*)\]/g, (_, inner: string) => `[${canonicalText(inner)}]`)}`
    : text
}
