import type { Levels } from './balance.js'
import type { Board } from './board.js'
import { away, Cheapest } from './cheapest.js'

/**
 * Brings slots back home as far as the balance allows, so that it is had with the fewest moves: follows circles of moves that leave
 * more slots at home, until there is none, which in a flow means that no placement that is as good has fewer moves. A circle
 * that costs less than nothing can be walked from such a slot that what it costs is below nothing all the way; so it is
 * enough to let each slot that is away go home and to follow what stays below nothing, which is little.
 */
export function homing(board: Board, levels: Levels): void {
  const byLevel = new Map<number, number[]>()
  for (const [node, level] of levels.nodes.entries()) byLevel.set(level, [...(byLevel.get(level) ?? []), node])
  let left = 0
  let load = 0
  let level = 0
  const search = new Cheapest(board, {
    isEnd: (slot, node) => board.load(node) <= load && board.hasRoom(slot, node),
    isTaker: (slot, node) => load + 1 < level && board.load(node) < level && board.hasRoom(slot, node),
    *givers() {
      for (const node of byLevel.get(level) ?? []) if (board.load(node) === level) yield node
    },
  })
  for (let found = true; found; ) {
    found = false
    for (const [slot, { home }] of board.network.slots.entries()) {
      left = board.at[slot] as number
      if (home === null || away(board.slot(slot), left) === 0 || board.isLocked(slot)) continue
      level = levels.slots[slot] as number
      board.leave(slot)
      load = board.load(left)
      const [route] = search.home(slot, -1)
      if (route && board.follow(route.steps)) {
        found = true
        continue
      }
      board.enter(slot, left)
      if (search.circle === null) continue
      const { slot: first, steps } = search.circle
      const from = board.at[first] as number
      board.leave(first)
      if (board.follow(steps)) found = true
      else board.enter(first, from)
    }
  }
}
