import { type Problem, problem } from '../model/problem.js'
import type { ClusterNode } from '../model/topology.js'
import type { Claim } from './claims.js'
import { type Capacity, type Field, type Held, isFull } from './eligibility.js'
import { inPool } from './network.js'
import type { Placed } from './placed.js'
import { perCandidates, placesBy } from './tally.js'

/** One hint for the whole placement: the two nodes that differ most and between which an address could move. */
export function imbalance(field: Field, placed: readonly Placed[], held: readonly Held[]): readonly Problem[] {
  const load = held.map(({ ipv4, ipv6 }) => ipv4 + ipv6)
  const at = new Map(placed.map(({ claim, index }) => [claim, index]))
  const places = placesBy([...at.keys()], (claim) => at.get(claim) ?? null)
  const byLoad = load.map((_, node) => node).sort((a, b) => (load[a] as number) - (load[b] as number) || a - b)
  /** The nodes that have room for an address, the least loaded first, found as far as they are asked for. */
  const open = perCandidates(({ pool }, family) => {
    const nodes = byLoad.values()
    const found: number[] = []
    return function* (): Generator<number> {
      for (let i = 0; ; i++) {
        for (let next = nodes.next(); found.length <= i && !next.done; next = nodes.next()) {
          const node = next.value
          if (inPool(pool, node) && !isFull(field.capacity[node] as Capacity, held[node] as Held, family)) found.push(node)
          if (found.length > i) break
        }
        if (found.length <= i) return
        yield found[i] as number
      }
    }
  })
  const target = ({ candidates, address, object }: Claim): number | undefined => {
    for (const node of open(candidates, address.family)()) if (!places.get(object.name)?.has(node)) return node
    return undefined
  }
  let best: { readonly from: number; readonly to: number; readonly gap: number } | null = null
  for (const { claim, index: from } of placed) {
    if ((load[from] as number) - 2 < (load[byLoad[0] as number] as number)) continue
    const to = target(claim)
    if (to === undefined) continue
    const gap = (load[from] as number) - (load[to] as number)
    const isBetter = !best || gap > best.gap || (gap === best.gap && (from < best.from || (from === best.from && to < best.to)))
    if (gap >= 2 && isBetter) best = { from, to, gap }
  }
  if (!best) return []
  const [from, to] = [best.from, best.to].map((index) => `${field.nodes[index]?.name} holds ${load[index]}`)
  const message = `${from} egress IPs and ${to}, although addresses could move from one to the other.`
  const fullest = field.nodes[best.from] as ClusterNode
  return [problem('Imbalance', { object: `Node/${fullest.name}`, message, source: fullest.source.at() })]
}
