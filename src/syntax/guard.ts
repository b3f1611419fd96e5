import { type Address, compareAddresses, hex128 } from '../model/address.js'
import { GUARD_COOKIE, GUARD_TABLE, SECONDARY_GUARD_TABLE } from '../model/numbers.js'
import { anonymous, type Json } from './nft-json.js'
import { compareNft, type NftEntry, nftComment } from './nftables.js'
import { compareFlows, type Flow, flow } from './openflow.js'
import { patchOf } from './symbols.js'

/** An address that a leaving node must neither answer for nor speak with, and the object that it comes from. */
export interface Silenced {
  readonly address: Address
  readonly for: string
}

/** First nft that knows `icmpv6 taddr`. */
const TARGET_ADDRESS = [1, 0, 9]

/** Whether nft of this version (`1.0.6`) knows `icmpv6 taddr`; what cannot be read counts as old. */
export function hasTargetAddress(nftVersion: string): boolean {
  const numbers = /^v?(\d+)\.(\d+)(?:\.(\d+))?/
    .exec(nftVersion)
    ?.slice(1)
    .map((part) => Number(part ?? 0)) ?? [0, 0, 0]
  for (const [at, least] of TARGET_ADDRESS.entries()) {
    const number = numbers[at] ?? 0
    if (number !== least) return number > least
  }
  return true
}

const family = 'netdev'
const V4 = 'egressip-v4'
const V6 = 'egressip-v6'
const INGRESS = 'egressip-drop'
const EGRESS = 'egressip-silence'

const equals = (left: Json, right: Json): Json => ({ match: { op: '==', left, right } })
const field = (protocol: string, name: string): Json => ({ payload: { protocol, field: name } })
const ICMPV6_TYPE = field('icmpv6', 'type')
const DROP: Json = { drop: null }

/**
 * The shutdown guard: table `ovn-kubernetes-egressip` of family netdev. Chain `egressip-drop` (seed 000) keeps ARP requests and neighbor
 * solicitations for the addresses from reaching anything on the node that would answer. Chain `egressip-silence` keeps what the node sends
 * from naming them: with the first chain alone its kernel still asks for its peers with the egress IP as sender, and the peers believe it.
 * Nor may a probe of duplicate address detection claim one there: the new holder would think that it has a rival.
 *
 * `icmpv6 taddr` came with nft 1.0.9. For an older one the target address, 8 bytes into the transport header, is matched raw against values
 * in the rule itself: such a set cannot be declared in JSON with a name, so the set `egressip-v6` of the seed stands beside the rule.
 * `device` is a name or a symbol. Addresses may come in any order; of equal ones the first counts.
 */
export const guardTable = (silenced: readonly Silenced[], device: string, nftVersion: string): readonly NftEntry[] =>
  guard(GUARD_TABLE, [{ device, suffix: '' }], silenced, nftVersion)

/**
 * The shutdown guard of secondary interfaces: table `egretta-guard` of family netdev, with the same chains and rules once for each device,
 * and every address silenced on all of them. A chain is named after its device, which is a name or `network(PREFIX)`: that of
 * `network(2001:db8::/64)` is `egressip-drop-2001.db8../64`. Devices may come in any order and more than once.
 */
export function secondaryGuardTable(silenced: readonly Silenced[], devices: readonly string[], nftVersion: string): readonly NftEntry[] {
  const hooks = [...new Set(devices)].map((device) => ({
    device,
    suffix: `-${device.replace(/^network\((.*)\)$/, '$1').replaceAll(':', '.')}`,
  }))
  return guard(SECONDARY_GUARD_TABLE, hooks, silenced, nftVersion)
}

/** A device with a chain for each direction, and what stands behind the names of these chains. */
interface Hook {
  readonly device: string
  readonly suffix: string
}

function guard(table: string, hooks: readonly Hook[], silenced: readonly Silenced[], nftVersion: string): readonly NftEntry[] {
  const each = [...new Map([...silenced].reverse().map((one) => [one.address.text, one])).values()].sort((a, b) =>
    compareAddresses(a.address, b.address),
  )
  const v6 = each.filter(({ address }) => address.family === 6)
  const chain = (name: string, hook: string, dev: string): NftEntry => ({
    kind: 'chain',
    family,
    table,
    name,
    hook: { type: 'filter', hook, prio: 0, policy: 'accept', dev },
  })
  const set = (name: string, type: string): NftEntry => ({ kind: 'set', family, table, name, type, map: null, flags: [], options: {} })
  const entries: readonly NftEntry[] = [
    { kind: 'table', family, table },
    set(V4, 'ipv4_addr'),
    set(V6, 'ipv6_addr'),
    ...each.map(({ address, for: object }): NftEntry => {
      const name = address.family === 4 ? V4 : V6
      return { kind: 'element', family, table, set: name, map: false, value: address.text, to: null, comment: nftComment(object) }
    }),
    ...hooks.flatMap(({ device, suffix }) => [
      chain(`${INGRESS}${suffix}`, 'ingress', device),
      chain(`${EGRESS}${suffix}`, 'egress', device),
      ...rules(table, `${INGRESS}${suffix}`, ingress(v6, nftVersion)),
      ...rules(table, `${EGRESS}${suffix}`, egress(v6, nftVersion)),
    ]),
  ]
  return [...entries].sort(compareNft)
}

interface Rule {
  readonly expr: readonly Json[]
  readonly comment: string
}

const rules = (table: string, chain: string, list: readonly Rule[]): readonly NftEntry[] =>
  list.map(({ expr, comment }, index) => ({
    kind: 'rule',
    family,
    table,
    chain,
    index,
    expr: [...expr, DROP],
    comment: nftComment(comment),
  }))

const solicits = equals(ICMPV6_TYPE, 'nd-neighbor-solicit')
const advertises = equals(ICMPV6_TYPE, 'nd-neighbor-advert')
/** A probe of duplicate address detection has no source yet; the address that it claims is its target (RFC 4862, 5.4.2). */
const unspecified = equals(field('ip6', 'saddr'), '::')

const ingress = (v6: readonly Silenced[], nftVersion: string): readonly Rule[] => [
  {
    expr: [equals(field('arp', 'operation'), 'request'), equals(field('arp', 'daddr ip'), `@${V4}`)],
    comment: 'shutdown guard: no ARP request for an egress IP reaches this node',
  },
  ...target(v6, nftVersion, [solicits], 'shutdown guard: no neighbor solicitation for an egress IP reaches this node'),
]

const egress = (v6: readonly Silenced[], nftVersion: string): readonly Rule[] => [
  { expr: [equals(field('arp', 'saddr ip'), `@${V4}`)], comment: 'shutdown guard: no ARP of this node names an egress IP as its sender' },
  {
    expr: [equals(ICMPV6_TYPE, anonymous(['nd-neighbor-advert', 'nd-neighbor-solicit'])), equals(field('ip6', 'saddr'), `@${V6}`)],
    comment: 'shutdown guard: no neighbor discovery of this node comes from an egress IP',
  },
  ...target(v6, nftVersion, [advertises], 'shutdown guard: no neighbor advertisement of this node announces an egress IP'),
  ...target(v6, nftVersion, [solicits, unspecified], 'shutdown guard: no duplicate address detection of this node claims an egress IP'),
]

/** The rule on the target of a neighbor message that matches so far; none where a raw rule would have nothing to compare with. */
function target(v6: readonly Silenced[], nftVersion: string, message: readonly Json[], comment: string): readonly Rule[] {
  if (hasTargetAddress(nftVersion)) return [{ expr: [...message, equals(field('icmpv6', 'taddr'), `@${V6}`)], comment }]
  if (v6.length === 0) return []
  const raw: Json = { payload: { base: 'th', offset: 64, len: 128 } }
  return [{ expr: [...message, equals(raw, anonymous(v6.map(({ address }) => hex128(address))))], comment }]
}

/**
 * The GARP guard of a bridge (seed 000): from start-up until the data path has synced, and while the node leaves, only announcements of the
 * node's own addresses pass from the patch ports of the networks. Priority 499 allows, 498 drops. IPv6 has the same for unsolicited neighbor
 * advertisements, which go to all nodes (33:33:00:00:00:01). No VLAN is matched: a patch port carries untagged frames.
 */
export function guardFlows(bridge: string, node: string, nodeAddresses: readonly Address[], networks: readonly string[]): readonly Flow[] {
  const flows = networks.flatMap((network) => {
    const from = `in_port=${patchOf(network)}`
    const guard = (priority: number, match: string, actions: string, why: string) =>
      flow({ bridge, priority, cookie: GUARD_COOKIE, match: `${from},${match}`, actions, comment: `Node/${node}: ${why}` })
    const arp = 'dl_dst=ff:ff:ff:ff:ff:ff,arp,arp_op=1'
    const advertisement = 'dl_dst=33:33:00:00:00:01,icmp6,icmpv6_type=136'
    return [
      ...nodeAddresses.map(({ family, text }) =>
        family === 4
          ? guard(499, `${arp},arp_spa=${text}`, 'NORMAL', 'an address of the node may be announced')
          : guard(499, `${advertisement},nd_target=${text}`, 'NORMAL', 'an address of the node may be announced'),
      ),
      guard(498, arp, 'drop', 'no other IPv4 address is announced'),
      guard(498, advertisement, 'drop', 'no other IPv6 address is announced'),
    ]
  })
  return flows.sort(compareFlows)
}
