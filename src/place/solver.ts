import { Board, type Network } from './board.js'

/**
 * Which node each slot of the network gets; null: none. Slots stand in order of precedence. In this order:
 *
 * 1. As many slots as possible, and of the sets of that size the lexicographically first: a slot is put in by moving others
 *    on, never by dropping one, so what comes first is never given up for what comes later (the sets that can be placed
 *    together are the independent sets of a matroid, where this greedy choice is exact).
 * 2. The least sum of squares of the loads: each new slot's chain ends on the least loaded node that it can reach. That is
 *    the shortest augmenting path of a flow with convex costs, so the flow stays a cheapest one after every slot.
 * 3. Of equally good placements the one in which the slots, taken in the order `ties`, stand on the first possible node each.
 *
 * Exact, except where a node limits each family and one object has addresses of both: then still valid, and no slot is left
 * out that a free node could take. Time: a walk over all (slot, node) pairs per slot at worst.
 */
export function solve(network: Network, ties: readonly number[]): readonly (number | null)[] {
  const board = new Board(network)
  fill(board, network)
  settle(board, network, ties)
  return [...board.at].map((node) => (node < 0 ? null : node))
}

function fill(board: Board, { slots }: Network): void {
  let waiting = slots.map((_, slot) => slot)
  for (let before = Number.POSITIVE_INFINITY; waiting.length < before; ) {
    before = waiting.length
    waiting = waiting.filter((slot) => !insert(board, slot, slots[slot]?.nodes ?? []))
  }
}

/** Gets a slot onto a node, best where it can reach, else where there is room anyway. */
function insert(board: Board, slot: number, nodes: readonly number[]): boolean {
  const steps = board.search(slot, nodes, board.newVisits(), Number.POSITIVE_INFINITY, board.leastLoad())
  if (!steps) return false
  return board.follow(steps) || nodes.some((node) => board.enter(slot, node))
}

/** Rule 3: takes each slot off and puts it on the first node from which the balance can be kept, then leaves it there. */
function settle(board: Board, { slots }: Network, ties: readonly number[]): void {
  for (const slot of ties) {
    const now = board.at[slot] as number
    if (now >= 0) {
      board.leave(slot)
      const load = board.load(now)
      const visits = board.newVisits()
      for (const node of slots[slot]?.nodes ?? []) {
        if (node === now) {
          board.enter(slot, now)
          break
        }
        const steps = board.search(slot, [node], visits, load, load)
        if (steps && board.follow(steps)) break
      }
    }
    board.lock(slot)
  }
}
