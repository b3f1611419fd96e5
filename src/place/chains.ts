import { type Board, NONE, type Slot, type Step } from './board.js'

/** What searches have seen: the slots and lanes, and for each displaced slot the one that takes its place. */
export interface Visits {
  readonly slots: Uint8Array
  readonly lanes: Uint8Array
  readonly by: Int32Array
}

export const newVisits = ({ network: { slots, seats } }: Board): Visits => ({
  slots: new Uint8Array(slots.length),
  lanes: new Uint8Array(seats.length * 3),
  by: new Int32Array(slots.length).fill(NONE),
})

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
  visits.slots[slot] = 1
  for (let head = 0; head < queue.length; head++) {
    const mover = queue[head] as number
    const { group, family } = board.slot(mover)
    const displace = (next: number) => {
      if (board.isLocked(next) || visits.slots[next] === 1 || !board.canSwap(next, family)) return
      visits.slots[next] = 1
      visits.by[next] = mover
      queue.push(next)
    }
    for (const node of head === 0 ? nodes : board.slot(mover).nodes) {
      if (node === board.at[mover]) continue
      const occupant = board.occupant(group, node)
      if (occupant !== NONE) {
        displace(occupant)
        continue
      }
      const lane = board.lane(node, family)
      if (visits.lanes[lane] === 1) continue
      visits.lanes[lane] = 1
      if (board.hasRoom(node, family) && board.load(node) < bestLoad) {
        best = { slot: mover, node }
        bestLoad = board.load(node)
        if (bestLoad <= enough) return chain(board, best, visits.by)
      }
      for (const resident of board.residents(node)) displace(resident)
    }
  }
  return best && chain(board, best, visits.by)
}

/** A chain that ends on a node, and how many more slots stand away from home after it. */
interface Route {
  readonly steps: readonly Step[]
  readonly node: number
  readonly moves: number
}

/** More moves than any chain has. */
const FAR = 2 ** 30

/**
 * For every node on which a chain from one of `starts` can end, the one with the fewest moves away from home, by node. Label
 * correcting, since a slot that comes home counts -1; there is no circle of moves that costs less than nothing, because every
 * chain taken so far had the fewest moves, but for objects with addresses of both families on nodes that limit each: there a
 * cost that no chain can have ends the search.
 */
export function fewestMoves(board: Board, starts: readonly number[]): readonly Route[] {
  const { slots, seats } = board.network
  const cost = new Int32Array(slots.length).fill(FAR)
  const laneCost = new Int32Array(seats.length * 3).fill(FAR)
  const endCost = new Int32Array(seats.length).fill(FAR)
  const lastMover = new Int32Array(seats.length).fill(NONE)
  const by = new Int32Array(slots.length).fill(NONE)
  const waiting = new Uint8Array(slots.length)
  const queue = [...starts]
  for (const slot of starts) cost[slot] = 0
  for (let head = 0; head < queue.length; head++) {
    const mover = queue[head] as number
    waiting[mover] = 0
    const slot = board.slot(mover)
    const standing = board.at[mover] as number
    const base = (cost[mover] as number) - away(slot, standing)
    for (const node of slot.nodes) {
      if (node === standing) continue
      const moves = base + away(slot, node)
      const displace = (next: number) => {
        if (moves >= (cost[next] as number) || board.isLocked(next) || !board.canSwap(next, slot.family) || moves < -slots.length) return
        cost[next] = moves
        by[next] = mover
        if (waiting[next] === 1) return
        waiting[next] = 1
        queue.push(next)
      }
      const occupant = board.occupant(slot.group, node)
      if (occupant !== NONE) {
        displace(occupant)
        continue
      }
      const lane = board.lane(node, slot.family)
      if (moves >= (laneCost[lane] as number)) continue
      laneCost[lane] = moves
      if (moves < (endCost[node] as number) && board.hasRoom(node, slot.family)) {
        endCost[node] = moves
        lastMover[node] = mover
      }
      for (const resident of board.residents(node)) displace(resident)
    }
  }
  const routes: Route[] = []
  for (const [node, slot] of lastMover.entries()) {
    const steps = slot === NONE ? null : chain(board, { slot, node }, by)
    if (steps) routes.push({ steps, node, moves: endCost[node] as number })
  }
  return routes
}

/** 1 where a slot that has a home stands on another node, else 0. */
const away = ({ home }: Slot, node: number): number => (home === null || node === NONE || node === home ? 0 : 1)

/** The steps that lead to an end, last one first: each slot goes where the one before it stands. Null where they go in a circle. */
function chain(board: Board, end: Step, by: Int32Array): readonly Step[] | null {
  const steps = [end]
  for (let slot = end.slot, mover = by[slot] as number; mover !== NONE; slot = mover, mover = by[slot] as number) {
    steps.push({ slot: mover, node: board.at[slot] as number })
    if (steps.length > by.length) return null
  }
  return steps
}
