import type { Levels } from './balance.js'
import type { Board, Step } from './board.js'
import { NONE } from './network.js'
import { fits, Search } from './search.js'

/** A lane into a node whose slots are all locked, by which no more can enter. */
const SHUT = -2

/**
 * Decides between placements that are equally good: takes the slots in the order `ties`, moves each to the first node of its
 * pool on which it can stand in a placement as good as this one, and locks it there.
 *
 * A slot can go to another node exactly where that closes a circle: what stood there moves on, and so forth, until one takes the
 * place that the slot has left; or until a node of the same level takes one more and another of that level, with the slots
 * that move on from it, one less. Locking only ever breaks circles. So what a search for one has seen in vain is a part of
 * its own from then on: no circle leads through it and through anything else.
 */
export function settle(board: Board, ties: readonly number[], levels: Levels): void {
  const laneParts = Int32Array.from(levels.lanes)
  const slotParts = Int32Array.from(levels.slots)
  let lastPart = laneParts.reduce((most, part) => Math.max(most, part), 0)
  const isShut = (node: number) => laneParts[board.lane(node, 4)] === SHUT && laneParts[board.lane(node, 6)] === SHUT
  const lists = new Pools(board, isShut)
  const givers = new Givers(board, levels.nodes)

  /** The node that the slot in hand has left, and its load then; the part and the level of the slot. */
  let left = NONE
  let load = 0
  let part = 0
  let level = 0
  let near: Int32Array
  const search = new Search(board, {
    isEnd: (mover, node) => board.load(node) <= load && board.hasRoom(mover, node),
    hint: (mover) => (fits(board, mover, left) && board.hasRoom(mover, left) ? left : NONE),
    nodesOf: (pool) => lists.nodesOf(pool),
    admits: (lane) => laneParts[lane] === part,
    isTaker: (mover, node) => load + 1 < level && board.load(node) < level && board.hasRoom(mover, node),
    isGiver: (node) => givers.has(node, level),
    givers: () => givers.of(level, near),
  })
  const shutIfDone = (node: number) => {
    if (board.firstOn(node) !== NONE || isShut(node)) return
    for (const family of [4, 6] as const) {
      const lane = board.lane(node, family)
      if (board.load(node) >= (levels.lanes[lane] as number) || !board.takes(node, family)) laneParts[lane] = SHUT
    }
    if (isShut(node)) lists.drop()
  }
  for (const node of levels.nodes.keys()) shutIfDone(node)

  for (const slot of ties) {
    left = board.at[slot] as number
    if (board.isLocked(slot) || left === NONE) continue
    const { family, pool, group } = board.slot(slot)
    part = slotParts[slot] as number
    level = levels.slots[slot] as number
    board.leave(slot)
    load = board.load(left)
    near = lists.nodesOf(pool)
    search.begin()

    const siblings = board.membersOf(group).filter((one) => !board.isLocked(one) && slotParts[one] === part)
    const shared = siblings.map((one) => board.at[one] as number)
    let [lanes, slots] = [0, 0]
    let failed = false
    for (const node of near) {
      if (node === left) break
      if (laneParts[board.lane(node, family)] !== part && !shared.includes(node)) continue
      const steps = search.to(slot, node)
      if (steps && board.follow(steps)) {
        givers.note(steps)
        break
      }
      if (steps) failed = true
      if (!failed) [lanes, slots] = [search.lanes.length, search.slots.length]
    }
    if (board.at[slot] === NONE) board.enter(slot, left)
    lastPart++
    for (let seen = 0; seen < lanes; seen++) laneParts[search.lanes[seen] as number] = lastPart
    for (let seen = 0; seen < slots; seen++) {
      const displaced = search.slots[seen] as number
      if (slotParts[displaced] === part) slotParts[displaced] = lastPart
    }
    board.lock(slot)
    shutIfDone(board.at[slot] as number)
    shutIfDone(left)
  }
}

/** The pools without nodes that are shut: whenever a quarter of the nodes is, they are left out for good. */
class Pools {
  readonly #isShut: (node: number) => boolean
  readonly #lists: Int32Array[]
  #nodes: number
  #shut = 0

  constructor({ network: { pools, seats } }: Board, isShut: (node: number) => boolean) {
    this.#isShut = isShut
    this.#lists = pools.map(({ nodes }) => nodes)
    this.#nodes = seats.length
  }

  nodesOf(pool: number): Int32Array {
    return this.#lists[pool] as Int32Array
  }

  /** Takes note that a node has been shut. */
  drop(): void {
    if (++this.#shut * 4 < this.#nodes) return
    this.#nodes -= this.#shut
    this.#shut = 0
    for (const [pool, nodes] of this.#lists.entries()) this.#lists[pool] = nodes.filter((one) => !this.#isShut(one))
  }
}

/** The nodes that are as full as their level allows, so that they can hold one less: those that cannot are dropped when they are met. */
class Givers {
  readonly #board: Board
  readonly #levels: Int32Array
  readonly #lists = new Map<number, number[]>()
  readonly #listed: Uint8Array

  constructor(board: Board, levels: Int32Array) {
    this.#board = board
    this.#levels = levels
    this.#listed = new Uint8Array(levels.length)
    for (const node of levels.keys()) this.#add(node)
  }

  has(node: number, level: number): boolean {
    return this.#levels[node] === level && this.#board.load(node) === level && this.#board.firstOn(node) !== NONE
  }

  /** All of a level; before them, where they are many, the nodes of a list that are likely to be better. */
  of(level: number, near: Int32Array): readonly ArrayLike<number>[] {
    const list = this.#lists.get(level) ?? []
    let kept = 0
    for (const node of list) {
      if (this.has(node, level)) list[kept++] = node
      else this.#listed[node] = 0
    }
    list.length = kept
    return kept > near.length ? [near, list] : [list]
  }

  /** Takes note of the moves of a chain. */
  note(steps: readonly Step[]): void {
    for (const { node } of steps) this.#add(node)
  }

  #add(node: number): void {
    const level = this.#levels[node] as number
    if (this.#listed[node] === 1 || !this.has(node, level)) return
    this.#listed[node] = 1
    const list = this.#lists.get(level)
    if (list) list.push(node)
    else this.#lists.set(level, [node])
  }
}
