import type { Board } from './board.js'
import { Cheapest, type Route } from './cheapest.js'
import { NONE } from './network.js'

/** Up to so many slots the best step is looked for from every node, not only from those that could give most. */
const THOROUGH = 200

/**
 * Spends up to `budget` moves. First on slots that find no node otherwise, each with the fewest moves. Then on the balance, in
 * steps: each is the chain that gains most per move, and of those the one with the fewest moves.
 *
 * The steps are those of a parametric flow, they walk along the convex hull of balance and moves: as long as the best step is
 * within the budget, no placement with so many moves is better. Where it is not, smaller steps spend the rest.
 * Returns by how much the sum of squares could still be smaller at most: 0 proves that it could not.
 */
export function rebalance(board: Board, budget: number): number {
  const search = new Cheapest(board, { isEnd: (slot, node) => board.hasRoom(slot, node) })
  let left = budget
  for (const slot of board.network.slots.keys()) {
    if (board.at[slot] !== NONE) continue
    const routes = search.from(slot, left).filter(({ moves }) => moves <= left)
    routes.sort((a, b) => a.moves - b.moves || board.load(a.node) - board.load(b.node) || a.node - b.node)
    left -= routes.find(({ steps }) => board.follow(steps))?.moves ?? 0
  }
  let bound: number | null = null
  for (;;) {
    const best = bestStep(board, search, board.network.slots.length)
    if (best === null) return bound ?? 0
    if (best.moves > left) bound ??= 2 * Math.floor(worth(best) * left)
    const step = best.moves > left ? bestStep(board, search, left) : best
    if (step === null || !board.follow(step.steps)) return bound ?? 0
    if (bound !== null) bound = Math.max(0, bound - 2 * step.gain)
    left -= step.moves
  }
}

interface Improvement extends Route {
  /** By how much the sum of squares falls, halved. */
  readonly gain: number
}

/** The chain of at most `most` moves that lowers the sum of squares most per move; or keeps it with fewer moves. Null where there is none. */
function bestStep(board: Board, search: Cheapest, most: number): Improvement | null {
  const { seats, slots } = board.network
  const byLoad = seats.map((_, node) => node).sort((a, b) => board.load(b) - board.load(a) || a - b)
  const lowest = board.load(byLoad.at(-1) ?? 0)
  let best: Improvement | null = null
  for (const from of byLoad) {
    if (best !== null && slots.length > THOROUGH && worth(best) >= board.load(from) - lowest - 1) break
    for (const route of search.fromNode(from, most)) {
      const gain = board.load(from) - board.load(route.node) - 1
      if (route.node === from || route.moves > most || !(gain > 0 || (gain === 0 && route.moves < 0))) continue
      const step = { ...route, gain }
      if (best === null || worth(step) > worth(best) || (worth(step) === worth(best) && step.moves < best.moves)) best = step
    }
  }
  return best
}

const worth = ({ gain, moves }: { readonly gain: number; readonly moves: number }): number =>
  moves <= 0 ? Number.POSITIVE_INFINITY : gain / moves
