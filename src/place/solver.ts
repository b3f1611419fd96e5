import { Board, type Network, NONE } from './board.js'
import { leastLoaded, newVisits } from './chains.js'
import { insertByMoves, rebalance } from './rebalance.js'

/**
 * Which node each slot of the network gets; null: none. Slots stand in order of precedence; those with a home stay there,
 * unless `budget` (a number of moves, Infinity for any) lets some of them go. In this order:
 *
 * 1. As many slots as possible, and of the sets of that size the lexicographically first: a slot is put in by moving others
 *    on, never by dropping one, so what comes first is never given up for what comes later (the sets that can be placed
 *    together are the independent sets of a matroid, where this greedy choice is exact).
 * 2. The least sum of squares of the loads: each new slot's chain ends on the least loaded node that it can reach. That is
 *    the shortest augmenting path of a flow with convex costs, so the flow stays a cheapest one after every slot.
 * 3. With a budget, the fewest moves for that balance.
 * 4. Of equally good placements the one in which the slots, taken in the order `ties`, stand on the first possible node each.
 *    (Slots with a home take no part in it.)
 *
 * Exact, but for two things. Where a node limits each family and one object has addresses of both, the answer is valid and
 * leaves no slot out that a free node could take. A finite budget is spent step by step, each step the best for its moves.
 * Time: a walk over all (slot, node) pairs per slot at worst, and some such walks per move of a rebalancing.
 */
export function solve(network: Network, ties: readonly number[], budget = 0): readonly (number | null)[] {
  const board = new Board(network)
  const settled = network.slots.flatMap(({ home }, slot) => (home === null ? [] : [slot]))
  if (budget === 0) for (const slot of settled) board.lock(slot)
  const left = fill(board, budget)
  if (left > 0) rebalance(board, left)
  for (const slot of settled) board.lock(slot)
  settle(board, ties)
  return [...board.at].map((node) => (node === NONE ? null : node))
}

/** Rules 1 and 2. Returns what is left of the budget. */
function fill(board: Board, budget: number): number {
  let left = budget
  let waiting = board.network.slots.flatMap(({ home }, slot) => (home === null ? [slot] : []))
  for (let before = Number.POSITIVE_INFINITY; waiting.length < before; ) {
    before = waiting.length
    waiting = waiting.filter((slot) => {
      if (budget === 0) return !insert(board, slot)
      const moves = insertByMoves(board, slot, left)
      left -= moves ?? 0
      return moves === null
    })
  }
  return left
}

/** Gets a slot onto a node, best where it can reach, else where there is room anyway. */
function insert(board: Board, slot: number): boolean {
  const { nodes } = board.slot(slot)
  const steps = leastLoaded(board, slot, nodes, newVisits(board), Number.POSITIVE_INFINITY, board.leastLoad())
  return steps !== null && (board.follow(steps) || nodes.some((node) => board.enter(slot, node)))
}

/** Rule 4: takes each slot off and puts it on the first node from which the balance can be kept, then leaves it there. */
function settle(board: Board, ties: readonly number[]): void {
  for (const slot of ties) {
    const now = board.at[slot] as number
    if (board.isLocked(slot) || now === NONE) continue
    board.leave(slot)
    const load = board.load(now)
    const visits = newVisits(board)
    for (const node of board.slot(slot).nodes) {
      if (node === now) {
        board.enter(slot, now)
        break
      }
      const steps = leastLoaded(board, slot, [node], visits, load, load)
      if (steps && board.follow(steps)) break
    }
    board.lock(slot)
  }
}
