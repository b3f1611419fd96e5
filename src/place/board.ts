import type { Family } from '../model/address.js'
import { type Network, NONE, overfull, type Pool, type Slot } from './network.js'

/** A step of a chain: the slot enters the node. In a chain the last step comes first: each makes room for the one after it. */
export interface Step {
  readonly slot: number
  readonly node: number
}

/** How many lanes lead into a node: see `Board.lane`. */
export const LANES = 3

/**
 * The working state of the solver: which slot stands on which node, in the flow
 * address → (object, node), at most 1 → node, at most its capacity → sink.
 *
 * A node that holds more than its capacity at first, of a family or of both, takes nothing more of it, even when slots leave it;
 * those that are at home there may come back.
 */
export class Board {
  readonly network: Network
  /** Slot to node; NONE: on none. */
  readonly at: Int32Array
  readonly #used4: Int32Array
  readonly #used6: Int32Array
  /** Capacities; Infinity is no limit. */
  readonly #most: Float64Array
  readonly #most4: Float64Array
  readonly #most6: Float64Array
  /** Per node and family: 1 where only slots that are at home may enter. */
  readonly #barred: Uint8Array
  /** 1 for nodes that limit a family. */
  readonly #limits: Uint8Array
  readonly #members: readonly number[][]
  /** Per group: node to the slot that stands there. */
  readonly #places: readonly Map<number, number>[]
  /** The slots on each node that chains may move, as doubly linked lists. */
  readonly #first: Int32Array
  readonly #next: Int32Array
  readonly #previous: Int32Array
  /** Slots that no chain moves any more. */
  readonly #locked: Uint8Array

  /** `at`: where the slots stand at first, by default at home. */
  constructor(network: Network, at: ArrayLike<number> = Int32Array.from(network.slots, ({ home }) => home ?? NONE)) {
    const { slots, seats, groups } = network
    this.network = network
    this.at = new Int32Array(slots.length).fill(NONE)
    this.#used4 = Int32Array.from(seats, (seat) => seat.held.ipv4)
    this.#used6 = Int32Array.from(seats, (seat) => seat.held.ipv6)
    this.#most = new Float64Array(seats.length)
    this.#most4 = new Float64Array(seats.length)
    this.#most6 = new Float64Array(seats.length)
    this.#barred = new Uint8Array(seats.length * 2)
    this.#limits = Uint8Array.from(seats, ({ capacity }) => (capacity.ipv4 === null && capacity.ipv6 === null ? 0 : 1))
    this.#members = Array.from({ length: groups }, () => [])
    this.#places = Array.from({ length: groups }, () => new Map<number, number>())
    this.#first = new Int32Array(seats.length).fill(NONE)
    this.#next = new Int32Array(slots.length).fill(NONE)
    this.#previous = new Int32Array(slots.length).fill(NONE)
    this.#locked = new Uint8Array(slots.length)
    this.#limitAtFirst()
    for (const [slot, { group }] of slots.entries()) {
      this.#members[group]?.push(slot)
      if (at[slot] !== NONE) this.#put(slot, at[slot] as number)
    }
  }

  #limitAtFirst(): void {
    const { slots, seats } = this.network
    const [held4, held6] = [Int32Array.from(this.#used4), Int32Array.from(this.#used6)]
    for (const { family, home } of slots) {
      const held = family === 4 ? held4 : held6
      if (home !== null) held[home] = (held[home] as number) + 1
    }
    for (const [node, { capacity }] of seats.entries()) {
      const [ipv4, ipv6] = [held4[node] as number, held6[node] as number]
      const limit = (most: number | null, held: number) => (most === null || held > most ? Number.POSITIVE_INFINITY : most)
      this.#most[node] = limit(capacity.ip, ipv4 + ipv6)
      this.#most4[node] = limit(capacity.ipv4, ipv4)
      this.#most6[node] = limit(capacity.ipv6, ipv6)
      const [over4, over6] = overfull(capacity, { ipv4, ipv6 })
      this.#barred[node * 2] = over4 ? 1 : 0
      this.#barred[node * 2 + 1] = over6 ? 1 : 0
    }
  }

  /** Number of addresses on a node. */
  load(node: number): number {
    return (this.#used4[node] as number) + (this.#used6[node] as number)
  }

  /** The sum of the squares of what the nodes hold. */
  get squares(): number {
    return this.network.seats.reduce((sum, _, node) => sum + this.load(node) ** 2, 0)
  }

  /** How many slots stand away from home. */
  get moves(): number {
    return this.network.slots.filter(({ home }, slot) => home !== null && this.at[slot] !== home).length
  }

  /** From now on no chain moves the slot. */
  lock(slot: number): void {
    if (this.at[slot] !== NONE && this.#locked[slot] === 0) this.#unlink(slot)
    this.#locked[slot] = 1
  }

  /** No chain moves a slot that has a home any more. */
  lockHomes(): void {
    for (const [slot, { home }] of this.network.slots.entries()) if (home !== null) this.lock(slot)
  }

  isLocked(slot: number): boolean {
    return this.#locked[slot] === 1
  }

  slot(slot: number): Slot {
    return this.network.slots[slot] as Slot
  }

  pool(slot: number): Pool {
    return this.network.pools[this.slot(slot).pool] as Pool
  }

  /** The slots of a group. */
  membersOf(group: number): readonly number[] {
    return this.#members[group] as number[]
  }

  /** The slot of a group on a node; NONE where there is none. */
  occupant(group: number, node: number): number {
    return this.#places[group]?.get(node) ?? NONE
  }

  /** The first slot on a node that chains may move; NONE where there is none. */
  firstOn(node: number): number {
    return this.#first[node] as number
  }

  /** The one after it. */
  nextTo(slot: number): number {
    return this.#next[slot] as number
  }

  /** By which lane a family enters a node: one that limits no family is entered by one lane, any other by one per family. */
  lane(node: number, family: Family): number {
    return node * LANES + (this.#limits[node] === 0 ? 0 : family === 4 ? 1 : 2)
  }

  /** Whether who enters a node by this lane may stand there in the place of an address of either family. */
  isOpen(lane: number): boolean {
    const way = lane % LANES
    return way === 0 || this.#spare(Math.floor(lane / LANES), way === 1 ? 4 : 6) > 0
  }

  /** Whether a node lets a slot in at all, with or without room. */
  admits(slot: number, node: number): boolean {
    const { family, home } = this.slot(slot)
    return this.#barred[node * 2 + (family === 4 ? 0 : 1)] === 0 || home === node
  }

  /** Whether a node takes a slot without another one leaving it, if it does not hold its object. */
  hasRoom(slot: number, node: number): boolean {
    return this.#fits(node, this.slot(slot).family) && this.admits(slot, node)
  }

  /** The same for any slot of the family that is not at home there. */
  takes(node: number, family: Family): boolean {
    return this.#fits(node, family) && this.#barred[node * 2 + (family === 4 ? 0 : 1)] === 0
  }

  /** Whether `next` makes room on its node for `mover`, which the node admits, by leaving. */
  canSwap(next: number, mover: number): boolean {
    const { family } = this.slot(mover)
    return this.slot(next).family === family || this.#spare(this.at[next] as number, family) > 0
  }

  /** Takes a slot off its node. */
  leave(slot: number): void {
    const node = this.at[slot] as number
    const { group, family } = this.slot(slot)
    if (this.#locked[slot] === 0) this.#unlink(slot)
    this.at[slot] = NONE
    this.#places[group]?.delete(node)
    this.#add(family, node, -1)
  }

  /** Puts a slot on a node. False, and nothing happens, where the node has no room for it or holds its object already. */
  enter(slot: number, node: number): boolean {
    if (this.occupant(this.slot(slot).group, node) !== NONE || !this.hasRoom(slot, node)) return false
    this.#put(slot, node)
    return true
  }

  /**
   * Makes the moves of a chain, the last one first. False, and nothing has changed, where two steps take the same room: that
   * happens only where a node limits each family and one object has addresses of both.
   */
  follow(steps: readonly Step[]): boolean {
    const done: { slot: number; from: number }[] = []
    for (const { slot, node } of steps) {
      const from = this.at[slot] as number
      if (from !== NONE) this.leave(slot)
      if (this.enter(slot, node)) {
        done.push({ slot, from })
        continue
      }
      if (from !== NONE) this.#put(slot, from)
      for (const move of done.reverse()) {
        this.leave(move.slot)
        if (move.from !== NONE) this.#put(move.slot, move.from)
      }
      return false
    }
    return true
  }

  #put(slot: number, node: number): void {
    const { group, family } = this.slot(slot)
    this.at[slot] = node
    this.#places[group]?.set(node, slot)
    this.#add(family, node, 1)
    if (this.#locked[slot] === 1) return
    const first = this.#first[node] as number
    this.#next[slot] = first
    this.#previous[slot] = NONE
    if (first !== NONE) this.#previous[first] = slot
    this.#first[node] = slot
  }

  #unlink(slot: number): void {
    const [next, previous] = [this.#next[slot] as number, this.#previous[slot] as number]
    if (next !== NONE) this.#previous[next] = previous
    if (previous !== NONE) this.#next[previous] = next
    else this.#first[this.at[slot] as number] = next
  }

  #fits(node: number, family: Family): boolean {
    return this.load(node) < (this.#most[node] as number) && this.#spare(node, family) > 0
  }

  /** How many addresses of the family more a node may hold, whatever it holds of the other. */
  #spare(node: number, family: Family): number {
    return family === 4
      ? (this.#most4[node] as number) - (this.#used4[node] as number)
      : (this.#most6[node] as number) - (this.#used6[node] as number)
  }

  #add(family: Family, node: number, by: number): void {
    const used = family === 4 ? this.#used4 : this.#used6
    used[node] = (used[node] as number) + by
  }
}
