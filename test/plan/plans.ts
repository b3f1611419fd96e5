import type { Assignment, NMinusOne, Unassigned } from '../../src/model/assignment.js'
import type { Inputs } from '../../src/model/inputs.js'
import { problem } from '../../src/model/problem.js'
import type { Plan } from '../../src/plan/index.js'

export const kept: Assignment = {
  egressIP: '192.0.2.50',
  object: 'eip-a',
  node: 'node-a',
  network: '192.0.2.0/24',
  networkType: 'primary',
  interface: null,
  change: 'keep',
  from: null,
  certain: true,
}
export const refusal: Unassigned = {
  egressIP: '192.0.2.12',
  object: 'eip-b',
  reason: 'NoAvailableNode',
  message: 'None of the two matching nodes can take 192.0.2.12.',
  from: 'node-b',
  reasons: { NotReady: 1, Unreachable: 1 },
  nodes: [
    { node: 'node-b', reason: 'NotReady' },
    { node: 'node-c', reason: 'Unreachable' },
  ],
}
export const source = { file: 'intent/b.yaml', line: 6, column: 7 }
export const refused = problem('NoAvailableNode', { object: 'eip-b', message: refusal.message, source })
export const other = problem('InvalidNode', { object: 'Node/node-d', message: 'node-d has an annotation that is no JSON.', source: null })

/** A plan with a summary that fits it. */
export function planOf(over: Partial<Plan>): Plan {
  const assignments = over.assignments ?? [kept]
  const count = (change: string) => assignments.filter((one) => one.change === change).length
  const unassigned = over.unassigned ?? []
  const assigned = assignments.length - count('remove')
  return {
    apiVersion: 'egretta.dev/v1alpha1',
    kind: 'Plan',
    inputDigest: '0'.repeat(64),
    placement: 'enforced',
    options: { drain: [], down: [], rebalance: null },
    summary: {
      addresses: assigned + unassigned.length,
      assigned,
      unassigned: unassigned.length,
      kept: count('keep'),
      added: count('add'),
      moved: count('move'),
      removed: count('remove'),
      podsAffected: 1,
      optimalityGap: 0,
    },
    assignments,
    unassigned,
    steps: [],
    disruptions: [],
    nodes: [],
    problems: [],
    ...over,
  }
}

export const inputs = {
  intent: { objects: [{}, {}], invalid: [], foreign: [], removed: [] },
  topology: { nodes: [{}, {}, {}], pods: [{}], ignored: new Map() },
  cluster: { placementReason: 'Cluster.spec.placement says so' },
} as unknown as Inputs
export const notes = { inputs, objects: [] }

/** One change of each kind, one refusal, two hosts. */
export const CHANGING = planOf({
  assignments: [
    kept,
    { ...kept, egressIP: '192.0.2.51', change: 'add' },
    { ...kept, egressIP: '2001:db8::51', change: 'move', node: 'node-c', from: 'node-b', network: '2001:db8::/64', certain: false },
    { ...kept, egressIP: '192.0.2.60', object: 'eip-old', change: 'remove', node: null, network: null, networkType: null, from: 'node-b' },
  ],
  unassigned: [refusal],
  disruptions: [{ egressIP: '2001:db8::51', object: 'eip-a', node: 'node-c', from: 'node-b', pods: 3, networks: ['shop_blue'] }],
  nodes: [
    { node: 'node-a', changes: { addresses: { add: 1, update: 0, delete: 0 }, openflow: { add: 2, update: 1, delete: 3 } } },
    { node: 'node-bb', changes: { addresses: { add: 0, update: 0, delete: 1 } } },
  ],
  problems: [refused, other],
})

/** A node that cannot be lost for lack of capacity, and one for lack of nodes. */
export const LOSSES: NMinusOne = {
  egressNodes: 3,
  losses: [
    {
      node: 'node-a',
      holds: 3,
      unplaced: [
        { egressIP: '192.0.2.50', object: 'eip-a', reason: 'CapacityExhausted' },
        { egressIP: '192.0.2.51', object: 'eip-b', reason: 'CapacityExhausted' },
      ],
      capacity: 2,
    },
    { node: 'node-b', holds: 1, unplaced: [{ egressIP: '192.0.2.52', object: 'eip-b', reason: 'AntiColocation' }], capacity: null },
  ],
  spares: [{ like: 'node-a', for: ['node-a'] }],
}
