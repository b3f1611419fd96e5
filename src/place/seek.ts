import { compareAddresses } from '../model/address.js'
import type { Claim } from './claims.js'
import type { Field, Held } from './eligibility.js'
import type { Network, Pool } from './network.js'
import { solve } from './solver.js'

/** Where the solver puts the claims; those that find no node are not in `found`. */
export function seek(
  field: Field,
  staying: readonly Claim[],
  looking: readonly Claim[],
  foreign: readonly Held[],
  budget: number,
): { readonly found: ReadonlyMap<Claim, number>; readonly optimalityGap: number } {
  const claims = [...staying, ...looking]
  const { nodes, gap } = solve(networkOf(field, staying, looking, foreign), tiesOf(claims), budget)
  const found = new Map(claims.flatMap((claim, slot) => (typeof nodes[slot] === 'number' ? [[claim, nodes[slot]]] : [])))
  return { found, optimalityGap: gap }
}

/** The claims as the solver sees them, in this order: those that stay, then those that look for a node. */
export function networkOf(field: Field, staying: readonly Claim[], looking: readonly Claim[], foreign: readonly Held[]): Network {
  const claims = [...staying, ...looking]
  const groups = new Map([...new Set(claims.map(({ object }) => object.name))].map((name, group) => [name, group]))
  const pools = new Map<Pool, number>()
  for (const { candidates } of claims) if (!pools.has(candidates.pool)) pools.set(candidates.pool, pools.size)
  return {
    slots: claims.map(({ object, address, candidates, holder }, slot) => ({
      group: groups.get(object.name) as number,
      family: address.family,
      pool: pools.get(candidates.pool) as number,
      home: slot < staying.length ? holder : null,
    })),
    pools: [...pools.keys()],
    seats: field.capacity.map((capacity, node) => ({ capacity, held: foreign[node] as Held })),
    groups: groups.size,
  }
}

/** The order in which ties are decided: by name of the object, then by address. */
export function tiesOf(claims: readonly Claim[]): readonly number[] {
  const key = (slot: number) => claims[slot] as Claim
  return claims
    .map((_, slot) => slot)
    .sort((a, b) => compareNames(key(a).object.name, key(b).object.name) || compareAddresses(key(a).address, key(b).address))
}

const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
