import { type Board, LANES } from './board.js'
import { NONE } from './network.js'
import { fits, Search } from './search.js'

/** The level of each node, of each lane into one and of each slot: no exchange without cost involves two levels. */
export interface Levels {
  readonly nodes: Int32Array
  readonly lanes: Int32Array
  readonly slots: Int32Array
}

/**
 * Moves slots from more to less loaded nodes until the sum of the squares of the loads is least: until no chain leads from a
 * node to one that holds at least two less, which in a flow with convex costs means that it is a cheapest one.
 *
 * Goes down level by level. What can be reached from the nodes of a level, when no chain from them ends two below any more, is a
 * closed region: nothing in it can be improved, and no chain that enters it leaves it. It is left out from then on, so that the
 * whole takes a few walks over the network and not one per slot. In every placement that is as good, each node of the region
 * holds the level or one less: what can be exchanged without cost stays within its level.
 */
export function balance(board: Board): Levels {
  const { seats, pools, slots: all } = board.network
  const nodes = new Int32Array(seats.length).fill(NONE)
  const lanes = new Int32Array(seats.length * LANES).fill(NONE)
  const slots = new Int32Array(all.length).fill(NONE)
  let level = 0
  const cursor = new Int32Array(pools.length * 2)
  const isEnd = (slot: number, node: number) => board.load(node) <= level - 2 && board.hasRoom(slot, node)
  /** Loads of ends only grow and the level only sinks: a node of a pool that is no end now will be none. */
  const hint = (slot: number): number => {
    const { pool, family } = board.slot(slot)
    const list = board.pool(slot).nodes
    const key = pool * 2 + (family === 4 ? 0 : 1)
    let i = cursor[key] as number
    while (i < list.length && !isEnd(slot, list[i] as number)) i++
    cursor[key] = i
    const node = list[i]
    return node !== undefined && fits(board, slot, node) ? node : NONE
  }
  const search = new Search(board, { isEnd, hint })

  const open = () => nodes.reduce((most, settled, node) => (settled === NONE ? Math.max(most, board.load(node)) : most), NONE)
  for (level = open(); level !== NONE; level = open()) {
    for (let found = true; found; ) {
      found = false
      search.begin()
      for (let node = 0; node < seats.length; node++) {
        if (nodes[node] !== NONE || board.load(node) !== level) continue
        const steps = search.fromNode(node)
        if (steps && board.follow(steps)) found = true
      }
    }
    for (const lane of search.lanes) {
      const node = Math.floor(lane / LANES)
      if (lanes[lane] === NONE) lanes[lane] = level
      if (nodes[node] === NONE && (board.load(node) === level || board.isOpen(lane))) nodes[node] = level
      if (nodes[node] === level) for (let i = node * LANES; i < (node + 1) * LANES; i++) if (lanes[i] === NONE) lanes[i] = level
    }
    for (const slot of search.slots) slots[slot] = level
    search.bury()
  }
  return { nodes, lanes, slots }
}
