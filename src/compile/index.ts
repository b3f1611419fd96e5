import { compareAddresses, type Prefix, parseAddress, parsePrefix } from '../model/address.js'
import { canonicalJson } from '../model/bundle.js'
import { masqueradePath } from '../model/cluster-facts.js'
import { isEqual } from '../model/equal.js'
import type { Inputs } from '../model/inputs.js'
import { listAt, objectAt, type Path, valueAt } from '../model/json.js'
import { MASQUERADE_ANNOTATION } from '../model/node.js'
import type { NodeState } from '../model/node-state.js'
import { type Position, type Problem, problem } from '../model/problem.js'
import { type SourceObject, subject } from '../model/source.js'
import type { ClusterNode } from '../model/topology.js'
import { certainAddresses, divideAddresses, type Held, listedAddresses, primaryAddresses } from './egressip.js'
import { masqueradeNeighbors, type Origin, unknownNetworks } from './masquerade.js'

export type { Held } from './egressip.js'

/**
 * What every node with a parsable k8s.ovn.org/l3-gateway-config must hold when the egress IPs are where `held` says, sorted by node. An address
 * is on a node's bridge if the node hosts it on its primary network; one on a secondary network is not compiled. Pure: the order of `held` and
 * of the topology does not matter.
 */
export function compile(
  inputs: Inputs,
  held: readonly Held[],
): { readonly states: readonly NodeState[]; readonly problems: readonly Problem[] } {
  const { topology } = inputs
  const networks = topology.networks.filter(({ role }) => role === 'Primary').sort((a, b) => (a.for < b.for ? -1 : 1))
  const egressIPs = textsOf(held)
  const byNode = heldByNode(held)
  const compiled = topology.nodes
    .filter(({ gateway }) => gateway !== null)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((node) => compileNode(inputs, node, { here: byNode.get(node.name) ?? [], egressIPs }, networks))
  const without = topology.nodes.filter(({ gateway, invalid, name }) => gateway === null && invalid === null && byNode.has(name))
  const problems = [
    ...unknownNetworks(networks),
    ...without.map((node) => noGateway(node, byNode.get(node.name) ?? [])),
    ...compiled.flatMap((one) => one.problems),
  ]
  return { states: compiled.flatMap(({ state }) => (state ? [state] : [])), problems: distinct(problems) }
}

/**
 * The states when the egress IPs are where `held` says, given those for another assignment: of a node that holds the same, and lists
 * no address that only one of the two has, the state is the same object.
 */
export function recompile(
  inputs: Inputs,
  held: readonly Held[],
  known: { readonly held: readonly Held[]; readonly states: readonly NodeState[] },
): readonly NodeState[] {
  const { topology } = inputs
  const [here, there] = [heldByNode(held), heldByNode(known.held)]
  const [ours, theirs] = [textsOf(held), textsOf(known.held)]
  const turned = new Set([...ours, ...theirs].filter((text) => ours.has(text) !== theirs.has(text)))
  const nodes = topology.nodes.filter(
    (node) => !isEqual(here.get(node.name), there.get(node.name)) || listedAddresses(node).some(({ text }) => turned.has(text)),
  )
  const { states } = compile({ ...inputs, topology: { ...topology, nodes } }, held)
  const fresh = new Map(states.map((state) => [state.node, state]))
  return known.states.map((state) => fresh.get(state.node) ?? state)
}

const textsOf = (held: readonly Held[]): ReadonlySet<string> => new Set(held.map(({ egressIP }) => egressIP))

function heldByNode(held: readonly Held[]): ReadonlyMap<string, readonly Held[]> {
  const byNode = new Map<string, Held[]>()
  for (const one of held) {
    const here = byNode.get(one.node)
    if (here) here.push(one)
    else byNode.set(one.node, [one])
  }
  return byNode
}

function compileNode(
  inputs: Inputs,
  node: ClusterNode,
  { here, egressIPs }: { readonly here: readonly Held[]; readonly egressIPs: ReadonlySet<string> },
  networks: Inputs['topology']['networks'],
): { readonly state: NodeState | null; readonly problems: readonly Problem[] } {
  const { cluster, topology } = inputs
  const options = cluster.nodes[node.name]
  const bridge = options?.bridge ?? cluster.bridge ?? node.gateway?.bridge ?? null
  if (bridge === null) return { state: null, problems: [unknownBridge(node)] }
  const { own, egress, problems } = divideAddresses(node, primaryAddresses(node, topology.facts, here), egressIPs, (name) =>
    sourceOf(inputs, name),
  )
  // host-cidrs can list IPv6 addresses in a cluster that has none
  const certain = certainAddresses(node)
  const families = new Set((certain.length > 0 ? certain : node.internalIPs).map(({ family }) => family))
  const subnets = ([4, 6] as const).filter((family) => families.has(family)).flatMap((family) => subnetOf(inputs, node, family))
  const masquerade = masqueradeNeighbors(node.name, bridge, subnets, networks, (subnet) => masqueradeOrigin(inputs, node, subnet))
  return {
    state: {
      node: node.name,
      bridge,
      guardDevice: options?.guardDevice ?? options?.uplink ?? cluster.guardDevice ?? cluster.uplink,
      nodeAddresses: own,
      egressAddresses: egress.map(({ address, for: object }) => ({ address, interface: bridge, for: object })),
      neighbors: masquerade.neighbors,
      announcing: ['default'],
      silenced: egress,
      nftVersion: cluster.nftVersion,
    },
    problems: [...problems, ...masquerade.problems],
  }
}

/** Where an EgressIP stands; null for one that no input has any more. */
const sourceOf = ({ intent }: Inputs, name: string): Position | null =>
  [...intent.objects, ...intent.foreign].find((object) => object.name === name)?.source.at() ?? null

/** The masquerade subnet of a family: the node's annotation, else the cluster's. */
function subnetOf(inputs: Inputs, node: ClusterNode, family: 4 | 6) {
  const first = (subnets: typeof node.masqueradeSubnets) => subnets.find(({ address }) => address.family === family)
  return first(node.masqueradeSubnets) ?? first(inputs.cluster.subnets.masquerade) ?? []
}

/** What says that a masquerade subnet is what it is: the annotation of the node, the Cluster object, or that of the network operator. */
function masqueradeOrigin({ cluster, topology }: Inputs, node: ClusterNode, subnet: Prefix): Origin | null {
  const { family } = subnet.address
  const at = (object: SourceObject, path: Path): Origin => ({ object: subject(object), source: object.at(path) })
  if (node.masqueradeSubnets.includes(subnet)) return at(node.source, ['metadata', 'annotations', MASQUERADE_ANNOTATION])
  const path = ['spec', 'subnets', 'masquerade']
  const index = listAt(cluster.source?.value, path).findIndex((text) => parsePrefix(String(text))?.address.family === family)
  if (cluster.source && index >= 0) return at(cluster.source, [...path, index])
  const { networkOperator } = topology
  const configured = masqueradePath(family)
  return networkOperator && valueAt(networkOperator.value, configured) !== undefined ? at(networkOperator, configured) : null
}

/** A node that hosts an address and is not rendered: its host would hold nothing of it. */
function noGateway(node: ClusterNode, held: readonly Held[]): Problem {
  const annotation = 'k8s.ovn.org/l3-gateway-config'
  const [first] = held
    .map(({ egressIP }) => parseAddress(egressIP))
    .flatMap((address) => address ?? [])
    .sort(compareAddresses)
  const what = held.length === 1 ? `the egress IP ${first?.text}` : `${held.length} egress IPs, ${first?.text} among them`
  const why = Object.hasOwn(objectAt(node.source.value, ['metadata', 'annotations']), annotation)
    ? 'says that it has no gateway'
    : 'is absent'
  return problem('NoGateway', {
    object: `Node/${node.name}`,
    message: `Node ${node.name} holds ${what}, but gets no bundle: its annotation ${annotation} ${why}.`,
    source: node.source.at(['metadata', 'annotations', annotation]),
  })
}

const unknownBridge = (node: ClusterNode): Problem =>
  problem('InvalidNode', {
    object: `Node/${node.name}`,
    message: `Node ${node.name} does not name its gateway bridge, so nothing is rendered for it.`,
    remedy: `Set bridge in Cluster.spec or in Cluster.spec.nodes.${node.name}.`,
    source: node.source.at(['metadata', 'annotations']),
  })

/** What does not fit is one problem, however many nodes have it: that of the first of them. */
function distinct(problems: readonly Problem[]): readonly Problem[] {
  const first = new Map<string, Problem>()
  for (const one of problems) {
    const key = canonicalJson([one.code, one.message])
    if (!first.has(key)) first.set(key, one)
  }
  return [...first.values()]
}
