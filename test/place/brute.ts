import fc from 'fast-check'
import { inPool, type Network, type Pool, poolOf, type Slot } from '../../src/place/network.js'

export type Answer = readonly (number | null)[]

const loads = ({ seats, slots }: Network, answer: Answer, family?: 4 | 6): number[] => {
  const held = seats.map((seat) => (family === 6 ? 0 : seat.held.ipv4) + (family === 4 ? 0 : seat.held.ipv6))
  for (const [i, node] of answer.entries())
    if (node !== null && (!family || slots[i]?.family === family)) held[node] = (held[node] as number) + 1
  return held
}

export const squares = (network: Network, answer: Answer): number => loads(network, answer).reduce((sum, load) => sum + load * load, 0)

export const moves = ({ slots }: Network, answer: Answer): number =>
  slots.filter(({ home }, i) => home !== null && answer[i] !== home).length

/**
 * Whether an answer breaks no rule: eligible nodes, one address of a group per node, who has a home stands somewhere, no node is filled over
 * its capacity, and one that was over it takes nothing new.
 */
export function isValid(network: Network, answer: Answer): boolean {
  const pairs = new Set<string>()
  for (const [i, node] of answer.entries()) {
    const slot = network.slots[i] as Slot
    if (node === null && slot.home === null) continue
    const pair = `${slot.group} ${node}`
    if (node === null || !inPool(network.pools[slot.pool] as Pool, node) || pairs.has(pair)) return false
    pairs.add(pair)
  }
  const homes = network.slots.map(({ home }) => home)
  const families = [undefined, 4, 6] as const
  const [before, after] = [homes, answer].map((each) => families.map((family) => loads(network, each, family))) as [number[][], number[][]]
  const came = (node: number, family?: 4 | 6) =>
    network.slots.some((slot, i) => answer[i] === node && slot.home !== node && (!family || slot.family === family))
  return network.seats.every(({ capacity }, node) =>
    [capacity.ip, capacity.ipv4, capacity.ipv6].every((limit, i) => {
      if (limit === null) return true
      return (before[i]?.[node] as number) > limit ? !came(node, families[i]) : (after[i]?.[node] as number) <= limit
    }),
  )
}

/** Every way to place the slots; of those with a home at most `budget` stand elsewhere. */
function* everyAnswer(network: Network, budget: number, from = 0): Generator<(number | null)[]> {
  const slot = network.slots[from]
  if (!slot) return yield []
  const { nodes } = network.pools[slot.pool] as Pool
  const choices = slot.home === null ? [null, ...nodes] : budget > 0 ? new Set([slot.home, ...nodes]) : [slot.home]
  for (const node of choices) {
    const left = slot.home === null || node === slot.home ? budget : budget - 1
    for (const rest of everyAnswer(network, left, from + 1)) yield [node, ...rest]
  }
}

/** An answer as numbers, of which the lexicographically smaller one is the better: the rules in their order, without the ties. */
export const rankOf = (network: Network, answer: Answer): readonly number[] => [
  -answer.filter((node) => node !== null).length,
  ...answer.map((node) => (node === null ? 1 : 0)),
  squares(network, answer),
  moves(network, answer),
]

export function compareRanks(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i])
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number)
}

/** The best of all answers, ties included, by trying every one. */
export function best(network: Network, ties: readonly number[], budget = 0): Answer {
  const rank = (answer: Answer) => [...rankOf(network, answer), ...ties.map((slot) => answer[slot] ?? -1)]
  let winner: Answer = network.slots.map(({ home }) => home)
  let least = rank(winner)
  for (const answer of everyAnswer(network, budget)) {
    const now = rank(answer)
    if (compareRanks(now, least) >= 0 || !isValid(network, answer)) continue
    winner = answer
    least = now
  }
  return winner
}

const limit = fc.option(fc.integer({ min: 0, max: 3 }), { nil: null })

/** Homes as they can be: on an eligible node, one of a group per node. Who has one comes first. */
function asHeld(slots: readonly Slot[], pools: readonly Pool[]): readonly Slot[] {
  const taken = new Set<string>()
  const held = slots.map((slot) => {
    const pair = `${slot.group} ${slot.home}`
    if (slot.home === null || !inPool(pools[slot.pool] as Pool, slot.home) || taken.has(pair)) return { ...slot, home: null }
    taken.add(pair)
    return slot
  })
  return [...held.filter(({ home }) => home !== null), ...held.filter(({ home }) => home === null)]
}

/** Small networks, each with an order of ties. `mixed`: groups may have both families on nodes that limit each family. */
export const networks = (mixed: boolean): fc.Arbitrary<{ readonly network: Network; readonly ties: readonly number[] }> =>
  fc
    .record({ nodes: fc.integer({ min: 1, max: 4 }), groups: fc.integer({ min: 1, max: 5 }), perFamily: fc.boolean() })
    .chain(({ nodes, groups, perFamily }) =>
      fc.record({
        pools: fc.array(fc.subarray(Array.from({ length: nodes }, (_, i) => i)), { minLength: 1, maxLength: 4 }),
        slots: fc.array(
          fc
            .record({
              group: fc.integer({ min: 0, max: groups - 1 }),
              family: fc.constantFrom<(4 | 6)[]>(4, 6),
              pool: fc.nat(),
              home: fc.option(fc.integer({ min: 0, max: nodes - 1 }), { nil: null, freq: 2 }),
            })
            .map((slot): Slot => (perFamily && !mixed ? { ...slot, family: slot.group % 2 === 0 ? 4 : 6 } : slot)),
          { maxLength: 6 },
        ),
        seats: fc.array(
          fc.record({
            capacity: perFamily
              ? fc.record({ ip: limit, ipv4: limit, ipv6: limit })
              : fc.record({ ip: limit, ipv4: fc.constant(null), ipv6: fc.constant(null) }),
            held: fc.record({ ipv4: fc.integer({ min: 0, max: 3 }), ipv6: fc.integer({ min: 0, max: 1 }) }),
          }),
          { minLength: nodes, maxLength: nodes },
        ),
        groups: fc.constant(groups),
        shuffle: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
      }),
    )
    .map(({ shuffle, pools: lists, slots, seats, groups }) => {
      const pools = lists.map((nodes) => poolOf(nodes, seats.length))
      const pooled = slots.map((slot) => ({ ...slot, pool: slot.pool % pools.length }))
      const network = { slots: asHeld(pooled, pools), pools, seats, groups }
      const ties = slots.map((_, slot) => slot).sort((a, b) => (shuffle[a] as number) - (shuffle[b] as number) || a - b)
      return { network, ties }
    })
