import type { Family } from '../model/address.js'
import { keeping } from './flow.js'
import { inPool, type Network, NONE, overfull, type Pool, poolOf, type Seat, type Slot } from './network.js'
import { type Answer, compareAnswers, compareBalance, gapTo } from './rank.js'

/** Up to so many slots in one connected part the answer is exact. */
const EXACT_SLOTS = 200
/** How often one family is placed with the other where it stands, at most. */
const MOST_TURNS = 10
/** How many flows are solved for that at most; what is not proven by then has a gap. */
const MOST_FLOWS = 2000

/**
 * Where nodes limit each family and objects have addresses of both, two commodities cross in a node: an object may not have its
 * IPv4 and its IPv6 address there, and each counts against another capacity. That is no flow. Without the rule that keeps the
 * two apart it is one, and its answer, ties included, is at least as good as any (a bound). With all addresses of one family fixed it
 * is one, too: placing the families by turns gives a good answer. The best is found by branch and bound: where the bound has
 * both families of an object on one node, either all of its one family or all of its other keep off that node; solve
 * both, and give up what is not better than the best answer known.
 */
export function crossing(network: Network, ties: readonly number[]): { readonly nodes: Answer; readonly gap: number } {
  const held = heldApart(network)
  const bound = keeping(apart(network, held), ties)
  const better = (a: Answer, b: Answer) => (compareAnswers(network, ties, a, b) < 0 ? a : b)
  let best = [keeping(network, ties), byTurns(network, ties, bound, 4), byTurns(network, ties, bound, 6)].reduce(better)
  const open: (readonly Ban[])[] = network.slots.length <= EXACT_SLOTS ? [[]] : []
  let isProven = open.length > 0
  let flows = 0
  for (let bans = open.pop(); bans && isProven; bans = open.pop()) {
    isProven = flows++ < MOST_FLOWS
    const answer = flows === 1 ? bound : keeping(apart(network, [...held, ...bans]), ties)
    if (compareAnswers(network, ties, answer, best) >= 0) continue
    const clash = clashOf(network, ties, answer)
    if (clash === null) best = answer
    else open.push([...bans, clash.first], [...bans, clash.second])
  }
  return { nodes: best, gap: isProven ? 0 : gapTo(network, bound, best) }
}

/** The best answer that placing one family after the other finds, each with the other where it stands, beginning with where `start` has the first. */
function byTurns(network: Network, ties: readonly number[], start: Answer, first: Family): Answer {
  let best: Answer | null = null
  let now = start
  let fixed = first
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const nowhere = network.pools.length
    const slots = network.slots.map((slot, i) => {
      const isFixed = slot.family === fixed && slot.home === null
      const home = isFixed ? (now[i] ?? null) : slot.home
      return { ...slot, home, pool: isFixed && home === null ? nowhere : slot.pool }
    })
    const found = keeping({ ...network, slots, pools: [...network.pools, poolOf([], network.seats.length)] }, ties)
    const isBetter = best === null || compareBalance(network, found, best) < 0
    if (!isBetter && turn > 1) break
    if (isBetter) best = found
    now = found
    fixed = fixed === 4 ? 6 : 4
  }
  return best ?? start
}

/** The slots of a group and family keep off a node. */
export interface Ban {
  readonly group: number
  readonly family: Family
  readonly node: number
}

/** The first slot, in the order of ties, that shares a node with another one of its group. `second` bans the one that comes later. */
export function clashOf({ slots }: Network, ties: readonly number[], answer: Answer): { readonly first: Ban; readonly second: Ban } | null {
  const places = new Map<string, number>()
  const order = [...ties.keys()].filter((slot) => slots[slot]?.home !== null)
  for (const slot of [...order, ...ties]) {
    const node = answer[slot] ?? null
    if (node === null) continue
    const { group, family } = slots[slot] as Slot
    const place = `${group} ${node}`
    const other = places.get(place)
    if (other !== undefined && other !== slot) {
      return { first: { group, family: (slots[other] as Slot).family, node }, second: { group, family, node } }
    }
    places.set(place, slot)
  }
  return null
}

/** Those with a home stay: their siblings of the other family keep off it. */
const heldApart = ({ slots }: Network): readonly Ban[] =>
  slots.flatMap(({ group, family, home }) => (home === null ? [] : [{ group, family: family === 4 ? 6 : 4, node: home } as const]))

/** The network in which those who are not at home on an overfull node cannot go there, whoever else is held to have left it. */
export function closed(network: Network): Network {
  const { slots, seats } = network
  const held = seats.map((seat) => ({ ...seat.held }))
  for (const { family, home } of slots) {
    const seat = home === null ? undefined : held[home]
    if (seat) seat[family === 4 ? 'ipv4' : 'ipv6']++
  }
  const full = seats.map(({ capacity }, node) => overfull(capacity, held[node] as Seat['held']))
  if (!full.some(([over4, over6]) => over4 || over6)) return network
  const pools = [...network.pools]
  const known = new Map<string, number>()
  const poolFor = ({ pool, family, home }: Slot): number => {
    const key = `${pool} ${family} ${home !== null && full[home]?.[family === 4 ? 0 : 1] ? home : NONE}`
    const nodes = (network.pools[pool] as Pool).nodes.filter((node) => node === home || !full[node]?.[family === 4 ? 0 : 1])
    const index = known.get(key) ?? pools.push(poolOf(nodes, seats.length)) - 1
    known.set(key, index)
    return index
  }
  return { ...network, slots: slots.map((slot) => ({ ...slot, pool: poolFor(slot) })), pools }
}

/** The network in which the families of an object are two objects, and the bans hold. With `isFree` they drive slots from home, too. */
export function apart(network: Network, bans: readonly Ban[], isFree = false): Network {
  const key = (group: number, family: Family) => group * 2 + (family === 4 ? 0 : 1)
  const banned = new Map<number, Set<number>>()
  for (const { group, family, node } of bans) {
    const nodes = banned.get(key(group, family)) ?? new Set<number>()
    banned.set(key(group, family), nodes.add(node))
  }
  const pools = [...network.pools]
  const slots = network.slots.map((slot) => {
    const group = key(slot.group, slot.family)
    const off = banned.get(group)
    const pool = network.pools[slot.pool] as Pool
    if (!off || (slot.home !== null && !isFree) || ![...off].some((node) => inPool(pool, node))) return { ...slot, group }
    const home = slot.home !== null && off.has(slot.home) ? null : slot.home
    pools.push(
      poolOf(
        pool.nodes.filter((node) => !off.has(node)),
        network.seats.length,
      ),
    )
    return { ...slot, home, group, pool: pools.length - 1 }
  })
  return { ...network, slots, pools, groups: network.groups * 2 }
}
