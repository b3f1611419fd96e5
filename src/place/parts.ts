import type { Family } from '../model/address.js'
import type { Network, Pool, Seat } from './network.js'

export interface Part {
  /** In order. */
  readonly slots: readonly number[]
  /** Whether some node limits each family and some group has both: see families.ts. */
  readonly isCrossed: boolean
}

/** The connected parts of the network. Slots are connected that may stand on one node. */
export function partsOf({ slots, pools, seats }: Network): readonly Part[] {
  const parents = Int32Array.from(seats.keys())
  const root = (node: number): number => {
    let at = node
    while (parents[at] !== at) {
      parents[at] = parents[parents[at] as number] as number
      at = parents[at] as number
    }
    return at
  }
  for (const { nodes } of pools) for (const node of nodes) parents[root(node)] = root(nodes[0] as number)
  const limiting = new Set<number>()
  for (const [node, { capacity }] of seats.entries()) if (limitsFamilies(capacity)) limiting.add(root(node))
  const parts = new Map<number, { readonly slots: number[]; readonly families: Map<number, Family>; isCrossed: boolean }>()
  for (const [slot, { group, family, pool }] of slots.entries()) {
    const [first] = (pools[pool] as Pool).nodes
    const key = first === undefined ? -1 : root(first)
    const part = parts.get(key) ?? { slots: [], families: new Map<number, Family>(), isCrossed: false }
    parts.set(key, part)
    part.slots.push(slot)
    if (limiting.has(key) && (part.families.get(group) ?? family) !== family) part.isCrossed = true
    part.families.set(group, family)
  }
  return [...parts.values()]
}

const limitsFamilies = ({ ipv4, ipv6 }: Seat['capacity']): boolean => ipv4 !== null || ipv6 !== null

/** The network without the limits that its slots cannot reach: where no family is limited any more, families do not cross. */
export function loosened(network: Network): Network {
  const { slots, pools, seats } = network
  if (!seats.some(({ capacity }) => limitsFamilies(capacity))) return network
  const asking = pools.map(() => ({ ipv4: 0, ipv6: 0 }))
  for (const { family, pool } of slots) (asking[pool] as { ipv4: number; ipv6: number })[family === 4 ? 'ipv4' : 'ipv6']++
  const most = seats.map(({ held }) => ({ ...held }))
  for (const [pool, { nodes }] of pools.entries()) {
    const { ipv4, ipv6 } = asking[pool] as { ipv4: number; ipv6: number }
    for (const node of nodes) {
      const sum = most[node] as { ipv4: number; ipv6: number }
      sum.ipv4 += ipv4
      sum.ipv6 += ipv6
    }
  }
  const limit = (capacity: number | null, count: number) => (capacity !== null && capacity >= count ? null : capacity)
  return {
    ...network,
    seats: seats.map(({ capacity, held }, node) => {
      const { ipv4, ipv6 } = most[node] as { ipv4: number; ipv6: number }
      return { held, capacity: { ip: capacity.ip, ipv4: limit(capacity.ipv4, ipv4), ipv6: limit(capacity.ipv6, ipv6) } }
    }),
  }
}
