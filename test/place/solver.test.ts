import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { poolOf, type Slot } from '../../src/place/network.js'
import { solve } from '../../src/place/solver.js'
import { best, isValid, moves, networks, rankOf } from './brute.js'

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
