import type { Board } from './board.js'
import { fewestMoves } from './chains.js'

/** Gets a slot onto a node with the fewest moves of slots that have a home. Returns their number; null where it takes more than `budget`. */
export function insertByMoves(board: Board, slot: number, budget: number): number | null {
  const routes = fewestMoves(board, [slot]).filter(({ moves }) => moves <= budget)
  routes.sort((a, b) => a.moves - b.moves || board.load(a.node) - board.load(b.node) || a.node - b.node)
  return routes.find(({ steps }) => board.follow(steps))?.moves ?? null
}

/**
 * Moves slots from more to less loaded nodes while that lowers the sum of squares of the loads, or keeps it with fewer slots
 * away from home, and at most `budget` more slots end up away from home. From the most loaded node that has such a chain, the
 * one that gains most per move. Without a limit this ends only when no cycle of the flow costs less than nothing: at the
 * best balance with the fewest moves.
 */
export function rebalance(board: Board, budget: number): void {
  let left = budget
  for (let moves: number | null = 0; moves !== null; left -= moves ?? 0) moves = improve(board, left)
}

/** Makes one improvement and returns the moves that it took; null where there is none. */
function improve(board: Board, budget: number): number | null {
  const byLoad = board.network.seats.map((_, node) => node).sort((a, b) => board.load(b) - board.load(a) || a - b)
  for (const from of byLoad) {
    const starts = [...board.residents(from)].filter((slot) => !board.isLocked(slot)).sort((a, b) => a - b)
    if (starts.length === 0) continue
    const routes = fewestMoves(board, starts)
      .map((route) => ({ ...route, gain: board.load(from) - board.load(route.node) - 1 }))
      .filter(({ gain, moves, node }) => node !== from && moves <= budget && (gain > 0 || (gain === 0 && moves < 0)))
    routes.sort((a, b) => worth(b) - worth(a) || a.moves - b.moves || a.node - b.node)
    const taken = routes.find(({ steps }) => board.follow(steps))
    if (taken) return taken.moves
  }
  return null
}

const worth = ({ gain, moves }: { readonly gain: number; readonly moves: number }): number =>
  moves <= 0 ? Number.POSITIVE_INFINITY : gain / moves
