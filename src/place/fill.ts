import type { Board } from './board.js'
import { type Network, NONE } from './network.js'
import { Search } from './search.js'

/**
 * Puts in as many slots as possible, and of the sets of that size the first by precedence: in order of precedence, each straight
 * onto the least loaded node that has room, else by a chain in which others make room by moving on. What is in is never dropped,
 * and the sets that can be placed together are the independent sets of a matroid, where that greedy choice is exact. What a
 * search without success has seen is closed: no later chain can leave it, so none looks at it again.
 * Returns the slots that find no node.
 */
export function fill(board: Board): readonly number[] {
  const least = leastLoaded(board)
  const search = new Search(board, {
    isEnd: (slot, node) => board.hasRoom(slot, node),
    hint: (slot) => least(slot),
  })
  return board.network.slots.flatMap((_, slot) => {
    if (board.at[slot] !== NONE) return []
    const node = least(slot)
    if (node !== NONE && board.enter(slot, node)) return []
    search.begin()
    const steps = search.from(slot)
    if (steps === null) search.bury()
    return steps !== null && board.follow(steps) ? [] : [slot]
  })
}

/**
 * Finds for a slot the node with the least load among those of its pool that have room and do not hold its object. As loads only
 * grow while slots are put in, the nodes of a pool are passed through level by level, each level once.
 */
function leastLoaded(board: Board): (slot: number) => number {
  const { pools } = board.network
  const orders = byDemand(board.network)
  const level = new Float64Array(pools.length * 2).fill(-1)
  const cursor = new Int32Array(pools.length * 2)
  const lowest = (slot: number, nodes: Int32Array, above: number): number => {
    let least = Number.POSITIVE_INFINITY
    for (const node of nodes) {
      const load = board.load(node)
      if (load > above && load < least && board.hasRoom(slot, node)) least = load
    }
    return least
  }
  return (slot) => {
    const { pool, family, group } = board.slot(slot)
    const nodes = orders[pool] as Int32Array
    const key = pool * 2 + (family === 4 ? 0 : 1)
    let at = level[key] as number
    let barred = false
    for (let i = cursor[key] as number; at < Number.POSITIVE_INFINITY; ) {
      for (; i < nodes.length; i++) {
        const node = nodes[i] as number
        if (board.load(node) > at || !board.hasRoom(slot, node)) continue
        if (board.occupant(group, node) === NONE) {
          if (!barred) cursor[key] = i
          return node
        }
        if (!barred) cursor[key] = i
        barred = true
      }
      at = lowest(slot, nodes, at)
      i = 0
      if (barred) continue
      level[key] = at
      cursor[key] = 0
    }
    return NONE
  }
}

/** The nodes of each pool, those first that other pools want least: whoever has the choice leaves them what they need. */
function byDemand({ slots, pools, seats }: Network): readonly Int32Array[] {
  const demand = new Float64Array(seats.length)
  const asking = new Int32Array(pools.length)
  for (const { pool } of slots) asking[pool] = (asking[pool] as number) + 1
  for (const [pool, { nodes }] of pools.entries()) {
    const share = (asking[pool] as number) / nodes.length
    for (const node of nodes) demand[node] = (demand[node] as number) + share
  }
  return pools.map(({ nodes }) => nodes.slice().sort((a, b) => (demand[a] as number) - (demand[b] as number) || a - b))
}
