import { parseAddress } from '../model/address.js'
import type { Placement, PlacementOptions } from '../model/assignment.js'
import { hosting } from '../model/hosting.js'
import type { Inputs } from '../model/inputs.js'
import { matches } from '../model/selector.js'
import type { ClusterNode } from '../model/topology.js'
import type { Verdicts } from '../model/verdict.js'
import { type Capacity, exclusionOf, fieldOf, type Held, isFull } from './eligibility.js'
import { addressOwners } from './owners.js'
import { foreignHeld } from './tally.js'

/**
 * Why each node hosts an address, could, or cannot, against the placement that `place` made of the same inputs and options. The
 * rules and their order are those of `place`: an address that found no node gets the reasons that its refusal names.
 */
export function verdictsOn(inputs: Inputs, options: PlacementOptions, placement: Placement): Verdicts {
  const field = fieldOf(inputs, options)
  const held = foreignHeld(inputs, field, addressOwners(inputs)).map(({ ipv4, ipv6 }) => ({ ipv4, ipv6 }))
  const seats = new Map<string, Map<number, string[]>>()
  for (const { object, egressIP, node } of placement.assignments) {
    const index = node === null ? undefined : field.indexOf.get(node)
    if (index === undefined) continue
    const load = held[index] as { ipv4: number; ipv6: number }
    if (parseAddress(egressIP)?.family === 4) load.ipv4++
    else load.ipv6++
    const nodes = seats.get(object) ?? new Map<number, string[]>()
    nodes.set(index, [...(nodes.get(index) ?? []), egressIP])
    seats.set(object, nodes)
  }
  return {
    nodes: field.nodes.map((node, index) => ({
      node,
      ...(held[index] as Held),
      capacity: field.capacity[index] as Capacity,
      standing: field.standing[index] ?? null,
    })),
    on(object, address, index) {
      const node = field.nodes[index] as ClusterNode
      const network = hosting(node, field.facts, address)
      const excluded = exclusionOf(field, index, matches(object.egressNodeSelector, node.labels), network)
      if (excluded) return { reason: excluded, hosting: network }
      const here = seats.get(object.name)?.get(index) ?? []
      const beside = without(held[index] as Held, address.family, here.includes(address.text))
      const full = isFull(field.capacity[index] as Capacity, beside, address.family)
      const shared = here.some((text) => text !== address.text)
      return { reason: full ? 'CapacityExhausted' : shared ? 'HoldsSameObject' : null, hosting: network }
    },
  }
}

/** What a node holds beside the address itself. */
function without({ ipv4, ipv6 }: Held, family: 4 | 6, holds: boolean): Held {
  const one = holds ? 1 : 0
  return family === 4 ? { ipv4: ipv4 - one, ipv6 } : { ipv4, ipv6: ipv6 - one }
}
