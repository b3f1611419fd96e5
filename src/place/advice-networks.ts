import { contains, networkOf, type Prefix, printPrefix, width } from '../model/address.js'
import type { Hosting } from '../model/assignment.js'
import { cloudOf } from '../model/hosting.js'
import type { Inputs } from '../model/inputs.js'
import { labelIndex } from '../model/label-index.js'
import { type Problem, problem } from '../model/problem.js'
import type { LabelSelector } from '../model/selector.js'
import type { ClusterNamespace, ClusterNode } from '../model/topology.js'
import type { Field } from './eligibility.js'
import { PRIMARY_NETWORK_LABEL } from './marks.js'
import type { Placed } from './placed.js'

/**
 * Platforms, as Infrastructure names them, that are clouds or hypervisors without egress IPs of their own. Seed 001 says that secondary
 * networks need bare metal; ovnkube checks that on the four egress-IP clouds alone (docs/decisions/0007).
 */
const VIRTUAL: ReadonlySet<string> = new Set(['VSphere', 'Nutanix', 'oVirt', 'KubeVirt', 'Libvirt', 'IBMCloud', 'PowerVS', 'AlibabaCloud'])

/** What the network that hosts an address means for it. */
export function networkAdvice(inputs: Inputs, field: Field, placed: readonly Placed[]): readonly Problem[] {
  const blueOf = labelIndex(inputs.topology.namespaces.filter(({ labels }) => PRIMARY_NETWORK_LABEL in labels))
  return placed.flatMap((place) => {
    const node = field.nodes[place.index] as ClusterNode
    const chosen = place.claim.candidates.hosts.on.get(place.index)
    if (!chosen) return []
    const secondary = chosen.type === 'secondary'
    return [
      ...overlappingNetworks(field, place, node, chosen),
      ...(secondary ? unsupportedNetwork(place, blueOf) : []),
      ...(secondary ? bridgeNetwork(inputs, place, node, chosen) : []),
      ...(secondary ? virtualPlatform(field, place, node) : []),
    ]
  })
}

/** An address that lies in several networks of its node, of which the primary one, else the longest, hosts it. */
function overlappingNetworks(field: Field, { claim }: Placed, node: ClusterNode, chosen: Hosting): readonly Problem[] {
  if (cloudOf(node, field.facts)) return []
  const single = ({ address, length }: Prefix) => length === width(address.family)
  // Two networks that have an address in common are the same if they have the same length.
  const isOther = (prefix: Prefix) => prefix.length !== chosen.network.length && contains(prefix, claim.address) && !single(prefix)
  const networks = [...node.primary, ...node.hostPrefixes].filter(isOther)
  if (networks.length === 0) return []
  const others = [...new Set(networks.map((prefix) => printPrefix(networkOf(prefix))))].sort()
  const message = `${claim.address.text} of ${claim.object.name} lies in ${others.join(' and ')} of ${node.name} too; ${printPrefix(chosen.network)} (${chosen.type}) hosts it.`
  return [problem('OverlappingNetworks', { object: claim.object.name, message, source: claim.source })]
}

/** Secondary networks serve pods of the default network alone (upstream has no path from a user-defined network to them). */
function unsupportedNetwork({ claim }: Placed, blueOf: (selector: LabelSelector) => readonly ClusterNamespace[]): readonly Problem[] {
  const { name, namespaceSelector } = claim.object
  const [first] = blueOf(namespaceSelector)
    .map((namespace) => namespace.name)
    .sort()
  if (first === undefined) return []
  const message = `${claim.address.text} of ${name} is on a secondary network, which pods of a primary user-defined network, as in namespace ${first}, do not use.`
  return [problem('UnsupportedNetwork', { object: name, message, source: claim.source })]
}

/**
 * A further network of the external bridge: what leaves through the bridge is translated by its flows, which know the egress IPs of the
 * primary network alone. ovnkube, where it places, may do otherwise.
 */
function bridgeNetwork({ cluster }: Inputs, { claim }: Placed, node: ClusterNode, { network }: Hosting): readonly Problem[] {
  const text = printPrefix(network)
  if (!node.gateway?.addresses.some((address) => printPrefix(networkOf(address)) === text)) return []
  const { name } = claim.object
  const message = `${claim.address.text} of ${name} is in ${text}, which is on the external bridge of ${node.name} and not its primary network: no pod leaves with it.`
  const remedy = 'Choose an address of the primary network, or of a network of another interface.'
  return [
    problem('UnsupportedNetwork', {
      ...(cluster.placement === 'advisory' ? { severity: 'warning' } : {}),
      object: name,
      message,
      remedy,
      source: claim.source,
    }),
  ]
}

function virtualPlatform({ facts }: Field, { claim }: Placed, node: ClusterNode): readonly Problem[] {
  if (facts.platform === null || !VIRTUAL.has(facts.platform)) return []
  const { name } = claim.object
  const message = `${claim.address.text} of ${name} is on a secondary network of ${node.name}; on ${facts.platform} OpenShift supports the primary one alone.`
  const remedy = 'Choose an address of the primary network; ovnkube places this one all the same, but nobody supports it.'
  return [problem('UnsupportedPlatform', { object: name, message, remedy, source: claim.source })]
}
