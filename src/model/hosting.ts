import { type Address, compareAddresses, contains, isGlobalUnicast, networkOf, type Prefix, width } from './address.js'
import type { Hosting } from './assignment.js'
import type { CloudEgressConfig, ClusterFacts, ClusterNode } from './topology.js'

/** Platforms on which the cloud attaches egress IPs to a node's primary interface (seed 001). */
const EGRESS_IP_CLOUDS: ReadonlySet<string> = new Set(['AWS', 'Azure', 'GCP', 'OpenStack'])

/**
 * What the cloud says about a node's egress IPs, or null where no cloud hosts them. Where no input names the platform,
 * the annotation is taken at its word.
 */
export function cloudOf(node: ClusterNode, facts: ClusterFacts): CloudEgressConfig | null {
  return facts.platform === null || EGRESS_IP_CLOUDS.has(facts.platform) ? node.cloud : null
}

/**
 * The network of a node that hosts an address, or null: the first of its networks that contains it. An address that is not global
 * unicast has none.
 */
export const hosting = (node: ClusterNode, facts: ClusterFacts, address: Address): Hosting | null =>
  hostOf(address, hostingNetworks(node, facts))

/** The same, given the networks of the node. */
export function hostOf(address: Address, networks: readonly Hosting[]): Hosting | null {
  return (isGlobalUnicast(address) && networks.find(({ network }) => contains(network, address))) || null
}

/**
 * The networks of a node that host egress IPs, in the order in which they are asked. The primary ones come first: on clouds the
 * subnets of cloud.network.openshift.io/egress-ipconfig, elsewhere k8s.ovn.org/node-primary-ifaddr. Off clouds those other
 * prefixes of k8s.ovn.org/host-cidrs follow that are global unicast and wider than a single address (seed 001, "additional network
 * interfaces"). Longer ones come before shorter ones. A node whose annotations do not parse has none.
 */
export function hostingNetworks(node: ClusterNode, facts: ClusterFacts): readonly Hosting[] {
  if (node.invalid !== null) return []
  const cloud = cloudOf(node, facts)
  const onCloud = cloud !== null || (facts.platform !== null && EGRESS_IP_CLOUDS.has(facts.platform))
  const longestFirst = (prefixes: readonly Prefix[], type: Hosting['type']) =>
    prefixes.map((prefix): Hosting => ({ network: networkOf(prefix), type })).sort((a, b) => b.network.length - a.network.length)
  const primary = longestFirst(onCloud ? (cloud?.networks ?? []) : node.primary, 'primary')
  if (onCloud) return primary
  const secondary = node.hostPrefixes.filter((prefix) => isSecondary(prefix, node))
  return [...primary, ...longestFirst(secondary, 'secondary')]
}

function isSecondary({ address, length }: Prefix, node: ClusterNode): boolean {
  return (
    length < width(address.family) &&
    isGlobalUnicast(address) &&
    !node.primary.some((primary) => compareAddresses(primary.address, address) === 0)
  )
}
