import { canonicalPort, canonicalText, canonicalValue, hex, readNumber } from './match.js'
import { mapOf, splitTop } from './text.js'

/** OXM spelling of a field that `load` names in full, and the name `set_field` has for it. */
const WHOLE_FIELDS: ReadonlyMap<string, string> = mapOf({
  NXM_NX_CT_MARK: 'ct_mark',
  NXM_NX_CT_LABEL: 'ct_label',
  NXM_NX_PKT_MARK: 'pkt_mark',
  NXM_NX_TUN_ID: 'tun_id',
  OXM_OF_METADATA: 'metadata',
})

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

/**
 * The actions of a flow as ovs-vswitchd 3.1 prints them over OpenFlow 1.4: what older spellings (mod_dl_dst, load, strip_vlan, a bare port
 * number) mean is written in one way. Actions without a rule here stay as they are. `tagged`: the match asks for a VLAN tag.
 */
export function canonicalActions(text: string, tagged = false): string {
  const parts = splitTop(text).flatMap((part) => action(part, tagged))
  return parts.length === 0 ? 'drop' : parts.join(',')
}

function action(text: string, tagged: boolean): readonly string[] {
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
      return [...(tagged ? [] : ['push_vlan:0x8100']), `set_field:${Number(argument) + 0x1000}->vlan_vid`]
    case 'mod_dl_src':
    case 'mod_dl_dst':
    case 'mod_nw_src':
    case 'mod_nw_dst':
      return [setField(argument, name.toLowerCase().slice(4))]
    case 'set_field': {
      const [value = '', field = ''] = argument.split('->')
      return [setField(value, field)]
    }
    case 'load':
      return [load(argument)]
    case 'ct':
      return [connectionTracking(rest)]
    default:
      return [/^\d+$/.test(text) ? `output:${Number(text)}` : text]
  }
}

function output(port: string, text: string): string {
  if (port.startsWith('(') || port.includes('[')) return text
  const canonical = canonicalPort(port)
  return /^(local|normal|flood|all|in_port|controller)$/i.test(canonical) ? (action(canonical, false)[0] as string) : `output:${canonical}`
}

function setField(value: string, written: string): string {
  const field = SET_NAMES.get(written) ?? written
  const number = readNumber(value)
  if (field === 'vlan_vid' && number !== null) return `set_field:${number}->vlan_vid`
  return `set_field:${canonicalValue(MATCH_NAMES.get(field) ?? field, value) ?? value}->${field}`
}

function load(argument: string): string {
  const [value = '', target = ''] = argument.split('->')
  const number = readNumber(value)
  if (number === null) return `load:${argument}`
  const whole = /^(\w+)\[\]$/.exec(target)?.[1]
  const field = whole && (WHOLE_FIELDS.get(whole) ?? /^NXM_NX_(X{0,2}REG\d+)$/.exec(whole)?.[1]?.toLowerCase())
  return field ? `set_field:${hex(number)}->${field}` : `load:${hex(number)}->${target}`
}

function connectionTracking(rest: string): string {
  if (rest === '') return 'ct'
  const inner = rest.slice(1, -1)
  const parts = splitTop(inner).map((part) => {
    const [, name = '', value = ''] = /^(\w+)(.*)$/s.exec(part) ?? []
    if (name === 'zone' || name === 'table') return `${name}=${canonicalPort(value.slice(1))}`
    if (name === 'nat' && value !== '') return `nat(${splitTop(value.slice(1, -1)).map(translation).join(',')})`
    if (name === 'exec') return `exec(${canonicalActions(value.slice(1, -1))})`
    return part
  })
  const place = (part: string) => CT_ORDER.indexOf(/^\w+/.exec(part)?.[0] ?? '')
  return `ct(${parts.sort((a, b) => place(a) - place(b)).join(',')})`
}

/** `src=ADDRESS` of nat(); ranges and ports stay as they are. */
function translation(text: string): string {
  const [, name, value = ''] = /^(src|dst)=(.*)$/.exec(text) ?? []
  return name ? `${name}=${canonicalText(value)}` : text
}
