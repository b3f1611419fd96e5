import type { Network } from './network.js'

/** Slot to node; null: on none. */
export type Answer = readonly (number | null)[]

/** The sum of the squares of what the nodes hold. */
export function squaresOf({ slots, seats }: Network, answer: Answer): number {
  const loads = seats.map(({ held }) => held.ipv4 + held.ipv6)
  for (const slot of slots.keys()) {
    const node = answer[slot] ?? null
    if (node !== null) loads[node] = (loads[node] as number) + 1
  }
  return loads.reduce((sum, load) => sum + load * load, 0)
}

/** How many slots with a home stand elsewhere, those not counted whose move is paid. */
export const movesOf = ({ slots }: Network, answer: Answer): number =>
  slots.filter(({ home, isPaid }, slot) => home !== null && isPaid !== true && answer[slot] !== home).length

/** Compares by the number of slots that have a node, then by which: negative where the first is better. */
export function compareSets(a: Answer, b: Answer): number {
  const count = (answer: Answer) => answer.filter((node) => node !== null).length
  if (count(a) !== count(b)) return count(b) - count(a)
  const at = a.findIndex((node, slot) => (node === null) !== (b[slot] === null))
  return at < 0 ? 0 : a[at] === null ? 1 : -1
}

/** Compares by set, then by balance. */
export const compareBalance = (network: Network, a: Answer, b: Answer): number =>
  compareSets(a, b) || squaresOf(network, a) - squaresOf(network, b)

/** Compares by all rules, ties included, of which the first slot that stands on different nodes decides. */
export function compareAnswers(network: Network, ties: readonly number[], a: Answer, b: Answer): number {
  const byBalance = compareBalance(network, a, b)
  if (byBalance !== 0) return byBalance
  const slot = ties.find((one) => a[one] !== b[one])
  return slot === undefined ? 0 : (a[slot] as number) - (b[slot] as number)
}

/** By how much an answer may miss the best one, from an answer that is at least as good as any: see `Placement.optimalityGap`. */
export function gapTo(network: Network, bound: Answer, answer: Answer): number {
  const missing = bound.filter((node, slot) => node !== null && (answer[slot] ?? null) === null).length
  if (missing > 0) return missing
  const squares = squaresOf(network, answer)
  return squares === 0 ? 0 : Math.max(0, squares - squaresOf(network, bound)) / squares
}
