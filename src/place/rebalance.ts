import type { Board } from './board.js'
import { Cheapest, type Route } from './cheapest.js'
import { NONE } from './network.js'

/** Over so many slots, steps that are equally good are taken together. */
const SMALL = 200

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
    routes.sort((a, b) => a.moves - b.moves || board.load(a.to) - board.load(b.to) || a.to - b.to)
    left -= routes.find(({ steps }) => board.follow(steps))?.moves ?? 0
  }
  let bound: number | null = null
  for (;;) {
    const [best, ...others] = bestSteps(board, search, board.network.slots.length)
    if (best === undefined) return bound ?? 0
    if (best.moves > left) bound ??= 2 * Math.floor(worth(best) * left)
    const step = best.moves > left ? bestSteps(board, search, left)[0] : best
    if (step === undefined || !board.follow(step.steps)) return bound ?? 0
    if (bound !== null) bound = Math.max(0, bound - 2 * step.gain)
    left -= step.moves
    if (step !== best || board.network.slots.length <= SMALL) continue
    for (const other of apart(best, others)) if (other.moves <= left && board.follow(other.steps)) left -= other.moves
  }
}

interface Improvement extends Route {
  /** By how much the sum of squares falls, halved. */
  readonly gain: number
}

/**
 * The chains of at most `most` moves that lower the sum of squares most per move, of those the ones with the fewest moves; a
 * chain that keeps it with fewer moves is one too. By the node where they end.
 */
function bestSteps(board: Board, search: Cheapest, most: number): readonly Improvement[] {
  const byLoad = new Map<number, number[]>()
  for (const node of board.network.seats.keys()) {
    const list = byLoad.get(board.load(node))
    if (list) list.push(node)
    else byLoad.set(board.load(node), [node])
  }
  const loads = [...byLoad.keys()].sort((a, b) => b - a)
  let best: readonly Improvement[] = []
  for (const load of loads) {
    const steps = search
      .fromNodes(byLoad.get(load) as number[], most)
      .map((route) => ({ ...route, gain: load - board.load(route.to) - 1 }))
      .filter(({ gain, moves, from, to }) => from !== to && moves <= most && (gain > 0 || (gain === 0 && moves < 0)))
    const order = (a: Improvement, b: Improvement) => compareWorth(b, a) || a.moves - b.moves
    const first = steps.reduce<Improvement | undefined>((one, step) => (one && order(one, step) <= 0 ? one : step), best[0])
    if (first && first !== best[0]) best = steps.filter((step) => order(step, first) === 0)
  }
  return best
}

const worth = ({ gain, moves }: { readonly gain: number; readonly moves: number }): number =>
  moves <= 0 ? Number.POSITIVE_INFINITY : gain / moves

const compareWorth = (a: Improvement, b: Improvement): number => (worth(a) === worth(b) ? 0 : worth(a) - worth(b))

/** Those of the steps that have nothing to do with the first one nor with each other. */
function apart(first: Improvement, steps: readonly Improvement[]): readonly Improvement[] {
  const touched = new Set<number>()
  const takes = ({ from, steps: chain }: Improvement): boolean => {
    const nodes = [from, ...chain.map(({ node }) => node)]
    if (nodes.some((node) => touched.has(node))) return false
    for (const node of nodes) touched.add(node)
    return true
  }
  takes(first)
  return steps.filter(takes)
}
