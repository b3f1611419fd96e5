import { type Address, compareAddresses, type Prefix } from '../model/address.js'
import { gatewayModeOf } from '../model/gateway-mode.js'
import type { Inputs } from '../model/inputs.js'
import type { BridgeNetwork, ExternalBridge } from '../model/node-state.js'
import type { ClusterFacts, ClusterNode, Gateway, UserDefinedNetwork } from '../model/topology.js'
import { type Audience, nameOf } from './audience.js'
import type { HeldAddress } from './egressip.js'
import { networksOf } from './prefixes.js'

/** A node with the external bridge that its annotation k8s.ovn.org/l3-gateway-config describes. */
export type GatewayNode = ClusterNode & { readonly gateway: Gateway }

/** What the bridge of a node is made from beside the inputs. */
export interface BridgeParts {
  /** The node's own addresses, sorted. */
  readonly own: readonly Address[]
  /** The egress IPs of its primary network, sorted. */
  readonly egress: readonly HeldAddress[]
  readonly masqueradeSubnets: readonly Prefix[]
  readonly serviceSubnets: readonly Prefix[]
  readonly clusterAddresses: readonly Prefix[]
  /** Of the default network, in the whole cluster. */
  readonly podSubnets: readonly Prefix[]
  /** The primary user-defined networks with an id of their own. */
  readonly networks: readonly UserDefinedNetwork[]
  readonly closed: ExternalBridge['closed']
  readonly audience: Audience
}

/** The addresses on the bridge with their lengths: those of the gateway; of a family that it does not list, as on older nodes, the primary one. */
export const bridgePrefixes = ({ gateway, primary }: GatewayNode): readonly Prefix[] => {
  const listed = new Set(gateway.addresses.map(({ address }) => address.family))
  return [...gateway.addresses, ...primary.filter(({ address }) => !listed.has(address.family))]
}

/** The first address on the bridge of each family that it has. */
export const bridgeAddresses = (node: GatewayNode): readonly Address[] =>
  ([4, 6] as const).flatMap((family) => bridgePrefixes(node).find(({ address }) => address.family === family)?.address ?? [])

/** The external bridge of a node. */
export function externalBridge({ cluster, topology }: Inputs, node: GatewayNode, parts: BridgeParts): ExternalBridge {
  const { gateway } = node
  const mode = gatewayModeOf(cluster, gateway)
  const nodeAddresses = bridgeAddresses(node)
  const isNode = new Set(nodeAddresses.map(({ text }) => text))
  const networks = [
    defaultNetwork(topology.facts, node, parts.podSubnets),
    ...parts.networks.flatMap((network) => userDefined(network, node)),
  ]
  return {
    mode,
    mac: gateway.mac,
    vlan: gateway.vlan,
    mtu: mode === 'local' && cluster.checkPacketLength ? cluster.mtu : null,
    genevePort: cluster.genevePort,
    zone: cluster.conntrackZone,
    segmentation: cluster.networkSegmentation,
    routedPods: cluster.disableSnatMultipleGateways,
    nodeAddresses,
    hostSubnets: networksOf(bridgePrefixes(node)),
    extraAddresses: parts.own.filter(({ text }) => !isNode.has(text)),
    serviceSubnets: parts.serviceSubnets,
    masqueradeSubnets: parts.masqueradeSubnets,
    clusterAddresses: parts.clusterAddresses,
    networks,
    closed: parts.closed,
    egressMarks: egressMarks(parts, new Set(networks.map(({ name }) => name))),
  }
}

const defaultNetwork = (facts: ClusterFacts, node: ClusterNode, subnets: readonly Prefix[]): BridgeNetwork => ({
  name: 'default',
  for: `Node/${node.name}`,
  id: 0,
  subnets,
  nodeSubnets: networksOf(node.podSubnets.get('default') ?? []),
  overlay: facts.defaultNetworkOverlay,
  advertised: facts.defaultNetworkAdvertised,
})

/** A network without an id has no patch port whose flows could be told: it has a problem of its own. */
function userDefined({ network, for: origin, id, topology, subnets, overlay, advertised }: UserDefinedNetwork, node: ClusterNode) {
  if (id === null) return []
  // Nodes of a Layer2 network share its subnet.
  const nodeSubnets = networksOf(topology === 'Layer2' ? subnets : (node.podSubnets.get(network) ?? []))
  return [{ name: network, for: origin, id, subnets: networksOf(subnets), nodeSubnets, overlay, advertised }]
}

/**
 * The egress IPs that pods of user-defined networks leave with, by the mark that OVN gives their packets. Of several for one network and
 * mark the first stands: a packet has one source address.
 */
function egressMarks({ egress, audience }: BridgeParts, there: ReadonlySet<string>): ExternalBridge['egressMarks'] {
  const marks = new Map<string, ExternalBridge['egressMarks'][number]>()
  for (const { address, for: origin } of egress) {
    const marked = audience.markedOf(nameOf(origin))
    for (const network of marked?.networks ?? []) {
      const key = JSON.stringify([network, marked?.mark, address.family])
      if (marked && there.has(network) && !marks.has(key)) marks.set(key, { mark: marked.mark, address, network, for: origin })
    }
  }
  return [...marks.values()].sort((a, b) =>
    a.network < b.network ? -1 : a.network > b.network ? 1 : a.mark - b.mark || compareAddresses(a.address, b.address),
  )
}
