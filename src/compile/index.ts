import { compareAddresses, type Prefix, parseAddress, printPrefix } from '../model/address.js'
import { canonicalJson } from '../model/bundle.js'
import { isEqual } from '../model/equal.js'
import type { Inputs } from '../model/inputs.js'
import { objectAt } from '../model/json.js'
import { masqueradeSubnetOf } from '../model/masquerade.js'
import type { ExternalBridge, NodeState } from '../model/node-state.js'
import { type Position, type Problem, problem } from '../model/problem.js'
import type { ClusterNode, UserDefinedNetwork } from '../model/topology.js'
import { type Audience, audienceOf, isHeard, SILENCE, type Speaking } from './audience.js'
import { externalBridge, type GatewayNode } from './bridge.js'
import { clusterAddresses } from './cluster-addresses.js'
import { certainAddresses, divideAddresses, type Held, hostedAddresses, listedAddresses, primaryAddresses } from './egressip.js'
import { hostMasquerade, managementNeighbors, masqueradeNeighbors } from './masquerade.js'
import { knownNetworks } from './networks.js'
import { podSubnets } from './pod-subnets.js'
import { networksOf } from './prefixes.js'
import { mainRoutes } from './routes.js'
import { secondaryNetworks } from './secondary.js'

export type { Speaking } from './audience.js'
export type { Held } from './egressip.js'

/**
 * What every node with a parsable k8s.ovn.org/l3-gateway-config must hold when the egress IPs are where `held` says and their objects speak
 * for whom `speaking` says, sorted by node. Pure: the order of `held`, of the speakers and of the topology does not matter.
 */
export function compile(
  inputs: Inputs,
  held: readonly Held[],
  speaking: Speaking = SILENCE,
): { readonly states: readonly NodeState[]; readonly problems: readonly Problem[] } {
  const { topology } = inputs
  const audience = audienceOf(topology, speaking)
  const surroundings = surroundingsOf(inputs, held, audience, clusterAddresses(inputs))
  const compiled = topology.nodes
    .filter(hasGateway)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((node) => compileNode(inputs, node, surroundings))
  const { byNode } = surroundings
  const without = topology.nodes.filter(({ gateway, invalid, name }) => gateway === null && invalid === null && byNode.has(name))
  const problems = [
    ...surroundings.problems,
    ...without.map((node) => noGateway(node, byNode.get(node.name) ?? [])),
    ...compiled.flatMap((one) => one.problems),
  ]
  return { states: compiled.flatMap(({ state }) => (state ? [state] : [])), problems: distinct(problems) }
}

/** States, and the assignment that they were compiled for. */
export interface Compiled {
  readonly held: readonly Held[]
  readonly speaking: Speaking
  readonly states: readonly NodeState[]
}

/**
 * The states for another assignment of the same inputs, given those for a known one: of a node that holds the same for the same pods and
 * networks, and lists no address that only one of the two has, the state is the same object; of the others, what is equal is.
 */
export function recompile(inputs: Inputs, { held, speaking }: Omit<Compiled, 'states'>, known: Compiled): readonly NodeState[] {
  const { topology } = inputs
  const [audience, before] = [audienceOf(topology, speaking), audienceOf(topology, known.speaking)]
  const shared = known.states[0]?.externalBridge.clusterAddresses ?? clusterAddresses(inputs)
  const surroundings = surroundingsOf(inputs, held, audience, shared)
  const there = heldByNode(known.held)
  const [ours, theirs] = [surroundings.egressIPs, textsOf(known.held)]
  const turned = new Set([...ours, ...theirs].filter((text) => ours.has(text) !== theirs.has(text)))
  const nodes = new Map(topology.nodes.map((node) => [node.name, node]))
  return known.states.map((state) => {
    const node = nodes.get(state.node)
    if (!node || !hasGateway(node)) return state
    const isSame =
      isEqual(surroundings.byNode.get(node.name), there.get(node.name)) &&
      !listedAddresses(node).some(({ text }) => turned.has(text)) &&
      isHeard(state, before, audience)
    return isSame ? state : keeping(compileNode(inputs, node, surroundings).state ?? state, state)
  })
}

/** The state with every part that is equal to that of the known one replaced by it: what is made from such a part is the same. */
function keeping(state: NodeState, known: NodeState): NodeState {
  const parts = Object.keys(state) as (keyof NodeState)[]
  const kept = parts.filter((part) => isEqual(state[part], known[part]))
  if (kept.length === parts.length) return known
  return { ...state, ...Object.fromEntries(kept.map((part) => [part, known[part]])) }
}

/** What the nodes of one compilation share. */
interface Surroundings {
  readonly byNode: ReadonlyMap<string, readonly Held[]>
  /** Every egress IP on a node, as text. */
  readonly egressIPs: ReadonlySet<string>
  readonly audience: Audience
  readonly clusterAddresses: readonly Prefix[]
  /** Of the default network, in the whole cluster. */
  readonly podSubnets: readonly Prefix[]
  /** The primary user-defined networks with an id of their own, sorted by name. */
  readonly networks: readonly UserDefinedNetwork[]
  readonly closed: ExternalBridge['closed']
  /** What is wrong with user-defined networks. */
  readonly problems: readonly Problem[]
  readonly serviceSubnets: readonly Prefix[]
  /** One object for all equal prefixes: what is made from it is made once. */
  readonly sameSubnet: (subnet: Prefix) => Prefix
}

const surroundingsOf = (inputs: Inputs, held: readonly Held[], audience: Audience, addresses: readonly Prefix[]): Surroundings => ({
  byNode: heldByNode(held),
  egressIPs: textsOf(held),
  audience,
  clusterAddresses: addresses,
  podSubnets: podSubnets(inputs),
  ...knownNetworks(inputs.topology.networks),
  serviceSubnets: networksOf(inputs.cluster.subnets.service),
  sameSubnet: sameByText(),
})

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

function sameByText(): (subnet: Prefix) => Prefix {
  const known = new Map<string, Prefix>()
  return (subnet) => {
    const text = printPrefix(subnet)
    const same = known.get(text) ?? subnet
    known.set(text, same)
    return same
  }
}

const hasGateway = (node: ClusterNode): node is GatewayNode => node.gateway !== null

function compileNode(
  inputs: Inputs,
  node: GatewayNode,
  around: Surroundings,
): { readonly state: NodeState | null; readonly problems: readonly Problem[] } {
  const { cluster, topology } = inputs
  const options = cluster.nodes[node.name]
  const bridge = options?.bridge ?? cluster.bridge ?? node.gateway.bridge
  if (bridge === null) return { state: null, problems: [unknownBridge(node)] }
  const here = around.byNode.get(node.name) ?? []
  const hosted = hostedAddresses(node, topology.facts, here)
  const { own, egress, problems } = divideAddresses(node, primaryAddresses(hosted), around.egressIPs, (name) => sourceOf(inputs, name))
  // host-cidrs can list IPv6 addresses in a cluster that has none
  const certain = certainAddresses(node)
  const families = new Set((certain.length > 0 ? certain : node.internalIPs).map(({ family }) => family))
  const masquerade = ([4, 6] as const)
    .filter((family) => families.has(family))
    .map((family) => {
      const { subnet, origin } = masqueradeSubnetOf(inputs, node, family)
      return { subnet: around.sameSubnet(subnet), origin }
    })
  const masqueradeSubnets = masquerade.map(({ subnet }) => subnet)
  const originOf = (subnet: Prefix) => masquerade.find((one) => one.subnet === subnet)?.origin ?? null
  const neighbors = masqueradeNeighbors(node.name, bridge, masqueradeSubnets, around.networks, originOf)
  const serviceSubnets = around.serviceSubnets.filter(({ address }) => families.has(address.family))
  const external = externalBridge(inputs, node, { ...around, own, egress, masqueradeSubnets, serviceSubnets })
  return {
    state: {
      node: node.name,
      bridge,
      guardDevice: options?.guardDevice ?? options?.uplink ?? cluster.guardDevice ?? cluster.uplink,
      nodeAddresses: own,
      egressAddresses: egress.map(({ address, for: object }) => ({ address, interface: bridge, for: object })),
      masqueradeAddresses: hostMasquerade(node.name, bridge, masqueradeSubnets),
      neighbors: [...neighbors.neighbors, ...managementNeighbors(node, cluster.managementPort)].sort(byAddress),
      announcing: ['default'],
      silenced: egress,
      externalBridge: external,
      routes: mainRoutes(cluster, node, bridge, external),
      secondary: secondaryNetworks(hosted, around.audience),
      routeTableBase: cluster.routeTable,
      conntrack: cluster.conntrack,
      nftVersion: cluster.nftVersion,
    },
    problems: [...problems, ...neighbors.problems],
  }
}

const byAddress = (a: NodeState['neighbors'][number], b: NodeState['neighbors'][number]): number =>
  compareAddresses(a.address, b.address) || (a.interface < b.interface ? -1 : 1)

/** Where an EgressIP stands; null for one that no input has any more. */
const sourceOf = ({ intent }: Inputs, name: string): Position | null =>
  [...intent.objects, ...intent.foreign].find((object) => object.name === name)?.source.at() ?? null

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
