import { type Address, compareAddresses, type Family, networkOf, type Prefix, parseAddress, parsePrefix, width } from '../model/address.js'
import type { GatewayMode } from '../model/node-annotations.js'
import { EGRESS_NODE_MARK, EGRESS_SECONDARY_MARK, EGRESS_TABLE } from '../model/numbers.js'
import { asObject, type Json } from './nft-json.js'
import { compareNft, type NftEntry, nftComment } from './nftables.js'

/** A pod that leaves through a secondary interface with an egress IP of the family of its own address. */
export interface EgressPod {
  readonly pod: Address
  /** Name or symbol of the interface. */
  readonly device: string
  readonly address: Address
  /** The object that the address comes from. */
  readonly for: string
}

const family = 'inet'
const table = EGRESS_TABLE
const SNAT = 'egress-ip-snat'
const FILTER = 'egress-ip-sec-filter'
const CONNMARK = 'egress-ip-connmark'
const FAMILIES: readonly Family[] = [4, 6]
/** The protocol of a family as nft names it. */
const protocolOf = (of: Family): string => (of === 4 ? 'ip' : 'ip6')
const mapOf = (of: Family): string => `${SNAT}-v${of}`

const MARK: Json = { meta: { key: 'mark' } }
const CT_MARK: Json = { ct: { key: 'mark' } }
const sourceOf = (of: Family): Json => ({ payload: { protocol: protocolOf(of), field: 'saddr' } })
const equals = (left: Json, right: Json): Json => ({ match: { op: '==', left, right } })
const set = (key: Json, value: Json): Json => ({ mangle: { key, value } })

/**
 * Table `inet egretta`: what the egress IPs of secondary interfaces need of nftables, as ovnkube has it in its own table. It stands on every
 * node, without elements where there are none, so that a pod that comes meets the filter before its first packet.
 *
 * Chain `egress-ip-snat` gives a pod's packet the egress IP of the interface that it leaves through. What carries OVN's mark for a secondary
 * interface and has no egress IP there is dropped twice. At the end of that chain: the kernel runs all nat chains of a hook before priority
 * 101, and one that masquerades every pod would give the packet the address of the interface, which no filter behind it can tell. And in chain
 * `egress-ip-sec-filter`: an invalid packet (a stray RST) is never translated and meets no nat chain. Both ask for the mark alone, because
 * pods without an egress IP can leave through the same interfaces with their own addresses on purpose. Chain `egress-ip-connmark` is that of
 * local gateway mode: it keeps the mark of a pod's connection to the address of a node.
 *
 * `podSubnets` are those of the default network in the whole cluster. `pods` may come in any order, each pod at most once for a device.
 */
export function egressTable(mode: GatewayMode, podSubnets: readonly Prefix[], pods: readonly EgressPod[]): readonly NftEntry[] {
  const chain = (name: string, type: string, hook: string, prio: number): NftEntry => ({
    kind: 'chain',
    family,
    table,
    name,
    hook: { type, hook, prio, policy: 'accept', dev: null },
  })
  const maps = FAMILIES.map((of): NftEntry => {
    const address = `ipv${of}_addr`
    return { kind: 'set', family, table, name: mapOf(of), type: [address, 'ifname'], map: address, flags: [], options: {} }
  })
  const subnets = distinct(podSubnets)
  const entries: readonly NftEntry[] = [
    { kind: 'table', family, table },
    chain(SNAT, 'nat', 'postrouting', 100),
    chain(FILTER, 'filter', 'postrouting', 101),
    ...maps,
    ...pods.map(egressElement),
    ...rules(SNAT, [
      ...FAMILIES.map(translate),
      ...subnets.map((subnet) => drop(subnet, 'leak filter: nobody else translates a marked packet')),
    ]),
    ...rules(
      FILTER,
      subnets.map((subnet) => drop(subnet, 'leak filter: no packet for a secondary interface leaves with the address of a pod')),
    ),
    ...(mode === 'local' ? [chain(CONNMARK, 'filter', 'prerouting', -150), ...rules(CONNMARK, [RESTORE, SAVE])] : []),
  ]
  return [...entries].sort(compareNft)
}

/** The element that gives a pod its egress IP. */
export const egressElement = ({ pod, device, address, for: object }: EgressPod): NftEntry => ({
  kind: 'element',
  family,
  table,
  set: mapOf(pod.family),
  map: true,
  value: { concat: [pod.text, device] },
  to: address.text,
  comment: nftComment(object),
})

interface Rule {
  readonly expr: readonly Json[]
  readonly comment: string
}

const rules = (chain: string, list: readonly Rule[]): readonly NftEntry[] =>
  list.map(({ expr, comment }, index) => ({ kind: 'rule', family, table, chain, index, expr, comment }))

/** nft 1.0.6 takes a map of addresses and interfaces in a table of family inet only where the statement names the family. */
const translate = (of: Family): Rule => ({
  expr: [
    {
      snat: {
        family: protocolOf(of),
        addr: { map: { key: { concat: [sourceOf(of), { meta: { key: 'oifname' } }] }, data: `@${mapOf(of)}` } },
      },
    },
  ],
  comment: `egress IP: a pod leaves with the IPv${of} egress IP of the interface`,
})

/** Drops what carries the mark and has an address of the subnet still. */
const drop = ({ address, length }: Prefix, comment: string): Rule => ({
  expr: [
    equals(MARK, EGRESS_SECONDARY_MARK),
    equals(sourceOf(address.family), length === width(address.family) ? address.text : { prefix: { addr: address.text, len: length } }),
    { drop: null },
  ],
  comment,
})

const RESTORE: Rule = {
  expr: [equals(MARK, 0), set(MARK, CT_MARK)],
  comment: 'local gateway mode: a reply has the mark of its connection',
}
const SAVE: Rule = {
  expr: [equals(MARK, EGRESS_NODE_MARK), set(CT_MARK, MARK)],
  comment: 'local gateway mode: a connection of a pod to the address of a node keeps its mark',
}

/** Every network, or address, with which rules compare the source of a packet: the pod subnets, where the rules are those of such a table. */
export const podSubnetsIn = (entries: readonly NftEntry[]): readonly Prefix[] =>
  entries.flatMap((entry) => (entry.kind === 'rule' ? entry.expr.flatMap((statement) => subnetIn(statement) ?? []) : []))

function subnetIn(statement: Json): Prefix | undefined {
  const right = asObject(asObject(statement)?.match)?.right
  const { addr, len } = asObject(asObject(right)?.prefix) ?? {}
  const single = typeof right === 'string' ? parseAddress(right) : undefined
  return single ? { address: single, length: single.family === 4 ? 32 : 128 } : parsePrefix(`${String(addr)}/${String(len)}`)
}

/** Networks without host bits, each once, sorted. */
const distinct = (prefixes: readonly Prefix[]): readonly Prefix[] => {
  const each = prefixes.map(networkOf)
  return [...new Map(each.map((prefix) => [`${prefix.address.text}/${prefix.length}`, prefix])).values()].sort(
    (a, b) => compareAddresses(a.address, b.address) || a.length - b.length,
  )
}
