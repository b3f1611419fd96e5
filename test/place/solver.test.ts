import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Network, poolOf, type Slot } from '../../src/place/network.js'
import { solve } from '../../src/place/solver.js'
import { best, compareRanks, isValid, moves, networks, rankOf } from './brute.js'

describe('solve', () => {
  it('finds the very answer that brute force finds', () => {
    fc.assert(
      fc.property(networks(false), ({ network, ties }) => {
        expect(solve(network, ties)).toEqual({ nodes: best(network, ties), gap: 0 })
      }),
      { numRuns: 1500 },
    )
  })

  it('rebalances to the best balance with the fewest moves when any number of moves is allowed', () => {
    fc.assert(
      fc.property(networks(false), ({ network, ties }) => {
        const { nodes, gap } = solve(network, ties, Number.POSITIVE_INFINITY)
        expect(isValid(network, nodes)).toBe(true)
        expect(gap).toBe(0)
        expect(rankOf(network, nodes)).toEqual(rankOf(network, best(network, ties, Number.POSITIVE_INFINITY)))
      }),
      { numRuns: 600 },
    )
  })

  it('spends a budget on the best that so many moves can reach, with the fewest of them', () => {
    fc.assert(
      fc.property(networks(false), fc.integer({ min: 1, max: 4 }), ({ network, ties }, budget) => {
        const { nodes, gap } = solve(network, ties, budget)
        expect(isValid(network, nodes)).toBe(true)
        expect(gap).toBe(0)
        expect(rankOf(network, nodes)).toEqual(rankOf(network, best(network, ties, budget)))
      }),
      { numRuns: 600 },
    )
  })

  it('finds the very answer that brute force finds also where two families cross in a node', () => {
    fc.assert(
      fc.property(networks(true), ({ network, ties }) => {
        expect(solve(network, ties)).toEqual({ nodes: best(network, ties), gap: 0 })
      }),
      { numRuns: 1000 },
    )
  })

  it('rebalances crossing families, with any number of moves or with a budget, to the best that brute force finds', () => {
    const budgets = fc.constantFrom(1, 2, 3, Number.POSITIVE_INFINITY)
    fc.assert(
      fc.property(networks(true), budgets, ({ network, ties }, budget) => {
        const { nodes, gap } = solve(network, ties, budget)
        expect(isValid(network, nodes)).toBe(true)
        expect(gap).toBe(0)
        expect(rankOf(network, nodes)).toEqual(rankOf(network, best(network, ties, budget)))
      }),
      { numRuns: 1500 },
    )
  })

  it('decides ties one by one: no address could stand on an earlier node without a loss', () => {
    const drawn = fc.record({
      pools: fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 7 }), { minLength: 3, maxLength: 6 }),
      slots: fc.array(fc.record({ group: fc.integer({ min: 0, max: 14 }), pool: fc.nat() }), { minLength: 20, maxLength: 36 }),
      limits: fc.array(fc.option(fc.integer({ min: 1, max: 6 }), { nil: null }), { minLength: 10, maxLength: 10 }),
    })
    fc.assert(
      fc.property(drawn, ({ pools, slots, limits }) => {
        const seats = limits.map((ip) => ({ capacity: { ip, ipv4: null, ipv6: null }, held: { ipv4: 0, ipv6: 0 } }))
        const listed = pools.map((nodes) =>
          poolOf(
            [...nodes].sort((a, b) => a - b),
            10,
          ),
        )
        const network: Network = {
          slots: slots.map(({ group, pool }) => ({ group, family: 4, pool: pool % pools.length, home: null })),
          pools: listed,
          seats,
          groups: 15,
        }
        const ties = [...slots.keys()]
        const { nodes } = solve(network, ties)
        const rank = rankOf(network, nodes).slice(0, -1)
        const homes: (number | null)[] = slots.map(() => null)
        for (const slot of ties) {
          const now = nodes[slot] ?? null
          for (const node of listed[network.slots[slot]?.pool ?? 0]?.nodes ?? []) {
            if (now === null || node >= now) break
            const fixed = [...homes.slice(0, slot), node]
            const pairs = fixed.flatMap((at, i) => (at === null ? [] : [`${slots[i]?.group} ${at}`]))
            const room = limits[node] ?? Number.POSITIVE_INFINITY
            if (new Set(pairs).size < pairs.length || fixed.filter((at) => at === node).length > room) continue
            const other = solve({ ...network, slots: network.slots.map((one, i) => ({ ...one, home: fixed[i] ?? null })) }, ties).nodes
            expect(compareRanks(rank, rankOf(network, other).slice(0, -1))).toBeLessThan(0)
          }
          homes[slot] = now
        }
      }),
      { numRuns: 25 },
    )
  })

  it('never spends more moves than the budget, also where two families cross in a node', () => {
    fc.assert(
      fc.property(networks(true), fc.integer({ min: 1, max: 3 }), ({ network, ties }, budget) => {
        const { nodes } = solve(network, ties, budget)
        expect(isValid(network, nodes)).toBe(true)
        expect(moves(network, nodes)).toBeLessThanOrEqual(budget)
      }),
      { numRuns: 600 },
    )
  })

  it('places 20,000 addresses on 5,000 nodes in a few seconds of processor time, also where capacity is short', () => {
    const nodes = Array.from({ length: 5000 }, (_, i) => i)
    const pools = Array.from({ length: 40 }, (_, pool) => nodes.filter((node) => (node * 7 + pool) % 40 < 5 + (pool % 20)))
    const slots = Array.from({ length: 20000 }, (_, i): Slot => ({ group: i >> 1, family: 4, pool: (i * 13) % 40, home: null }))
    const seats = nodes.map((node) => ({ capacity: { ip: node % 8, ipv4: null, ipv6: null }, held: { ipv4: node % 3, ipv6: 0 } }))
    const network = { slots, pools: pools.map((pool) => poolOf(pool, nodes.length)), seats, groups: 10000 }
    const start = process.cpuUsage().user
    const answer = solve(
      network,
      slots.map((_, slot) => slot),
    )
    expect((process.cpuUsage().user - start) / 1e6).toBeLessThan(6)
    expect(isValid(network, answer.nodes)).toBe(true)
    const room = seats.reduce((sum, seat) => sum + Math.max(0, seat.capacity.ip - seat.held.ipv4), 0)
    expect(answer.nodes.filter((node) => node !== null).length).toBe(room)
  })
})
