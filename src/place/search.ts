import { type Board, LANES, type Step } from './board.js'
import { inPool, NONE } from './network.js'

/** What a search looks for. */
export interface Goal {
  /** Whether a chain may end with the slot entering the node. */
  isEnd(slot: number, node: number): boolean
  /** A node on which the slot can end the chain, where one is known without a search; else NONE. */
  hint(slot: number): number
  /** The nodes of a pool that chains may use. Default: all. */
  nodesOf?(pool: number): Int32Array
  /** Whether chains may use the lane at all. */
  admits?(lane: number): boolean
  /** Whether the node may take the slot if another one, of `givers`, holds one less. */
  isTaker?(slot: number, node: number): boolean
  isGiver?(node: number): boolean
  /** Lists with all givers, those first that are likely to lead to an end soon. */
  givers?(): readonly ArrayLike<number>[]
}

/** So many nodes of a pool are tried before the slots that stand on them are followed. */
const STRIDE = 32
/** Seen for good. */
const BURIED = 2 ** 31 - 1
/** Stands for the slot that goes where no slot of the chain has stood: the one that enters the taker. */
const VIA_TAKER = -2

/**
 * Breadth-first search for chains of moves. Each slot, lane and node of a pool is looked at once per round, however many slots
 * share a pool: what one slot of a pool could reach, the next need not try again, but for nodes where the first was barred
 * because they hold its own object. A round ends with `begin`; several searches may share one while they find nothing.
 */
export class Search {
  readonly #board: Board
  readonly #goal: Goal
  #round = 0
  readonly #slotSeen: Int32Array
  readonly #laneSeen: Int32Array
  /** For each displaced slot the one that takes its place. */
  readonly #by: Int32Array
  readonly #queue: Int32Array
  #head = 0
  #tail = 0
  /** Per pool and family: the round, how far its nodes have been tried, and those that are still to be tried by others. */
  readonly #poolSeen: Int32Array
  readonly #cursor: Int32Array
  /** Where a walk over the nodes begins: where the pool last had a node that led to an end. */
  readonly #start: Int32Array
  readonly #luck: Int32Array
  /** Slots whose pools have not been walked to the end. */
  #unfinished: number[] = []
  readonly #barred: number[][]
  /** The lanes and pools seen in this round. */
  readonly lanes: number[] = []
  readonly #pools: number[] = []
  #end: Step | null = null
  #taker: Step | null = null

  constructor(board: Board, goal: Goal) {
    const { slots, seats, pools } = board.network
    this.#board = board
    this.#goal = goal
    this.#slotSeen = new Int32Array(slots.length)
    this.#laneSeen = new Int32Array(seats.length * LANES)
    this.#by = new Int32Array(slots.length)
    this.#queue = new Int32Array(slots.length)
    this.#poolSeen = new Int32Array(pools.length * 2)
    this.#cursor = new Int32Array(pools.length * 2)
    this.#start = new Int32Array(pools.length * 2)
    this.#luck = new Int32Array(pools.length * 2)
    this.#barred = pools.flatMap(() => [[], []])
  }

  /** Starts a round: all that is not buried counts as unseen. */
  begin(): void {
    this.#round++
    this.#head = 0
    this.#tail = 0
    this.lanes.length = 0
    this.#pools.length = 0
    this.#end = null
    this.#taker = null
    this.#unfinished = []
  }

  /** Buries what the round has seen: no later round looks at it again. */
  bury(): void {
    for (let i = 0; i < this.#tail; i++) this.#slotSeen[this.#queue[i] as number] = BURIED
    for (const lane of this.lanes) this.#laneSeen[lane] = BURIED
    for (const pool of this.#pools) this.#poolSeen[pool] = BURIED
  }

  /** Searches on from a slot that may go anywhere in its pool. */
  from(slot: number): readonly Step[] | null {
    this.#displace(slot, NONE)
    return this.#run()
  }

  /** Searches on from the slots that stand on a node, as if each were displaced. */
  fromNode(node: number): readonly Step[] | null {
    for (let lane = node * LANES; lane < (node + 1) * LANES; lane++) this.#see(lane)
    for (let slot = this.#board.firstOn(node); slot !== NONE && this.#end === null; slot = this.#board.nextTo(slot))
      this.#displace(slot, NONE)
    return this.#run()
  }

  /** Searches on from a slot that stands nowhere and goes to this node of its pool. */
  to(slot: number, node: number): readonly Step[] | null {
    this.#by[slot] = NONE
    this.#slotSeen[slot] = this.#round
    const occupant = this.#board.occupant(this.#board.slot(slot).group, node)
    if (occupant === NONE) this.#visit(slot, node)
    else this.#displaceFor(occupant, slot)
    return this.#run()
  }

  /** The slots seen in this round, in the order in which they were. */
  get slots(): Int32Array {
    return this.#queue.subarray(0, this.#tail)
  }

  isSeen(lane: number): boolean {
    return this.#laneSeen[lane] === this.#round || this.#laneSeen[lane] === BURIED
  }

  #run(): readonly Step[] | null {
    while (this.#end === null) {
      if (this.#head === this.#tail && this.#unfinished.length === 0) return null
      this.#expand(this.#head < this.#tail ? (this.#queue[this.#head++] as number) : (this.#unfinished.pop() as number))
    }
    const steps = this.#chain(this.#end)
    this.#end = null
    this.#head = this.#tail
    this.#unfinished = []
    for (const { slot, node } of steps) {
      const { pool, family } = this.#board.slot(slot)
      const nodes = this.#goal.nodesOf?.(pool) ?? this.#board.pool(slot).nodes
      this.#luck[pool * 2 + (family === 4 ? 0 : 1)] = placeOf(nodes, node)
    }
    return steps
  }

  /** Tries the nodes of a slot's pool that no slot has tried, and those that its own object holds. */
  #expand(mover: number): void {
    const board = this.#board
    const { pool, family, group } = board.slot(mover)
    const nodes = this.#goal.nodesOf?.(pool) ?? board.pool(mover).nodes
    for (const sibling of board.membersOf(group)) {
      const node = board.at[sibling] as number
      if (sibling === mover || node === NONE || !inPool(board.pool(mover), node) || !board.admits(mover, node)) continue
      this.#displaceFor(sibling, mover)
      if (this.#end !== null) return
    }
    const key = pool * 2 + (family === 4 ? 0 : 1)
    const barred = this.#barred[key] as number[]
    const buried = this.#poolSeen[key] === BURIED
    if (!buried && this.#poolSeen[key] !== this.#round) {
      this.#poolSeen[key] = this.#round
      this.#pools.push(key)
      this.#cursor[key] = 0
      this.#start[key] = this.#luck[key] as number
      barred.length = 0
    }
    let kept = 0
    for (const node of barred) {
      const isDone = this.#end === null && this.#visit(mover, node)
      if (!isDone || (buried && this.#laneSeen[board.lane(node, family)] !== BURIED)) barred[kept++] = node
    }
    barred.length = kept
    const start = this.#start[key] as number
    const stop = Math.min(nodes.length, (this.#cursor[key] as number) + STRIDE)
    let cursor = this.#cursor[key] as number
    for (; cursor < stop && this.#end === null; cursor++) {
      const node = nodes[(start + cursor) % nodes.length] as number
      if (!this.#visit(mover, node)) barred.push(node)
    }
    this.#cursor[key] = cursor
    if (cursor < nodes.length) this.#unfinished.push(mover)
  }

  /** Lets a slot enter a node that its object does not hold. False where it does: others of the slot's pool may yet enter. */
  #visit(mover: number, node: number): boolean {
    const board = this.#board
    const { group, family } = board.slot(mover)
    const lane = board.lane(node, family)
    if (this.isSeen(lane) || this.#goal.admits?.(lane) === false) return true
    if (board.occupant(group, node) !== NONE || !board.admits(mover, node)) return false
    this.#see(lane)
    if (this.#goal.isEnd(mover, node)) {
      this.#end = { slot: mover, node }
      return true
    }
    if (this.#taker === null && this.#goal.isTaker?.(mover, node)) this.#give({ slot: mover, node })
    for (let slot = board.firstOn(node); slot !== NONE && this.#end === null; slot = board.nextTo(slot)) this.#displaceFor(slot, mover)
    return true
  }

  #displaceFor(slot: number, mover: number): void {
    const board = this.#board
    if (!board.isLocked(slot) && board.canSwap(slot, mover)) this.#displace(slot, mover)
  }

  /** Takes note that a slot must go elsewhere because `mover` takes its place. */
  #displace(slot: number, mover: number): void {
    if (this.#slotSeen[slot] === this.#round || this.#slotSeen[slot] === BURIED) return
    this.#slotSeen[slot] = this.#round
    this.#by[slot] = mover
    this.#queue[this.#tail++] = slot
    const end = this.#goal.hint(slot)
    if (end !== NONE) this.#end = { slot, node: end }
  }

  #give(taker: Step): void {
    this.#taker = taker
    for (const list of this.#goal.givers?.() ?? []) {
      for (let i = 0; i < list.length; i++) {
        const giver = list[i] as number
        if (this.#goal.isGiver?.(giver) === false) continue
        for (let slot = this.#board.firstOn(giver); slot !== NONE; slot = this.#board.nextTo(slot)) {
          this.#displace(slot, VIA_TAKER)
          if (this.#end !== null) return
        }
      }
    }
  }

  #see(lane: number): void {
    if (this.isSeen(lane)) return
    this.#laneSeen[lane] = this.#round
    this.lanes.push(lane)
  }

  /** The steps that lead to an end, last one first: each slot goes where the one before it stands. */
  #chain(end: Step): readonly Step[] {
    const steps = [end]
    for (let { slot } = end, mover = this.#by[slot] as number; mover !== NONE; mover = this.#by[slot] as number) {
      const step = mover === VIA_TAKER ? (this.#taker as Step) : { slot: mover, node: this.#board.at[slot] as number }
      steps.push(step)
      slot = step.slot
    }
    return steps
  }
}

/** Whether a slot could enter a node that has room, by its pool and its object alone. */
export const fits = (board: Board, slot: number, node: number): boolean =>
  inPool(board.pool(slot), node) && board.at[slot] !== node && board.occupant(board.slot(slot).group, node) === NONE

/** Where in an ascending list a number stands, or would. */
function placeOf(list: Int32Array, item: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((list[middle] as number) < item) low = middle + 1
    else high = middle
  }
  return low
}
