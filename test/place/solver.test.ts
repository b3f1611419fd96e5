import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Network, Slot } from '../../src/place/board.js'
import { solve } from '../../src/place/solver.js'

type Answer = readonly (number | null)[]

const loads = ({ seats, slots }: Network, answer: Answer, family?: 4 | 6): number[] =>
  seats.map((seat, node) => {
    const held = (family === 6 ? 0 : seat.held.ipv4) + (family === 4 ? 0 : seat.held.ipv6)
    return held + slots.filter((slot, i) => answer[i] === node && (!family || slot.family === family)).length
  })

const squares = (network: Network, answer: Answer): number => loads(network, answer).reduce((sum, load) => sum + load * load, 0)

/** Whether nothing that the solver decides breaks a rule: eligible nodes, one address of a group per node, no node filled over its capacity. */
function isValid(network: Network, answer: Answer): boolean {
  const pairs = new Set<string>()
  for (const [i, node] of answer.entries()) {
    if (node === null) continue
    const slot = network.slots[i] as Slot
    const pair = `${slot.group} ${node}`
    if ((!slot.nodes.includes(node) && slot.home !== node) || pairs.has(pair)) return false
    pairs.add(pair)
  }
  const homes = network.slots.map(({ home }) => home)
  const came = (node: number, family?: 4 | 6) =>
    network.slots.some((slot, i) => answer[i] === node && slot.home !== node && (!family || slot.family === family))
  return network.seats.every(({ capacity }, node) => {
    const within = (limit: number | null, family?: 4 | 6) => {
      const [before, after] = [loads(network, homes, family)[node] as number, loads(network, answer, family)[node] as number]
      return limit === null || after <= (came(node, family) ? limit : Math.max(limit, before))
    }
    return within(capacity.ip) && within(capacity.ipv4, 4) && within(capacity.ipv6, 6)
  })
}

const moves = ({ slots }: Network, answer: Answer): number => slots.filter(({ home }, i) => home !== null && answer[i] !== home).length

/** Every way to place the slots; those with a home stand somewhere, and stay there unless `free`. */
function* everyAnswer(network: Network, free: boolean, from = 0): Generator<(number | null)[]> {
  const slot = network.slots[from]
  if (!slot) return yield []
  const choices = slot.home === null ? [null, ...slot.nodes] : free ? new Set([slot.home, ...slot.nodes]) : [slot.home]
  for (const rest of everyAnswer(network, free, from + 1)) for (const node of choices) yield [node, ...rest]
}

/** Compares two answers by the three rules in their order; negative where the first is better. */
function compare(network: Network, ties: readonly number[], a: Answer, b: Answer): number {
  const placed = (answer: Answer) => answer.filter((node) => node !== null).length
  if (placed(a) !== placed(b)) return placed(b) - placed(a)
  for (const [i, node] of a.entries()) if ((node === null) !== (b[i] === null)) return node === null ? 1 : -1
  const balance = squares(network, a) - squares(network, b) || moves(network, a) - moves(network, b)
  if (balance !== 0) return balance
  for (const slot of ties) if (a[slot] !== b[slot]) return (a[slot] as number) - (b[slot] as number)
  return 0
}

function best(network: Network, ties: readonly number[], free = false): Answer {
  let winner: Answer = network.slots.map(({ home }) => home)
  for (const answer of everyAnswer(network, free)) {
    if (isValid(network, answer) && compare(network, ties, answer, winner) < 0) winner = answer
  }
  return winner
}

const limit = fc.option(fc.integer({ min: 0, max: 3 }), { nil: null })

/** Small networks. `mixed`: groups may have both families on nodes that limit each family. */
const networks = (mixed: boolean) =>
  fc
    .record({ nodes: fc.integer({ min: 1, max: 4 }), groups: fc.integer({ min: 1, max: 4 }), perFamily: fc.boolean() })
    .chain(({ nodes, groups, perFamily }) =>
      fc.record({
        slots: fc.array(
          fc
            .record({
              group: fc.integer({ min: 0, max: groups - 1 }),
              family: fc.constantFrom<(4 | 6)[]>(4, 6),
              nodes: fc.subarray(Array.from({ length: nodes }, (_, i) => i)),
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
    .map(({ shuffle, ...drawn }) => ({ shuffle, network: { ...drawn, slots: asHeld(drawn.slots) } }))
    .map(({ shuffle, network }) => ({
      network,
      ties: network.slots.map((_, slot) => slot).sort((a, b) => (shuffle[a] as number) - (shuffle[b] as number) || a - b),
    }))

/** Homes as they can be: on an eligible node, one of a group per node. */
function asHeld(slots: readonly Slot[]): readonly Slot[] {
  const taken = new Set<string>()
  return slots.map((slot) => {
    const pair = `${slot.group} ${slot.home}`
    if (slot.home === null || !slot.nodes.includes(slot.home) || taken.has(pair)) return { ...slot, home: null }
    taken.add(pair)
    return slot
  })
}

describe('solve', () => {
  it('finds the very answer that brute force finds', () => {
    fc.assert(
      fc.property(networks(false), ({ network, ties }) => {
        expect(solve(network, ties)).toEqual(best(network, ties))
      }),
      { numRuns: 600 },
    )
  })

  it('rebalances to the best balance with the fewest moves when any number of moves is allowed', () => {
    fc.assert(
      fc.property(networks(false), ({ network, ties }) => {
        const answer = solve(network, ties, Number.POSITIVE_INFINITY)
        const wanted = best(network, ties, true)
        expect(isValid(network, answer)).toBe(true)
        expect([answer.map((node) => node !== null), squares(network, answer), moves(network, answer)]).toEqual([
          wanted.map((node) => node !== null),
          squares(network, wanted),
          moves(network, wanted),
        ])
      }),
      { numRuns: 600 },
    )
  })

  it('never spends more moves than the budget, also where two families cross in a node', () => {
    fc.assert(
      fc.property(networks(true), fc.integer({ min: 1, max: 3 }), ({ network, ties }, budget) => {
        const answer = solve(network, ties, budget)
        expect(isValid(network, answer)).toBe(true)
        expect(moves(network, answer)).toBeLessThanOrEqual(budget)
      }),
      { numRuns: 600 },
    )
  })

  it('stays valid and leaves no free node unused where two families cross in a node', () => {
    fc.assert(
      fc.property(networks(true), ({ network, ties }) => {
        const answer = solve(network, ties)
        expect(isValid(network, answer)).toBe(true)
        for (const [slot, node] of answer.entries()) {
          if (node !== null) continue
          for (const free of network.slots[slot]?.nodes ?? []) {
            expect(isValid(network, answer.with(slot, free))).toBe(false)
          }
        }
      }),
      { numRuns: 600 },
    )
  })

  it('places 1,000 addresses on 100 nodes in a few seconds of processor time, also where capacity is short', () => {
    const nodes = Array.from({ length: 100 }, (_, i) => i)
    const slots = Array.from(
      { length: 1000 },
      (_, i): Slot => ({ group: i >> 1, family: 4, nodes: nodes.filter((node) => (node * 7 + i) % 3 !== 0), home: null }),
    )
    const seats = nodes.map((node) => ({ capacity: { ip: node % 10, ipv4: null, ipv6: null }, held: { ipv4: node % 3, ipv6: 0 } }))
    const network = { slots, seats, groups: 500 }
    const start = process.cpuUsage().user
    const answer = solve(
      network,
      slots.map((_, slot) => slot),
    )
    expect((process.cpuUsage().user - start) / 1000).toBeLessThan(4000)
    expect(isValid(network, answer)).toBe(true)
    const room = seats.reduce((sum, seat) => sum + Math.max(0, seat.capacity.ip - seat.held.ipv4), 0)
    expect(answer.filter((node) => node !== null).length).toBe(room)
  })
})
