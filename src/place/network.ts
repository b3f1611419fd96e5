import type { Family } from '../model/address.js'

/** A set of nodes. Nodes are indices in the order of their names. */
export interface Pool {
  /** Ascending. */
  readonly nodes: Int32Array
  /** The same set, one bit per node. */
  readonly bits: Uint32Array
}

/** One address that looks for a node. */
export interface Slot {
  /** Addresses of one group (one object) never share a node. */
  readonly group: number
  readonly family: Family
  /** Index of the pool of nodes that may host it. */
  readonly pool: number
  /** The node of the pool where it stands at first and may stay, whatever that node's capacity; null for none. */
  readonly home: number | null
  /** Its move from home counts for nothing. */
  readonly isPaid?: boolean
}

/** What a node can take, and what it holds beside the slots. A capacity that is null is no limit. */
export interface Seat {
  readonly capacity: { readonly ip: number | null; readonly ipv4: number | null; readonly ipv6: number | null }
  readonly held: { readonly ipv4: number; readonly ipv6: number }
}

/**
 * The problem that the solver solves. Addresses that may stand on the same nodes share one pool, so that nothing here has the
 * size of addresses times nodes.
 */
export interface Network {
  /** In order of precedence. */
  readonly slots: readonly Slot[]
  readonly pools: readonly Pool[]
  readonly seats: readonly Seat[]
  readonly groups: number
}

/** No slot, or no node. */
export const NONE = -1

/** The pool of some of `size` nodes, given ascending. */
export function poolOf(nodes: ArrayLike<number>, size: number): Pool {
  const bits = new Uint32Array((size + 31) >>> 5)
  const list = Int32Array.from(nodes)
  for (const node of list) bits[node >>> 5] = (bits[node >>> 5] as number) | (1 << (node & 31))
  return { nodes: list, bits }
}

export const inPool = ({ bits }: Pool, node: number): boolean => (((bits[node >>> 5] as number) >>> (node & 31)) & 1) === 1

/** Whether a node holds more than it may, so that it takes nothing new of IPv4, and of IPv6. */
export function overfull({ ip, ipv4, ipv6 }: Seat['capacity'], held: Seat['held']): readonly [boolean, boolean] {
  const isOver = (most: number | null, count: number) => most !== null && count > most
  const all = isOver(ip, held.ipv4 + held.ipv6)
  return [all || isOver(ipv4, held.ipv4), all || isOver(ipv6, held.ipv6)]
}
