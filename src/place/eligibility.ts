import type { Family } from '../model/address.js'
import type { Hosting, NodeReason, PlacementOptions } from '../model/assignment.js'
import { cloudOf } from '../model/hosting.js'
import type { Inputs } from '../model/inputs.js'
import { unreachableNodes } from '../model/probe.js'
import type { ClusterFacts, ClusterNode } from '../model/topology.js'

/** Most egress IPs that a node takes: of both families together, and of each. Null is no limit, 0 is none. */
export interface Capacity {
  readonly ip: number | null
  readonly ipv4: number | null
  readonly ipv6: number | null
}

/** How many egress IPs a node holds. */
export interface Held {
  readonly ipv4: number
  readonly ipv6: number
}

/** The nodes of the cluster in the order of their names, each with what placement needs to know of it. An index means this order. */
export interface Field {
  readonly facts: ClusterFacts
  readonly nodes: readonly ClusterNode[]
  readonly indexOf: ReadonlyMap<string, number>
  /** Why a node takes no address of any object; null when it may. */
  readonly standing: readonly (NodeReason | null)[]
  readonly capacity: readonly Capacity[]
}

const UNLIMITED: Capacity = { ip: null, ipv4: null, ipv6: null }

/** Reads the nodes once. A cordoned or tainted node is as good as any (upstream asks for Ready only). */
export function fieldOf(inputs: Inputs, options: PlacementOptions): Field {
  const { topology } = inputs
  const nodes = [...topology.nodes].sort((a, b) => (a.name < b.name ? -1 : 1))
  const unreachable = unreachableNodes(inputs, options.down)
  const draining = new Set(options.drain)
  const standing = (node: ClusterNode): NodeReason | null => {
    if (!node.ready) return 'NotReady'
    if (unreachable.has(node.name)) return 'Unreachable'
    if (node.invalid !== null) return 'InvalidNode'
    return draining.has(node.name) ? 'Draining' : null
  }
  return {
    facts: topology.facts,
    nodes,
    indexOf: new Map(nodes.map((node, index) => [node.name, index])),
    standing: nodes.map(standing),
    capacity: nodes.map((node) => cloudOf(node, topology.facts)?.capacity ?? UNLIMITED),
  }
}

/** The first rule that keeps a node from hosting an address, whatever the nodes hold; null where none does. */
export function exclusionOf(field: Field, index: number, matching: boolean, hosting: Hosting | null): NodeReason | null {
  if (!matching) return 'SelectorMismatch'
  return field.standing[index] ?? (hosting ? null : 'NoHostingNetwork')
}

/** Whether a node that holds so many takes no further address of the family. */
export function isFull(capacity: Capacity, held: Held, family: Family): boolean {
  const over = (limit: number | null, count: number) => limit !== null && count >= limit
  return over(capacity.ip, held.ipv4 + held.ipv6) || (family === 4 ? over(capacity.ipv4, held.ipv4) : over(capacity.ipv6, held.ipv6))
}
