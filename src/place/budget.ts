import { Board } from './board.js'
import { freeBound } from './families.js'
import { finish, keeping, moving } from './flow.js'
import { type Network, NONE, type Slot } from './network.js'
import { type Answer, compareBalance, compareSets, gapTo, movesOf, squaresOf } from './rank.js'
import { rebalance } from './rebalance.js'

/** Up to so many slots the answer is exact. */
const EXACT_SLOTS = 200
/** How many flows are solved for that at most; what is not proven by then has a gap. */
const MOST_FLOWS = 500

/**
 * The best answer with at most so many moves: as many slots as possible, then the least sum of squares, then the fewest moves. If the
 * best balance of all takes no more, that is the answer. Otherwise a budget is no flow; the steps of `rebalance` reach what is
 * mostly the best and bound what may be missing. What they leave open is decided by branch and bound: of a slot that
 * the best balance moves, either it stays, or it counts as moved, and the others have one move less.
 */
export function spending(
  network: Network,
  ties: readonly number[],
  budget: number,
  isCrossed: boolean,
): { readonly nodes: Answer; readonly gap: number } {
  const better = (a: Answer, b: Answer) => compareBalance(network, a, b) || movesOf(network, a) - movesOf(network, b)
  let best = keeping(network, ties)
  const free = moving(network, ties)
  let flows = 0
  /** The least sum of squares that can be hoped for, where as many are placed as can be without regard to the budget. */
  let least = squaresOf(network, free)
  let isProven = !isCrossed && network.slots.length <= EXACT_SLOTS
  const open: Branch[] = [{ locked: [], moved: [] }]
  for (let branch = open.pop(); branch; branch = open.pop()) {
    const { locked, moved } = branch
    if (flows++ > MOST_FLOWS) isProven = false
    if (flows > 1 && !isProven) break
    const part = paid(network, moved)
    const bound = flows === 1 ? free : moving(part, ties, locked)
    if (movesOf(part, bound) <= budget - moved.length) {
      if (better(bound, best) < 0) best = bound
      continue
    }
    if (compareBalance(network, bound, best) >= 0) continue
    const { answer, missing } = stepwise(part, ties, locked, budget - moved.length)
    if (better(answer, best) < 0) best = answer
    if (flows === 1 && compareSets(answer, free) === 0) least = Math.max(least, squaresOf(network, answer) - missing)
    const isBounded = compareSets(answer, bound) === 0 && squaresOf(network, answer) - missing >= squaresOf(network, best)
    if (isBounded && compareSets(answer, best) === 0) continue
    const slot = part.slots.findIndex(({ home, isPaid }, one) => home !== null && !isPaid && bound[one] !== home)
    open.push({ locked: [...locked, slot], moved })
    if (moved.length < budget) open.push({ locked, moved: [...moved, slot] })
  }
  if (isProven) return { nodes: best, gap: 0 }
  if (isCrossed || compareSets(free, best) !== 0)
    return { nodes: best, gap: gapTo(network, isCrossed ? freeBound(network, ties) : free, best) }
  const squares = squaresOf(network, best)
  return { nodes: best, gap: squares === 0 ? 0 : Math.max(0, squares - least) / squares }
}

interface Branch {
  /** Slots that stay. */
  readonly locked: readonly number[]
  /** Slots whose move is paid for, whether they move or not. */
  readonly moved: readonly number[]
}

const paid = (network: Network, moved: readonly number[]): Network =>
  moved.length === 0
    ? network
    : { ...network, slots: network.slots.map((slot, i): Slot => (moved.includes(i) ? { ...slot, isPaid: true } : slot)) }

/** The answer of the steps of `rebalance`, and by how much a sum of squares with so many moves could be smaller at most. */
function stepwise(network: Network, ties: readonly number[], locked: readonly number[], budget: number) {
  const kept = new Board(
    network,
    Int32Array.from(keeping(network, ties), (node) => node ?? NONE),
  )
  for (const slot of locked) kept.lock(slot)
  const missing = rebalance(kept, budget)
  return { answer: finish(kept, ties), missing }
}
