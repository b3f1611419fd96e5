import { type Board, NONE, type Slot, type Step } from './board.js'

/** What searches have seen: each slot with the step that displaced it (null: the start), and the lanes entered. */
export interface Visits {
  readonly slots: Map<number, Step | null>
  readonly lanes: Set<number>
}

export const newVisits = (): Visits => ({ slots: new Map(), lanes: new Set() })

/**
 * The chain by which a slot that stands nowhere gets onto one of `nodes`, others making room by moving on, and which ends on
 * the node with the least load; null where none ends on a node of at most `limit`. Ends early at a load of `enough`.
 * What `visits` has seen is not seen again: searches for other nodes of the same slot may share it while they fail.
 */
export function leastLoaded(
  board: Board,
  slot: number,
  nodes: readonly number[],
  visits: Visits,
  limit: number,
  enough: number,
): readonly Step[] | null {
  let best: Step | null = null
  let bestLoad = limit + 1
  const queue = [slot]
  visits.slots.set(slot, null)
  for (let head = 0; head < queue.length; head++) {
    const mover = queue[head] as number
    const { group, family } = board.slot(mover)
    const displace = (next: number, node: number) => {
      if (board.isLocked(next) || visits.slots.has(next) || !board.canSwap(next, family)) return
      visits.slots.set(next, { slot: mover, node })
      queue.push(next)
    }
    for (const node of head === 0 ? nodes : board.slot(mover).nodes) {
      if (node === board.at[mover]) continue
      const occupant = board.occupant(group, node)
      if (occupant !== NONE) {
        displace(occupant, node)
        continue
      }
      const lane = board.lane(node, family)
      if (visits.lanes.has(lane)) continue
      visits.lanes.add(lane)
      if (board.hasRoom(node, family) && board.load(node) < bestLoad) {
        best = { slot: mover, node }
        bestLoad = board.load(node)
        if (bestLoad <= enough) return chain(best, visits.slots)
      }
      for (const resident of board.residents(node)) displace(resident, node)
    }
  }
  return best && chain(best, visits.slots)
}

/** A chain that ends on a node, and how many more slots stand away from home after it. */
interface Route {
  readonly steps: readonly Step[]
  readonly node: number
  readonly moves: number
}

/**
 * For every node on which a chain from one of `starts` can end, the one with the fewest moves away from home, by node. Label
 * correcting, since a slot that comes home counts -1; there is no circle of moves that costs less than nothing, because every
 * chain taken so far had the fewest moves, but for objects with addresses of both families on nodes that limit each: there a
 * cost that no chain can have ends the search.
 */
export function fewestMoves(board: Board, starts: readonly number[]): readonly Route[] {
  const cost = new Map<number, number>()
  const by = new Map<number, Step | null>()
  const laneCost = new Map<number, number>()
  const ends = new Map<number, { readonly step: Step; readonly moves: number }>()
  for (const slot of starts) {
    cost.set(slot, 0)
    by.set(slot, null)
  }
  const queue = [...starts]
  const queued = new Set(starts)
  for (let head = 0; head < queue.length; head++) {
    const mover = queue[head] as number
    queued.delete(mover)
    const slot = board.slot(mover)
    const standing = board.at[mover] as number
    const base = (cost.get(mover) as number) - away(slot, standing)
    for (const node of slot.nodes) {
      if (node === standing) continue
      const moves = base + away(slot, node)
      const displace = (next: number) => {
        if (board.isLocked(next) || !board.canSwap(next, slot.family)) return
        if (moves >= (cost.get(next) ?? Number.POSITIVE_INFINITY) || moves < -board.at.length) return
        cost.set(next, moves)
        by.set(next, { slot: mover, node })
        if (queued.has(next)) return
        queued.add(next)
        queue.push(next)
      }
      const occupant = board.occupant(slot.group, node)
      if (occupant !== NONE) {
        displace(occupant)
        continue
      }
      const lane = board.lane(node, slot.family)
      if (moves >= (laneCost.get(lane) ?? Number.POSITIVE_INFINITY)) continue
      laneCost.set(lane, moves)
      const end = ends.get(node)
      if (board.hasRoom(node, slot.family) && (!end || moves < end.moves)) ends.set(node, { step: { slot: mover, node }, moves })
      for (const resident of board.residents(node)) displace(resident)
    }
  }
  const routes: Route[] = []
  for (const [node, { step, moves }] of [...ends].sort(([a], [b]) => a - b)) {
    const steps = chain(step, by)
    if (steps) routes.push({ steps, node, moves })
  }
  return routes
}

/** 1 where a slot that has a home stands on another node, else 0. */
const away = ({ home }: Slot, node: number): number => (home === null || node === NONE || node === home ? 0 : 1)

/** The steps that lead to an end, last one first; null where they go in a circle. */
function chain(end: Step, by: ReadonlyMap<number, Step | null>): readonly Step[] | null {
  const steps = [end]
  for (let step = by.get(end.slot); step; step = by.get(step.slot)) {
    if (steps.push(step) > by.size) return null
  }
  return steps
}
