import { type Address, compareAddresses, contains, isGlobalUnicast, longestMatch, networkOf, type Prefix, width } from './address.js'
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
 * The network of a node that hosts an address, or null. The primary network is asked first: on clouds the subnet of
 * cloud.network.openshift.io/egress-ipconfig, elsewhere k8s.ovn.org/node-primary-ifaddr. Off clouds the longest other prefix of
 * k8s.ovn.org/host-cidrs follows that is global unicast and wider than a single address (seed 001, "additional network interfaces").
 * A node whose annotations do not parse, or an address that is not global unicast, has none.
 */
export function hosting(node: ClusterNode, facts: ClusterFacts, address: Address): Hosting | null {
  if (node.invalid !== null || !isGlobalUnicast(address)) return null
  const cloud = cloudOf(node, facts)
  const onCloud = cloud !== null || (facts.platform !== null && EGRESS_IP_CLOUDS.has(facts.platform))
  const primary = longestMatch(onCloud ? (cloud?.networks ?? []) : node.primary, address)
  if (primary) return { network: networkOf(primary), type: 'primary' }
  if (onCloud) return null
  const secondary = longestMatch(
    node.hostPrefixes.filter((prefix) => contains(prefix, address) && isSecondary(prefix, node)),
    address,
  )
  return secondary ? { network: networkOf(secondary), type: 'secondary' } : null
}

function isSecondary({ address, length }: Prefix, node: ClusterNode): boolean {
  return (
    length < width(address.family) &&
    isGlobalUnicast(address) &&
    !node.primary.some((primary) => compareAddresses(primary.address, address) === 0)
  )
}
