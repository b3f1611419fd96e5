import { compareAddresses, type Family, networkOf, type Prefix, printPrefix } from './address.js'
import type { Cluster } from './cluster.js'
import { type ClusterNode, MASQUERADE_ANNOTATION } from './node.js'
import { printNodes } from './node-names.js'
import { type Problem, problem } from './problem.js'
import { type Said, said } from './said.js'
import type { Topology } from './topology.js'

/** The object that says what a subnet is, and where in it. */
export type Origin = Pick<Said<Prefix>, 'object' | 'source'>

interface Configured {
  readonly cluster: Cluster
  readonly topology: Topology
}

/**
 * The masquerade subnet of a node for a family, and what says so: Cluster.spec.subnets.masquerade, else the node's annotation, else the
 * Network operator, else ovnkube's default, which nothing says (seed 002).
 */
export function masqueradeSubnetOf(
  { cluster, topology }: Configured,
  node: ClusterNode,
  family: Family,
): { readonly subnet: Prefix; readonly origin: Origin | null } {
  const origin =
    ofFamily(cluster.masqueradeSubnets, family) ?? annotated(node, family) ?? ofFamily(topology.facts.masqueradeSubnets, family) ?? null
  return { subnet: origin?.value ?? (cluster.subnets.masquerade.find(({ address }) => address.family === family) as Prefix), origin }
}

const ofFamily = (list: readonly Said<Prefix>[], family: Family): Said<Prefix> | undefined =>
  list.find(({ value }) => value.address.family === family)

function annotated(node: ClusterNode, family: Family): Said<Prefix> | undefined {
  const subnet = node.masqueradeSubnets.find(({ address }) => address.family === family)
  return subnet && said(subnet, node.source, ['metadata', 'annotations', MASQUERADE_ANNOTATION])
}

/**
 * A MasqueradeSubnetChange for each family and pair of subnets, where nodes have another masquerade subnet than the Cluster object, or
 * without its word the Network operator, says.
 */
export function masqueradeChanges({ cluster, topology }: Configured): readonly Problem[] {
  return ([4, 6] as const).flatMap((family) => {
    const ours = ofFamily(cluster.masqueradeSubnets, family)
    const configured = ours ?? ofFamily(topology.facts.masqueradeSubnets, family)
    if (!configured) return []
    const wanted = networkOf(configured.value)
    const having = new Map<string, string[]>()
    for (const { name, masqueradeSubnets } of topology.nodes) {
      const subnet = masqueradeSubnets.find(({ address }) => address.family === family)
      const network = subnet && networkOf(subnet)
      if (!network || isSame(network, wanted)) continue
      const key = printPrefix(network)
      having.set(key, [...(having.get(key) ?? []), name])
    }
    return [...having]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([from, nodes]) => change(configured, printPrefix(wanted), from, nodes, ours !== undefined))
  })
}

const isSame = (a: Prefix, b: Prefix): boolean => a.length === b.length && compareAddresses(a.address, b.address) === 0

function change({ object, field, source }: Said<Prefix>, to: string, from: string, nodes: readonly string[], now: boolean): Problem {
  const what =
    'the neighbors, host addresses, routes and flows of masquerade addresses move, and connections between the host and services are interrupted'
  const when = now
    ? `on ${nodes.length === 1 ? 'it' : 'them'} ${what}`
    : `${from} is rendered until the annotation of ${nodes.length === 1 ? 'the node' : 'a node'} says ${to}; then ${what}`
  return problem('MasqueradeSubnetChange', {
    object,
    message: `${object} (${field}) says that the masquerade subnet is ${to}, but ${printNodes(nodes)} ${nodes.length === 1 ? 'has' : 'have'} ${from}: ${when}.`,
    source,
  })
}
