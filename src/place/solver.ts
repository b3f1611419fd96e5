import { spending } from './budget.js'
import { crossing } from './families.js'
import { keeping, moving } from './flow.js'
import type { Network, Slot } from './network.js'
import { loosened, partsOf } from './parts.js'
import type { Answer } from './rank.js'

export interface Solution {
  /** Slot to node; null: on none. */
  readonly nodes: Answer
  /** See `Placement.optimalityGap`. */
  readonly gap: number
}

/**
 * Which node each slot of the network gets. Slots with a home stay there, unless `budget` (a number of moves, Infinity for any)
 * lets some of them go. In this order:
 *
 * 1. As many slots as possible, and of the sets of that size the first by precedence (`fill`).
 * 2. The least sum of squares of the loads (`balance`).
 * 3. With a budget, the fewest moves for that balance (`homing`, `spending`).
 * 4. Of equally good placements the one in which the slots without a home, taken in the order `ties`, stand on the first
 *    possible node each (`settle`).
 */
export function solve(given: Network, ties: readonly number[], budget = 0): Solution {
  const network = loosened(given)
  const parts = partsOf(network)
  const crossed = parts.filter(({ isCrossed }) => isCrossed)
  if (budget > 0 && budget < Number.POSITIVE_INFINITY) return spending(network, ties, budget, crossed.length > 0)
  const flow = (one: Network, order: readonly number[]): Solution => ({ nodes: (budget === 0 ? keeping : moving)(one, order), gap: 0 })
  if (crossed.length === 0) return flow(network, ties)
  const nodes: (number | null)[] = network.slots.map(() => null)
  let gap = 0
  const put = (slots: readonly number[], work: typeof flow) => {
    const index = new Map(slots.map((slot, place) => [slot, place]))
    const part = { ...network, slots: slots.map((slot) => network.slots[slot] as Slot) }
    const found = work(
      part,
      ties.flatMap((slot) => index.get(slot) ?? []),
    )
    for (const [place, slot] of slots.entries()) nodes[slot] = found.nodes[place] ?? null
    gap = combined(gap, found.gap)
  }
  put(
    parts.flatMap(({ slots, isCrossed }) => (isCrossed ? [] : slots)).sort((a, b) => a - b),
    flow,
  )
  for (const { slots } of crossed) put(slots, budget === 0 ? crossing : (part, order) => spending(part, order, budget, true))
  return { nodes, gap }
}

/** Missing addresses add up; of the shares of the parts the largest is a bound for the whole. */
const combined = (a: number, b: number): number => Math.floor(a) + Math.floor(b) + Math.max(a % 1, b % 1)
