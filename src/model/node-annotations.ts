import { type Address, type Family, hostPrefix, type Prefix, parseAddress, parsePrefix } from './address.js'
import { describe, isObject, objectAt, printPath, textAt, valueAt } from './json.js'

export type GatewayMode = 'shared' | 'local'

/** The external bridge of a node: annotation k8s.ovn.org/l3-gateway-config. */
export interface Gateway {
  readonly mode: GatewayMode
  /** From bridge-id, else (older nodes) from interface-id, else null: then Cluster.spec.bridge decides. */
  readonly bridge: string | null
  readonly mac: string
  readonly addresses: readonly Prefix[]
  readonly nextHops: readonly Address[]
  /** 0 is untagged. */
  readonly vlan: number
}

/** Annotation cloud.network.openshift.io/egress-ipconfig (seed 001). A capacity that is absent is no limit, 0 is none. */
export interface CloudEgressConfig {
  readonly interface: string
  readonly networks: readonly Prefix[]
  readonly capacity: { readonly ip: number | null; readonly ipv4: number | null; readonly ipv6: number | null }
}

/** Takes what is wrong with a value, as the end of the sentence "annotation … : …". What is right around it is still read. */
export type Fault = (message: string) => void

const notPrefix = (value: unknown) => `${describe(value)} is not an address with a prefix length`
const notAddress = (value: unknown) => `${describe(value)} is not an address`

function prefixes(list: readonly unknown[], fault: Fault): readonly Prefix[] {
  return list.flatMap((item) => {
    const prefix = typeof item === 'string' ? parsePrefix(item) : undefined
    if (!prefix) fault(notPrefix(item))
    return prefix ?? []
  })
}

function addresses(list: readonly unknown[], fault: Fault): readonly Address[] {
  return list.flatMap((item) => {
    const address = typeof item === 'string' ? parseAddress(item) : undefined
    if (!address) fault(notAddress(item))
    return address ?? []
  })
}

function asList(value: unknown, fault: Fault): readonly unknown[] {
  if (Array.isArray(value)) return value
  fault(`it must be a list; it is ${describe(value)}`)
  return []
}

/** host-cidrs: `["192.0.2.11/24"]` */
export const readPrefixList = (value: unknown, fault: Fault): readonly Prefix[] => prefixes(asList(value, fault), fault)

/** bridge-egress-ips and the like: `["192.0.2.50"]` */
export const readAddressList = (value: unknown, fault: Fault): readonly Address[] => addresses(asList(value, fault), fault)

/** host-addresses of older nodes: the same as host-cidrs, without prefix lengths. */
export const readHostAddresses = (value: unknown, fault: Fault): readonly Prefix[] => readAddressList(value, fault).map(hostPrefix)

/** `{"ipv4":"192.0.2.11/24","ipv6":"2001:db8::11/64"}`: at most one prefix per family. */
export function readPrefixPair(value: unknown, fault: Fault): readonly Prefix[] {
  if (!isObject(value)) fault(`it must be a mapping of ipv4 and ipv6; it is ${describe(value)}`)
  const families: readonly [string, Family][] = [
    ['ipv4', 4],
    ['ipv6', 6],
  ]
  return families.flatMap(([key, family]) => {
    const text = valueAt(value, [key])
    if (text === undefined || text === null || text === '') return []
    const [prefix] = prefixes([text], fault)
    if (prefix && prefix.address.family !== family) fault(`${key} holds ${describe(text)}`)
    return prefix?.address.family === family ? prefix : []
  })
}

/** node-subnets: `{"default":["10.128.2.0/23"]}`; a text instead of a list on older nodes. */
export function readNodeSubnets(value: unknown, fault: Fault): ReadonlyMap<string, readonly Prefix[]> {
  return new Map(named(value, fault).map(([network, subnets]) => [network, prefixes(Array.isArray(subnets) ? subnets : [subnets], fault)]))
}

/** network-ids of older nodes: `{"default":"0"}` */
export function readNetworkIds(value: unknown, fault: Fault): ReadonlyMap<string, number> {
  return new Map(
    named(value, fault).flatMap(([network, text]): [string, number][] => {
      const id = readNetworkId(text)
      if (id === null) fault(`${describe(text)} is not a network id`)
      return id === null ? [] : [[network, id]]
    }),
  )
}

/** A network id: a whole number, in a text. Null when it is none. */
export function readNetworkId(value: unknown): number | null {
  return (typeof value === 'string' || typeof value === 'number') && /^(0|[1-9][0-9]{0,8})$/.test(String(value)) ? Number(value) : null
}

function named(value: unknown, fault: Fault): readonly [string, unknown][] {
  if (isObject(value)) return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  fault(`it must be a mapping of network names; it is ${describe(value)}`)
  return []
}

/** What Linux takes as the name of an interface: at most 15 characters (IFNAMSIZ), no slash, colon or blank, no `.` or `..`. */
const isDeviceName = (text: string): boolean => /^[^\s/:]{1,15}$/.test(text) && !/^\.\.?$/.test(text)

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/

/** l3-gateway-config. Null where the node has no gateway (mode empty or `disabled`), or none that can be read. */
export function readGateway(value: unknown, node: string, fault: Fault): Gateway | null {
  const config = valueAt(value, ['default'])
  if (!isObject(config)) {
    fault(`its default must be a mapping; it is ${describe(config)}`)
    return null
  }
  const mode = config.mode ?? ''
  if (mode === '' || mode === 'disabled') return null
  const mac = String(config['mac-address'] ?? '').toLowerCase()
  let sound = true
  const wrong: Fault = (message) => {
    sound = false
    fault(message)
  }
  if (mode !== 'shared' && mode !== 'local') wrong(`mode is shared or local; it is ${describe(mode)}`)
  if (!MAC.test(mac)) wrong(`${describe(config['mac-address'])} is not a hardware address`)
  const vlan = Number(config['vlan-id'] ?? 0)
  if (!Number.isInteger(vlan) || vlan < 0 || vlan > 4094) wrong(`vlan-id is a number from 0 to 4094; it is ${describe(config['vlan-id'])}`)
  const bridge = textAt(config, ['bridge-id']) ?? bridgeOf(textAt(config, ['interface-id']), node)
  if (bridge !== null && !isDeviceName(bridge)) wrong(`${describe(bridge)} is not the name of a bridge`)
  const gateway = {
    bridge,
    mac,
    addresses: prefixes(oneOrMore(config['ip-addresses'], config['ip-address'], wrong), wrong),
    nextHops: addresses(oneOrMore(config['next-hops'], config['next-hop'], wrong), wrong),
    vlan,
  }
  return sound && (mode === 'shared' || mode === 'local') ? { mode, ...gateway } : null
}

/** `br-ex` of `br-ex_node-a`: older nodes name the bridge only so. */
function bridgeOf(interfaceId: string | null, node: string): string | null {
  const suffix = `_${node}`
  return interfaceId?.endsWith(suffix) && interfaceId.length > suffix.length ? interfaceId.slice(0, -suffix.length) : null
}

/** A list, or on older nodes its only item under a name of its own. */
function oneOrMore(list: unknown, single: unknown, fault: Fault): readonly unknown[] {
  if (list !== undefined && list !== null) return asList(list, fault).filter((item) => item !== '')
  return single === undefined || single === null || single === '' ? [] : [single]
}

/** egress-ipconfig of a cloud (seed 001): a list with one element. */
export function readCloudConfig(value: unknown, fault: Fault): CloudEgressConfig | null {
  const config = valueAt(value, [0])
  if (!isObject(config)) {
    fault(
      `it must be a list with one mapping; it is ${Array.isArray(value) && value.length > 0 ? `a list of ${describe(config)}` : describe(value)}`,
    )
    return null
  }
  const count = (key: string): number | null => {
    const number = objectAt(config, ['capacity'])[key]
    if (number === undefined || number === null) return null
    if (typeof number === 'number' && Number.isInteger(number) && number >= 0) return number
    fault(`${printPath(['capacity', key])} is a whole number from 0; it is ${describe(number)}`)
    return null
  }
  return {
    interface: textAt(config, ['interface']) ?? '',
    networks: config.ifaddr === undefined || config.ifaddr === null ? [] : readPrefixPair(config.ifaddr, fault),
    capacity: { ip: count('ip'), ipv4: count('ipv4'), ipv6: count('ipv6') },
  }
}

/** InternalIPs among status.addresses; `faultAt` takes what is wrong with the entry of an index. */
export function readInternalIPs(entries: readonly unknown[], faultAt: (index: number) => Fault): readonly Address[] {
  return entries.flatMap((entry, index) =>
    valueAt(entry, ['type']) === 'InternalIP' ? addresses([valueAt(entry, ['address'])], faultAt(index)) : [],
  )
}
