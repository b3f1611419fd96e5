import { balance } from './balance.js'
import { Board } from './board.js'
import { fill } from './fill.js'
import { homing } from './homing.js'
import { type Network, NONE } from './network.js'
import type { Answer } from './rank.js'
import { settle } from './settle.js'

/**
 * The best answer where those with a home stay: exact, but for networks in which families cross (see families.ts): for
 * those it is valid, and leaves out none that a free node could take.
 */
export function keeping(network: Network, ties: readonly number[]): Answer {
  const board = new Board(network)
  board.lockHomes()
  fill(board)
  return finish(board, ties)
}

/** The same where those with a home may all go, with the fewest moves. What of it is `locked` stays all the same. */
export function moving(network: Network, ties: readonly number[], locked: Iterable<number> = []): Answer {
  const board = new Board(network)
  for (const slot of locked) board.lock(slot)
  fill(board)
  homing(board, balance(board))
  return finish(board, ties)
}

/** Decides the ties of those that have no home. */
export function finish(board: Board, ties: readonly number[]): Answer {
  board.lockHomes()
  settle(board, ties, balance(board))
  for (const slot of board.network.slots.keys()) {
    if (board.at[slot] === NONE) for (const node of board.pool(slot).nodes) if (board.enter(slot, node)) break
  }
  return Array.from(board.at, (node) => (node === NONE ? null : node))
}
