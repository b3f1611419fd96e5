/** Numbers from 0 to 1 that are the same for the same seed on every machine (mulberry32). */
export interface Random {
  next(): number
  /** A whole number from 0 to `bound` - 1. */
  below(bound: number): number
  pick<T>(list: readonly T[]): T
  chance(probability: number): boolean
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number): number => Math.floor(next() * bound)
  return { next, below, pick: (list) => list[below(list.length)] as (typeof list)[number], chance: (probability) => next() < probability }
}
