import { Board } from './board.js'
import { apart, type Ban, clashOf, closed, crossing } from './families.js'
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
 * the best balance moves, either it stays, or it counts as moved, and the others have one move less. Where families cross, what
 * bounds a branch has them apart (see families.ts), and where it has both families of an object on one node, one of them keeps off.
 */
export function spending(
  given: Network,
  ties: readonly number[],
  budget: number,
  isCrossed: boolean,
): { readonly nodes: Answer; readonly gap: number } {
  const network = isCrossed ? closed(given) : given
  const better = (a: Answer, b: Answer) => compareBalance(network, a, b) || movesOf(network, a) - movesOf(network, b)
  const relaxed = ({ moved, bans }: Branch): Network => {
    const part = paid(network, moved)
    return isCrossed ? apart(part, bans, true) : part
  }
  const boundOf = (branch: Branch): Answer => moving(relaxed(branch), ties, branch.locked)
  const clashIn = (answer: Answer) => (isCrossed ? clashOf(network, ties, answer) : null)
  const start: Branch = { locked: [], moved: [], bans: [] }
  let best = isCrossed ? crossing(network, ties).nodes : keeping(network, ties)
  const offer = (answer: Answer) => {
    if (movesOf(network, answer) <= budget && better(answer, best) < 0) best = answer
  }
  if (isCrossed) offer(moving(network, ties))
  const free = boundOf(start)
  let flows = 0
  /** The least sum of squares that can be hoped for, where as many are placed as can be without regard to the budget. */
  let least = squaresOf(network, free)
  let isProven = network.slots.length <= EXACT_SLOTS
  const open: Branch[] = [start]
  for (let branch = open.pop(); branch; branch = open.pop()) {
    const { locked, moved, bans } = branch
    if (flows++ > MOST_FLOWS) isProven = false
    if (flows > 1 && !isProven) break
    const bound = flows === 1 ? free : boundOf(branch)
    if (network.slots.some(({ home }, slot) => home !== null && bound[slot] === null)) continue
    const part = paid(network, moved)
    const clash = clashIn(bound)
    const isWithin = movesOf(part, bound) <= budget - moved.length
    if (isWithin && clash === null) {
      offer(bound)
      continue
    }
    if (isWithin ? better(bound, best) >= 0 : compareBalance(network, bound, best) >= 0) continue
    if (budget < Number.POSITIVE_INFINITY) {
      const steps = relaxed(branch)
      const driven = part.slots.filter(({ home, isPaid }, slot) => home !== null && !isPaid && steps.slots[slot]?.home === null).length
      const { answer, missing } = stepwise(steps, ties, locked, budget - moved.length - driven)
      if (clashIn(answer) === null) offer(answer)
      const squares = squaresOf(network, answer) - missing
      if (flows === 1 && compareSets(answer, free) === 0) least = Math.max(least, squares)
      if (compareSets(answer, bound) === 0 && squares >= squaresOf(network, best) && compareSets(answer, best) === 0) continue
    }
    if (isWithin && clash) {
      for (const ban of [clash.first, clash.second])
        if (!locked.some((slot) => isOf(network, slot, ban))) open.push({ locked, moved, bans: [...bans, ban] })
      continue
    }
    const slot = part.slots.findIndex(({ home, isPaid }, one) => home !== null && !isPaid && bound[one] !== home)
    if (!bans.some((ban) => isOf(network, slot, ban))) open.push({ locked: [...locked, slot], moved, bans })
    if (moved.length < budget) open.push({ locked, moved: [...moved, slot], bans })
  }
  if (isProven) return { nodes: best, gap: 0 }
  if (compareSets(free, best) !== 0) return { nodes: best, gap: gapTo(network, free, best) }
  const squares = squaresOf(network, best)
  return { nodes: best, gap: squares === 0 ? 0 : Math.max(0, squares - least) / squares }
}

/** Whether a ban keeps a slot from its home. */
const isOf = ({ slots }: Network, slot: number, { group, family, node }: Ban): boolean => {
  const one = slots[slot] as Slot
  return one.group === group && one.family === family && one.home === node
}

interface Branch {
  /** Slots that stay. */
  readonly locked: readonly number[]
  /** Slots whose move is paid for, whether they move or not. */
  readonly moved: readonly number[]
  /** What keeps families apart. */
  readonly bans: readonly Ban[]
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
