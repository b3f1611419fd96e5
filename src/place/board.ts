import type { Family } from '../model/address.js'

/** One address that looks for a node. Nodes are indices in the order of their names. */
export interface Slot {
  /** Addresses of one group (one object) never share a node. */
  readonly group: number
  readonly family: Family
  /** The nodes that may host it, ascending. */
  readonly nodes: readonly number[]
  /** The node where it stands at first and may stay, whatever that node's capacity; null for none. */
  readonly home: number | null
}

/** What a node can take, and what it holds beside the slots. A capacity that is null is no limit. */
export interface Seat {
  readonly capacity: { readonly ip: number | null; readonly ipv4: number | null; readonly ipv6: number | null }
  readonly held: { readonly ipv4: number; readonly ipv6: number }
}

export interface Network {
  readonly slots: readonly Slot[]
  readonly seats: readonly Seat[]
  readonly groups: number
}

/** A step of a chain: the slot enters the node. In a chain the last step comes first: each makes room for the one after it. */
export interface Step {
  readonly slot: number
  readonly node: number
}

/** No slot, or no node. */
export const NONE = -1

/**
 * The working state of the solver: which slot stands on which node, in the flow
 * address → (object, node), at most 1 → node, at most its capacity → sink.
 */
export class Board {
  readonly network: Network
  /** Slot to node; NONE: on none. */
  readonly at: Int32Array
  readonly #used4: Int32Array
  readonly #used6: Int32Array
  /** (group, node) to the slot that stands there. */
  readonly #occupant: Int32Array
  readonly #residents: readonly Set<number>[]
  /** Slots that no chain moves any more. */
  readonly #locked: Uint8Array

  constructor(network: Network) {
    const { slots, seats, groups } = network
    this.network = network
    this.at = new Int32Array(slots.length).fill(NONE)
    this.#used4 = Int32Array.from(seats, (seat) => seat.held.ipv4)
    this.#used6 = Int32Array.from(seats, (seat) => seat.held.ipv6)
    this.#occupant = new Int32Array(groups * seats.length).fill(NONE)
    this.#residents = seats.map(() => new Set<number>())
    this.#locked = new Uint8Array(slots.length)
    for (const [slot, { home }] of slots.entries()) if (home !== null) this.#put(slot, home)
  }

  /** Number of addresses on a node. */
  load(node: number): number {
    return (this.#used4[node] as number) + (this.#used6[node] as number)
  }

  /** The least load of the nodes that have room for anything; Infinity when none has. */
  leastLoad(): number {
    let least = Number.POSITIVE_INFINITY
    for (let node = 0; node < this.network.seats.length; node++) {
      if (this.hasRoom(node, 4) || this.hasRoom(node, 6)) least = Math.min(least, this.load(node))
    }
    return least
  }

  /** From now on no chain moves the slot. */
  lock(slot: number): void {
    this.#locked[slot] = 1
  }

  isLocked(slot: number): boolean {
    return this.#locked[slot] === 1
  }

  slot(slot: number): Slot {
    return this.network.slots[slot] as Slot
  }

  /** The slot of a group on a node; NONE where there is none. */
  occupant(group: number, node: number): number {
    return this.#occupant[this.#pair(group, node)] as number
  }

  /** The slots on a node. */
  residents(node: number): Iterable<number> {
    return this.#residents[node] as Set<number>
  }

  /** The lanes of all nodes: a node that limits no family is entered by one lane, any other by one per family. */
  lane(node: number, family: Family): number {
    const { ipv4, ipv6 } = this.#capacity(node)
    return node * 3 + (ipv4 === null && ipv6 === null ? 0 : family === 4 ? 1 : 2)
  }

  hasRoom(node: number, family: Family): boolean {
    const { ip } = this.#capacity(node)
    return (ip === null || this.load(node) < ip) && this.#count(family, node) < this.#limit(family, node)
  }

  /** Whether `next` makes room on its node for an address of the family by leaving: never where the node holds more than it may. */
  canSwap(next: number, family: Family): boolean {
    const node = this.at[next] as number
    const { ip } = this.#capacity(node)
    const spare = this.#limit(family, node) - this.#count(family, node)
    return (ip === null || this.load(node) <= ip) && (this.slot(next).family === family ? spare >= 0 : spare > 0)
  }

  /** Takes a slot off its node. */
  leave(slot: number): void {
    const node = this.at[slot] as number
    const { group, family } = this.slot(slot)
    this.at[slot] = NONE
    this.#occupant[this.#pair(group, node)] = NONE
    this.#residents[node]?.delete(slot)
    this.#add(family, node, -1)
  }

  /** Puts a slot on a node. False, and nothing happens, where the node has no room for it or holds its object already. */
  enter(slot: number, node: number): boolean {
    const { group, family } = this.slot(slot)
    if (this.#occupant[this.#pair(group, node)] !== NONE || !this.hasRoom(node, family)) return false
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
    this.#occupant[this.#pair(group, node)] = slot
    this.#residents[node]?.add(slot)
    this.#add(family, node, 1)
  }

  #capacity(node: number): Seat['capacity'] {
    return (this.network.seats[node] as Seat).capacity
  }

  #limit(family: Family, node: number): number {
    const { ipv4, ipv6 } = this.#capacity(node)
    return (family === 4 ? ipv4 : ipv6) ?? Number.POSITIVE_INFINITY
  }

  #count(family: Family, node: number): number {
    return (family === 4 ? this.#used4[node] : this.#used6[node]) as number
  }

  #add(family: Family, node: number, by: number): void {
    const used = family === 4 ? this.#used4 : this.#used6
    used[node] = (used[node] as number) + by
  }

  #pair(group: number, node: number): number {
    return group * this.network.seats.length + node
  }
}
