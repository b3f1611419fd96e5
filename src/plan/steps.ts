import type { Placement } from '../model/assignment.js'
import { cloudOf } from '../model/hosting.js'
import type { Inputs } from '../model/inputs.js'
import { type Limits, orderSteps, type PlanStep, type Transfer } from './order.js'

const UNLIMITED: Limits = { ip: null, ipv4: null, ipv6: null }

/** The steps that lead from the current assignment to the planned one. None where ovnkube places: the order is its own. */
export function planSteps({ topology, cluster, current }: Inputs, placement: Placement): readonly PlanStep[] {
  if (cluster.placement === 'advisory') return []
  const residents = [...current].flatMap(([object, held]) => [...held].map(([egressIP, node]) => ({ egressIP, object, node })))
  const limits = new Map(topology.nodes.map((node) => [node.name, cloudOf(node, topology.facts)?.capacity ?? UNLIMITED]))
  return orderSteps(transfersOf(placement), residents, (node) => limits.get(node) ?? UNLIMITED)
}

type Departure = Transfer & { readonly from: string }

/** What changes its node. An address that only changes its object, and stays where it is, does not. */
function transfersOf({ assignments, unassigned }: Placement): readonly Transfer[] {
  const end = new Map(assignments.flatMap(({ egressIP, node }) => (node === null ? [] : [[egressIP, node] as const])))
  const departures = [...assignments, ...unassigned].flatMap(({ egressIP, object, from }): Departure[] =>
    from === null ? [] : [{ egressIP, object, from, to: null }],
  )
  const there = new Set(departures.map(({ egressIP, from }) => `${egressIP} ${from}`))
  const leaving = new Map<string, Departure[]>()
  for (const one of departures) {
    if (one.from !== end.get(one.egressIP)) leaving.set(one.egressIP, [...(leaving.get(one.egressIP) ?? []), one])
  }
  const moving = new Set<Departure>()
  const arrivals = assignments.flatMap(({ egressIP, object, node, change }): Transfer[] => {
    if (node === null || change === 'keep' || there.has(`${egressIP} ${node}`)) return []
    const candidates = leaving.get(egressIP) ?? []
    const origin = candidates.find((one) => one.object === object) ?? candidates[0]
    if (origin) moving.add(origin)
    return [{ egressIP, object, from: origin?.from ?? null, to: node }]
  })
  const removals = [...leaving.values()].flat().filter((one) => !moving.has(one))
  return [...removals, ...arrivals]
}
