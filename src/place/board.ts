import type { Family } from '../model/address.js'

/** One address that looks for a node. Nodes are indices in the order of their names. */
export interface Slot {
  /** Addresses of one group (one object) never share a node. */
  readonly group: number
  readonly family: Family
  /** The nodes that may host it, ascending. */
  readonly nodes: readonly number[]
}

/** What a node can hold, and what it holds that nothing here can move. A capacity that is null is no limit. */
export interface Seat {
  readonly capacity: { readonly ip: number | null; readonly ipv4: number | null; readonly ipv6: number | null }
  readonly held: { readonly ipv4: number; readonly ipv6: number }
}

/** Assignments that stay where they are: they keep their object's other addresses off the node. Their load is in `held`. */
export interface Pin {
  readonly group: number
  readonly node: number
}

export interface Network {
  readonly slots: readonly Slot[]
  readonly seats: readonly Seat[]
  readonly pins: readonly Pin[]
  readonly groups: number
}

/** A step of a chain: the slot enters the node, from which the next one steps out. */
interface Step {
  readonly slot: number
  readonly node: number
}

const NOBODY = -1
const PINNED = -2

/**
 * The working state of the solver: which slot stands on which node. `search` walks the residual network of the flow
 * address → (object, node), at most 1 → node, at most its capacity → sink.
 */
export class Board {
  /** Slot to node; -1: on none. */
  readonly at: Int32Array
  readonly #used4: Int32Array
  readonly #used6: Int32Array
  /** (group, node) to the slot that stands there. */
  readonly #occupant: Int32Array
  readonly #residents: readonly Set<number>[]
  /** Slots that no chain moves any more. */
  readonly #locked: Uint8Array
  readonly #network: Network

  constructor(network: Network) {
    const { slots, seats, pins, groups } = network
    this.#network = network
    this.at = new Int32Array(slots.length).fill(NOBODY)
    this.#used4 = Int32Array.from(seats, (seat) => seat.held.ipv4)
    this.#used6 = Int32Array.from(seats, (seat) => seat.held.ipv6)
    this.#occupant = new Int32Array(groups * seats.length).fill(NOBODY)
    this.#residents = seats.map(() => new Set<number>())
    this.#locked = new Uint8Array(slots.length)
    for (const pin of pins) this.#occupant[this.#pair(pin.group, pin.node)] = PINNED
  }

  /** Number of addresses on a node. */
  load(node: number): number {
    return (this.#used4[node] as number) + (this.#used6[node] as number)
  }

  /** The least load of the nodes that have room for anything; Infinity when none has. */
  leastLoad(): number {
    let least = Number.POSITIVE_INFINITY
    for (let node = 0; node < this.#network.seats.length; node++) {
      if (this.#room(node, 4) || this.#room(node, 6)) least = Math.min(least, this.load(node))
    }
    return least
  }

  lock(slot: number): void {
    this.#locked[slot] = 1
  }

  /** Takes a slot off its node. */
  leave(slot: number): void {
    const node = this.at[slot] as number
    const { group, family } = this.#slot(slot)
    this.at[slot] = NOBODY
    this.#occupant[this.#pair(group, node)] = NOBODY
    this.#residents[node]?.delete(slot)
    this.#count(family, node, -1)
  }

  /** Puts a slot on a node. False, and nothing happens, where the node has no room for it or holds its object already. */
  enter(slot: number, node: number): boolean {
    const { group, family } = this.#slot(slot)
    if (this.#occupant[this.#pair(group, node)] !== NOBODY || !this.#room(node, family)) return false
    this.#put(slot, node)
    return true
  }

  /** For a search that has seen nothing yet. */
  newVisits(): Visits {
    return { slots: new Map(), entered: new Uint8Array(this.#network.seats.length * 3) }
  }

  /**
   * The chain by which a slot that stands nowhere gets onto one of `nodes`, others making room by moving on, and which
   * ends on the node with the least load; null where none ends on a node of at most `limit`. Ends early at a load of `enough`.
   * What `visits` has seen is not seen again: searches for other nodes of the same slot may share it when the first ones failed.
   */
  search(slot: number, nodes: readonly number[], visits: Visits, limit: number, enough: number): readonly Step[] | null {
    let best: Step | null = null
    let bestLoad = limit + 1
    const queue = [slot]
    visits.slots.set(slot, null)
    for (let head = 0; head < queue.length; head++) {
      const mover = queue[head] as number
      const { group, family } = this.#slot(mover)
      for (const node of head === 0 ? nodes : this.#slot(mover).nodes) {
        if (node === this.at[mover]) continue
        const follow = (next: number) => {
          if (this.#locked[next] || visits.slots.has(next) || !this.#swappable(next, family, node)) return
          visits.slots.set(next, { slot: mover, node })
          queue.push(next)
        }
        const occupant = this.#occupant[this.#pair(group, node)] as number
        if (occupant !== NOBODY) {
          if (occupant !== PINNED) follow(occupant)
          continue
        }
        const gate = node * 3 + this.#lane(node, family)
        if (visits.entered[gate]) continue
        visits.entered[gate] = 1
        if (this.#room(node, family) && this.load(node) < bestLoad) {
          best = { slot: mover, node }
          bestLoad = this.load(node)
          if (bestLoad <= enough) return chain(best, visits)
        }
        for (const resident of this.#residents[node] as Set<number>) follow(resident)
      }
    }
    return best && chain(best, visits)
  }

  /**
   * Makes the moves of a chain, the last one first. False, and nothing has changed, where two steps take the same room: that
   * happens only where a node limits each family and one object has addresses of both.
   */
  follow(steps: readonly Step[]): boolean {
    const done: { slot: number; from: number }[] = []
    for (const { slot, node } of steps) {
      const from = this.at[slot] as number
      if (from !== NOBODY) this.leave(slot)
      if (this.enter(slot, node)) {
        done.push({ slot, from })
        continue
      }
      if (from !== NOBODY) this.#put(slot, from)
      for (const move of done.reverse()) {
        this.leave(move.slot)
        if (move.from !== NOBODY) this.#put(move.slot, move.from)
      }
      return false
    }
    return true
  }

  #put(slot: number, node: number): void {
    const { group, family } = this.#slot(slot)
    this.at[slot] = node
    this.#occupant[this.#pair(group, node)] = slot
    this.#residents[node]?.add(slot)
    this.#count(family, node, 1)
  }

  /** Whether `next` may make room on a node for an address of the family: of the same family, or where that family has room anyway. */
  #swappable(next: number, family: Family, node: number): boolean {
    return this.#slot(next).family === family || this.#roomOfFamily(node, family)
  }

  #room(node: number, family: Family): boolean {
    const { ip } = (this.#network.seats[node] as Seat).capacity
    return (ip === null || this.load(node) < ip) && this.#roomOfFamily(node, family)
  }

  #roomOfFamily(node: number, family: Family): boolean {
    const { ipv4, ipv6 } = (this.#network.seats[node] as Seat).capacity
    return family === 4 ? ipv4 === null || (this.#used4[node] as number) < ipv4 : ipv6 === null || (this.#used6[node] as number) < ipv6
  }

  /** A node that limits no family is entered by one lane, any other by one per family. */
  #lane(node: number, family: Family): number {
    const { ipv4, ipv6 } = (this.#network.seats[node] as Seat).capacity
    return ipv4 === null && ipv6 === null ? 0 : family === 4 ? 1 : 2
  }

  #count(family: Family, node: number, by: number): void {
    const used = family === 4 ? this.#used4 : this.#used6
    used[node] = (used[node] as number) + by
  }

  #slot(slot: number): Slot {
    return this.#network.slots[slot] as Slot
  }

  #pair(group: number, node: number): number {
    return group * this.#network.seats.length + node
  }
}

/** What a search has seen: each slot with the step that displaced it (null: the start), and the lanes entered. */
interface Visits {
  readonly slots: Map<number, Step | null>
  readonly entered: Uint8Array
}

function chain(end: Step, visits: Visits): readonly Step[] {
  const steps = [end]
  for (let step = visits.slots.get(end.slot); step; step = visits.slots.get(step.slot)) steps.push(step)
  return steps
}
