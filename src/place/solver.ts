import { balance } from './balance.js'
import { Board } from './board.js'
import { fill } from './fill.js'
import { homing } from './homing.js'
import { type Network, NONE } from './network.js'
import { rebalance } from './rebalance.js'
import { settle } from './settle.js'

export interface Solution {
  /** Slot to node; null: on none. */
  readonly nodes: readonly (number | null)[]
  /** See `Placement.optimalityGap`. */
  readonly gap: number
}

/**
 * Which node each slot of the network gets. Slots with a home stay there, unless `budget` (a number of moves, Infinity for any)
 * lets some of them go. In this order:
 *
 * 1. As many slots as possible, and of the sets of that size the first by precedence (`fill`).
 * 2. The least sum of squares of the loads (`balance`).
 * 3. With a budget, the fewest moves for that balance (`homing`, `rebalance`).
 * 4. Of equally good placements the one in which the slots without a home, taken in the order `ties`, stand on the first
 *    possible node each (`settle`).
 */
export function solve(network: Network, ties: readonly number[], budget = 0): Solution {
  const { board, gap } = budget === 0 ? keeping(network) : moving(network, budget)
  board.lockHomes()
  settle(board, ties, balance(board))
  return { nodes: Array.from(board.at, (node) => (node === NONE ? null : node)), gap }
}

interface Found {
  readonly board: Board
  readonly gap: number
}

function keeping(network: Network): Found {
  const board = new Board(network)
  board.lockHomes()
  fill(board)
  return { board, gap: 0 }
}

/** As many moves as it takes, where the budget allows so many; else the best that the budget allows. */
function moving(network: Network, budget: number): Found {
  const free = new Board(network)
  fill(free)
  homing(free, balance(free))
  if (free.moves <= budget) return { board: free, gap: 0 }
  const kept = keeping(network).board
  balance(kept)
  const board = new Board(network, kept.at)
  const bound = Math.min(rebalance(board, budget), board.squares - free.squares)
  return { board, gap: bound / board.squares }
}
