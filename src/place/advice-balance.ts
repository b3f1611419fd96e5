import { type Problem, problem } from '../model/problem.js'
import { type Capacity, type Field, type Held, isFull } from './eligibility.js'
import type { Placed } from './placed.js'

/** One hint for the whole placement: the two nodes that differ most and between which an address could move. */
export function imbalance(field: Field, placed: readonly Placed[], held: readonly Held[]): readonly Problem[] {
  const load = held.map(({ ipv4, ipv6 }) => ipv4 + ipv6)
  const on = new Set(placed.map(({ claim, index }) => `${index} ${claim.object.name}`))
  const moves = placed.flatMap(({ claim, index }) =>
    claim.exclusions.flatMap((exclusion, to) => {
      const gap = (load[index] as number) - (load[to] as number)
      if (exclusion !== null || gap < 2 || on.has(`${to} ${claim.object.name}`)) return []
      const full = isFull(field.capacity[to] as Capacity, held[to] as Held, claim.address.family)
      return full ? [] : [{ from: index, to, gap }]
    }),
  )
  const [best] = moves.sort((a, b) => b.gap - a.gap || a.from - b.from || a.to - b.to)
  if (!best) return []
  const [from, to] = [best.from, best.to].map((index) => `${field.nodes[index]?.name} holds ${load[index]}`)
  return [problem('Imbalance', { message: `${from} egress IPs and ${to}, although addresses could move from one to the other.` })]
}
