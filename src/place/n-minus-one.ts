import type { NMinusOne, NodeLoss, Placement, PlacementOptions, UnassignedReason } from '../model/assignment.js'
import type { Inputs } from '../model/inputs.js'
import { type Claim, claimsOf } from './claims.js'
import { type Capacity, type Field, fieldOf, type Held, isFull } from './eligibility.js'
import { type Network, poolOf } from './network.js'
import { addressOwners } from './owners.js'
import { solve } from './solver.js'
import { count, foreignHeld, placesBy } from './tally.js'

/** The placement as it stands, and what the loss of a node leaves to its addresses. */
interface Standing {
  readonly field: Field
  readonly held: readonly Held[]
  /** Object to the nodes that hold it. */
  readonly places: ReadonlyMap<string, ReadonlySet<number>>
}

/**
 * For every single egress node: would all addresses that the placement put on a node still have one without it? What the other nodes
 * hold stays there, as it does when a node fails, so only the addresses of the lost node look for another; they are of different objects.
 * As many as possible find one (`solve`). Addresses of EgressIPs that are not ours count into capacity, but are not looked after.
 */
export function nMinusOne(inputs: Inputs, options: PlacementOptions, placement: Placement): NMinusOne {
  const field = fieldOf(inputs, options)
  const owners = addressOwners(inputs)
  const placed = new Map(placement.assignments.map(({ object, egressIP, node }) => [`${object} ${egressIP}`, node]))
  const nodeOf = ({ object, address }: Claim): number | null => {
    const node = placed.get(`${object.name} ${address.text}`) ?? null
    return node === null ? null : (field.indexOf.get(node) ?? null)
  }
  const { claims } = claimsOf(inputs, field, owners)
  const on = new Map<number, Claim[]>()
  const pools = new Set(claims.map(({ candidates }) => candidates.pool))
  const egress = new Set([...pools].flatMap(({ nodes }) => [...nodes]))
  for (const claim of claims) {
    const node = nodeOf(claim)
    if (node === null) continue
    egress.add(node)
    const here = on.get(node)
    if (here) here.push(claim)
    else on.set(node, [claim])
  }
  const standing = { field, held: count(claims, nodeOf, foreignHeld(inputs, field, owners)), places: placesBy(claims, nodeOf) }
  const lost = [...on].sort(([a], [b]) => a - b).map(([node, here]) => ({ node, here, unplaced: unplacedWithout(standing, node, here) }))
  const losses = lost.filter(({ unplaced }) => unplaced.length > 0)
  return {
    egressNodes: egress.size,
    losses: losses.map(({ node, here, unplaced }) => lossOf(standing, node, here, unplaced)),
    spares: sparesFor(field, losses),
  }
}

/** The nodes that could take an address of a lost node if they had room: its candidates that do not hold its object. */
const refuges = ({ places }: Standing, lost: number, { candidates, object }: Claim): Int32Array =>
  candidates.pool.nodes.filter((node) => node !== lost && places.get(object.name)?.has(node) !== true)

/** An address that finds no other node, and why. */
interface Unplaced {
  readonly claim: Claim
  readonly reason: UnassignedReason
}

/** Which addresses of a node find no other; in order of precedence. */
function unplacedWithout(standing: Standing, lost: number, here: readonly Claim[]): readonly Unplaced[] {
  if (allFitAtOnce(standing, lost, here)) return []
  const { field, held } = standing
  const network: Network = {
    slots: here.map(({ address }, slot) => ({ group: slot, family: address.family, pool: slot, home: null })),
    pools: here.map((claim) => poolOf(refuges(standing, lost, claim), field.nodes.length)),
    seats: field.capacity.map((capacity, node) => ({ capacity, held: held[node] as Held })),
    groups: here.length,
  }
  const { nodes } = solve(network, [...here.keys()])
  const found = new Map(here.map((claim, slot) => [claim, nodes[slot] ?? null]))
  const after = count(here, (claim) => found.get(claim) ?? null, held)
  return here.filter((claim) => found.get(claim) === null).map((claim) => ({ claim, reason: reasonOf(field, after, lost, claim) }))
}

/** The filter that removes the last candidate once the node is gone, as in a placement. */
function reasonOf({ nodes, capacity }: Field, held: readonly Held[], lost: number, { candidates, address }: Claim): UnassignedReason {
  const others = candidates.pool.nodes.filter((node) => node !== lost)
  const isOpen = (node: number) => !isFull(capacity[node] as Capacity, held[node] as Held, address.family)
  if (others.length > 0) return others.some(isOpen) ? 'AntiColocation' : 'CapacityExhausted'
  const isElsewhere = [...nodes.keys()].some((node) => node !== lost && candidates.exclusionOn(node) === 'NoHostingNetwork')
  return isElsewhere ? 'NoHostingNetwork' : 'NoAvailableNode'
}

/** Most losses hurt nobody: each address goes to the first node with room. */
function allFitAtOnce({ field, held, places }: Standing, lost: number, here: readonly Claim[]): boolean {
  const taken = new Map<number, Held>()
  return here.every(({ candidates, object, address }) => {
    const own = places.get(object.name)
    const now = (node: number): Held => taken.get(node) ?? (held[node] as Held)
    const found = candidates.pool.nodes.find(
      (node) => node !== lost && own?.has(node) !== true && !isFull(field.capacity[node] as Capacity, now(node), address.family),
    )
    if (found === undefined) return false
    const { ipv4, ipv6 } = now(found)
    taken.set(found, address.family === 4 ? { ipv4: ipv4 + 1, ipv6 } : { ipv4, ipv6: ipv6 + 1 })
    return true
  })
}

function lossOf(standing: Standing, node: number, here: readonly Claim[], unplaced: readonly Unplaced[]): NodeLoss {
  const haveRefuge = unplaced.every(({ claim }) => refuges(standing, node, claim).length > 0)
  const entries = unplaced.map(({ claim, reason }) => ({ egressIP: claim.address.text, object: claim.object.name, reason }))
  return {
    node: standing.field.nodes[node]?.name ?? '',
    holds: here.length,
    unplaced: entries.sort((a, b) => (a.object < b.object ? -1 : 1)),
    capacity: haveRefuge ? unplaced.length : null,
  }
}

type Lost = { readonly node: number; readonly unplaced: readonly Unplaced[] }

/**
 * Few further nodes, each like one of the lost, of which one at least takes whatever a loss leaves without a node. Chosen greedily: the one that
 * helps with most losses first, then by name. A loss that none helps with (its addresses exceed the capacity of a single node) is in none.
 */
function sparesFor(field: Field, losses: readonly Lost[]): NMinusOne['spares'] {
  const spares: { like: string; for: string[] }[] = []
  const nameOf = ({ node }: Lost) => field.nodes[node]?.name ?? ''
  let offers = losses.map((like) => ({ like, helped: losses.filter((lost) => couldTake(field, like.node, lost.unplaced)) }))
  for (;;) {
    const most = offers.reduce((sum, { helped }) => Math.max(sum, helped.length), 0)
    const best = offers.find(({ helped }) => helped.length === most)
    if (!best || most === 0) return spares
    spares.push({ like: nameOf(best.like), for: best.helped.map(nameOf) })
    const done = new Set(best.helped)
    offers = offers.map(({ like, helped }) => ({ like, helped: helped.filter((lost) => !done.has(lost)) }))
  }
}

/** Whether an empty node like this one takes all the addresses. */
function couldTake(field: Field, like: number, unplaced: readonly Unplaced[]): boolean {
  const { ip, ipv4, ipv6 } = field.capacity[like] as Capacity
  const claims = unplaced.map(({ claim }) => claim)
  const within = (limit: number | null, family?: number) =>
    limit === null || claims.filter(({ address }) => family === undefined || address.family === family).length <= limit
  return within(ip) && within(ipv4, 4) && within(ipv6, 6) && claims.every(({ candidates }) => candidates.exclusionOn(like) === null)
}
