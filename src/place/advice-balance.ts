import { type Problem, problem } from '../model/problem.js'
import type { ClusterNode } from '../model/topology.js'
import type { Claim } from './claims.js'
import { type Capacity, type Field, type Held, isFull } from './eligibility.js'
import type { Placed } from './placed.js'
import { perCandidates, placesBy } from './tally.js'

/** One hint for the whole placement: the two nodes that differ most and between which an address could move. */
export function imbalance(field: Field, placed: readonly Placed[], held: readonly Held[]): readonly Problem[] {
  const load = held.map(({ ipv4, ipv6 }) => ipv4 + ipv6)
  const at = new Map(placed.map(({ claim, index }) => [claim, index]))
  const places = placesBy([...at.keys()], (claim) => at.get(claim) ?? null)
  const byLoad = (a: number, b: number) => (load[a] as number) - (load[b] as number) || a - b
  const least = load.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  /** The nodes that have room for an address, the least loaded first. */
  const open = perCandidates(({ pool }, family) =>
    pool.nodes.filter((node) => !isFull(field.capacity[node] as Capacity, held[node] as Held, family)).sort(byLoad),
  )
  const target = ({ candidates, address, object }: Claim): number | undefined => {
    for (const node of open(candidates, address.family)) if (!places.get(object.name)?.has(node)) return node
    return undefined
  }
  let best: { readonly from: number; readonly to: number; readonly gap: number } | null = null
  for (const { claim, index: from } of placed) {
    if ((load[from] as number) - 2 < least) continue
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
