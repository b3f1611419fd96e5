import { type Board, LANES, type Step } from './board.js'
import { inPool, NONE, type Slot } from './network.js'

/** A chain that ends on a node, and how many more slots stand away from home after it. */
export interface Route {
  readonly steps: readonly Step[]
  /** The node that it leaves with one less; NONE where the first slot stands nowhere. */
  readonly from: number
  readonly to: number
  readonly moves: number
}

/** What a search looks for: see `Goal` of search.ts. */
export interface Destination {
  isEnd(slot: number, node: number): boolean
  isTaker?(slot: number, node: number): boolean
  givers?(): Iterable<number>
}

/** More moves than any chain has. */
const FAR = 2 ** 30
/** Stands for the slot that enters the taker. */
const VIA_TAKER = -2

/** 1 where a slot that has a home stands on another node, else 0. */
export const away = ({ home, isPaid }: Slot, node: number): number =>
  home === null || isPaid === true || node === NONE || node === home ? 0 : 1

/**
 * Search for the chains with the fewest moves away from home. Label correcting, since a slot that comes home counts -1. The nodes of
 * a pool are walked once per number of moves and not once per slot: what one slot could enter for so many moves, the next need
 * not try for as many or more, but for nodes that hold the first one's object.
 */
export class Cheapest {
  readonly #board: Board
  readonly #goal: Destination
  /** Moves of a chain when the slot has left its node, when the lane is entered, and when all nodes of a pool have been tried. */
  readonly #slots: Int32Array
  readonly #lanes: Int32Array
  readonly #pools: Int32Array
  readonly #barred: number[][]
  readonly #by: Int32Array
  readonly #waiting: Uint8Array
  #queue: number[] = []
  #limit = 0
  #taker: Step | null = null
  #takerMoves = FAR
  /** Per node the cheapest end. */
  readonly #ends = new Map<number, { readonly slot: number; readonly moves: number }>()
  /** A circle of moves that costs less than nothing: the slot that leaves first, and the steps. */
  circle: { readonly slot: number; readonly steps: readonly Step[] } | null = null

  constructor(board: Board, goal: Destination) {
    const { slots, seats, pools } = board.network
    this.#board = board
    this.#goal = goal
    this.#slots = new Int32Array(slots.length)
    this.#lanes = new Int32Array(seats.length * LANES)
    this.#pools = new Int32Array(pools.length * 2)
    this.#barred = pools.flatMap(() => [[], []])
    this.#by = new Int32Array(slots.length)
    this.#waiting = new Uint8Array(slots.length)
  }

  /** The cheapest chains from any of some nodes to each node on which one can end, by that node. None has more than `limit` moves on the way. */
  fromNodes(nodes: readonly number[], limit: number): readonly Route[] {
    this.#begin(limit)
    for (const node of nodes) {
      for (let slot = this.#board.firstOn(node); slot !== NONE; slot = this.#board.nextTo(slot)) this.#leave(slot, NONE, 0)
    }
    return this.#routes()
  }

  /** The same from a slot that stands nowhere. */
  from(slot: number, limit: number): readonly Route[] {
    this.#begin(limit)
    this.#leave(slot, NONE, 0)
    return this.#routes()
  }

  /** The same from a slot that has just left its node, by way of its home. */
  home(slot: number, limit: number): readonly Route[] {
    this.#begin(limit)
    this.#slots[slot] = -1
    this.#enter(slot, this.#board.slot(slot).home as number, -1)
    return this.#routes()
  }

  #begin(limit: number): void {
    this.#limit = limit
    for (const labels of [this.#slots, this.#lanes, this.#pools]) labels.fill(FAR)
    this.#by.fill(NONE)
    this.#waiting.fill(0)
    this.#queue = []
    this.#taker = null
    this.#takerMoves = FAR
    this.#ends.clear()
    this.circle = null
  }

  #routes(): readonly Route[] {
    for (let head = 0; head < this.#queue.length && this.circle === null; head++) this.#expand(this.#queue[head] as number)
    return [...this.#ends]
      .sort(([a], [b]) => a - b)
      .map(([to, { slot, moves }]) => {
        const steps = this.#stepsTo({ slot, node: to })
        return { steps, from: this.#board.at[(steps.at(-1) as Step).slot] as number, to, moves }
      })
  }

  #expand(mover: number): void {
    const board = this.#board
    this.#waiting[mover] = 0
    const slot = board.slot(mover)
    const { nodes } = board.pool(mover)
    const moves = this.#slots[mover] as number
    const standing = board.at[mover]
    for (const sibling of board.membersOf(slot.group)) {
      const node = board.at[sibling] as number
      if (sibling === mover || node === NONE || !inPool(board.pool(mover), node) || !board.admits(mover, node)) continue
      this.#displace(sibling, mover, moves + away(slot, node))
    }
    if (slot.home !== null && slot.home !== standing) this.#enter(mover, slot.home, moves)
    const abroad = moves + (slot.home === null || slot.isPaid === true ? 0 : 1)
    if (abroad > this.#limit) return
    const key = slot.pool * 2 + (slot.family === 4 ? 0 : 1)
    const barred = this.#barred[key] as number[]
    if (abroad >= (this.#pools[key] as number)) {
      for (const node of barred) if (node !== standing && node !== slot.home) this.#enter(mover, node, abroad)
      return
    }
    this.#pools[key] = abroad
    barred.length = 0
    for (const node of nodes) {
      if (node === standing || node === slot.home || board.occupant(slot.group, node) !== NONE) barred.push(node)
      else this.#enter(mover, node, abroad)
    }
  }

  /** Lets a slot enter a node that its object does not hold. */
  #enter(mover: number, node: number, moves: number): void {
    const board = this.#board
    const { group, family } = board.slot(mover)
    if (moves > this.#limit || !board.admits(mover, node)) return
    const occupant = board.occupant(group, node)
    if (occupant !== NONE) {
      this.#displace(occupant, mover, moves)
      return
    }
    const lane = board.lane(node, family)
    if (moves >= (this.#lanes[lane] as number)) return
    this.#lanes[lane] = moves
    if (this.#goal.isEnd(mover, node) && moves < (this.#ends.get(node)?.moves ?? FAR)) this.#ends.set(node, { slot: mover, moves })
    if (moves < this.#takerMoves && this.#goal.isTaker?.(mover, node)) this.#give({ slot: mover, node }, moves)
    for (let slot = board.firstOn(node); slot !== NONE; slot = board.nextTo(slot)) this.#displace(slot, mover, moves)
  }

  /** Lets the taker take one more, and every giver hold one less. */
  #give(taker: Step, moves: number): void {
    const board = this.#board
    const steps = this.#stepsTo(taker)
    const again = steps.findIndex(({ slot }) => this.#by[slot] === VIA_TAKER)
    if (again >= 0) {
      this.circle = { slot: (steps[again] as Step).slot, steps: steps.slice(0, again + 1) }
      return
    }
    this.#taker = taker
    this.#takerMoves = moves
    for (const giver of this.#goal.givers?.() ?? []) {
      for (let slot = board.firstOn(giver); slot !== NONE; slot = board.nextTo(slot)) this.#leave(slot, VIA_TAKER, moves)
    }
  }

  #displace(slot: number, mover: number, moves: number): void {
    const board = this.#board
    if (!board.isLocked(slot) && board.canSwap(slot, mover)) this.#leave(slot, mover, moves)
  }

  /** Takes note that a slot leaves its node because `mover` takes its place, for so many moves until then. */
  #leave(slot: number, mover: number, before: number): void {
    const standing = this.#board.at[slot] as number
    const { home, isPaid } = this.#board.slot(slot)
    const moves = before - away(this.#board.slot(slot), standing)
    const least = home === standing && isPaid !== true ? moves + 1 : moves
    if (moves >= (this.#slots[slot] as number) || least > this.#limit || this.circle !== null) return
    if (this.#slots[slot] !== FAR) {
      const steps = this.#stepsTo(mover === VIA_TAKER ? (this.#taker as Step) : { slot: mover, node: standing })
      const again = steps.findIndex((step) => step.slot === slot)
      if (again >= 0) {
        this.circle = { slot, steps: steps.slice(0, again + 1) }
        return
      }
    }
    this.#slots[slot] = moves
    this.#by[slot] = mover
    if (this.#waiting[slot] === 1) return
    this.#waiting[slot] = 1
    this.#queue.push(slot)
  }

  /** The steps that lead to one, the last one first. */
  #stepsTo(end: Step): readonly Step[] {
    const steps = [end]
    for (let { slot } = end, by = this.#by[slot] as number; by !== NONE; by = this.#by[slot] as number) {
      const step: Step = by === VIA_TAKER ? (this.#taker as Step) : { slot: by, node: this.#board.at[slot] as number }
      steps.push(step)
      slot = step.slot
    }
    return steps
  }
}
