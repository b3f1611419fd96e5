import { type Family, parseAddress } from '../model/address.js'
import { canonicalJson } from '../model/bundle.js'
import { cloudOf } from '../model/hosting.js'
import type { Inputs } from '../model/inputs.js'
import type { EgressIPIntent } from '../model/intent.js'
import { type Problem, problem } from '../model/problem.js'
import { matches } from '../model/selector.js'
import type { ClusterNode } from '../model/topology.js'
import type { Field, Held } from './eligibility.js'
import type { Placed } from './placed.js'

/** Most egress IPs of a node that the provider allows, whatever the node says of itself (seed 001). */
const LIMITS: Readonly<Record<string, { readonly limit: number; readonly what: string }>> = {
  GCP: { limit: 100, what: 'GCP allows 100 alias addresses on a node' },
  Azure: { limit: 256, what: 'Azure allows 256 addresses on a network interface' },
}

const CONTROL_PLANE = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']
const CONFIG = ['metadata', 'annotations', 'cloud.network.openshift.io/egress-ipconfig']

/** What a cloud makes of a placement. */
export function cloudAdvice(inputs: Inputs, field: Field, placed: readonly Placed[], held: readonly Held[]): readonly Problem[] {
  const selecting = selectingObjects(inputs.intent.objects, field.nodes)
  return [
    ...field.nodes.flatMap((node, index) => {
      const object = selecting[index]
      if (!object) return []
      return [...unknownCapacity(field, node), ...providerLimit(field, node, held[index]), ...controlPlane(field, node, object)]
    }),
    ...floatingIPs(inputs, field, placed),
  ]
}

/** For each node the first object by name whose egressNodeSelector matches it, if any: the egress nodes. */
function selectingObjects(objects: readonly EgressIPIntent[], nodes: readonly ClusterNode[]): readonly (EgressIPIntent | null)[] {
  const found: (EgressIPIntent | null)[] = nodes.map(() => null)
  const tried = new Set<string>()
  let left = nodes.map((_, index) => index)
  for (const object of [...objects].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const key = canonicalJson(object.egressNodeSelector)
    if (tried.has(key)) continue
    tried.add(key)
    left = left.filter((index) => {
      if (!matches(object.egressNodeSelector, (nodes[index] as ClusterNode).labels)) return true
      found[index] = object
      return false
    })
  }
  return found
}

/** A node whose cloud gives it a subnet for egress IPs, but for a family of it no number. */
function unknownCapacity({ facts }: Field, node: ClusterNode): readonly Problem[] {
  const cloud = cloudOf(node, facts)
  if (!cloud || cloud.capacity.ip !== null) return []
  const families = cloud.networks.map(({ address }) => address.family)
  const unknown = ([4, 6] as const).filter((family) => families.includes(family) && capacityOf(cloud.capacity, family) === null)
  if (unknown.length === 0) return []
  const which = unknown.length === 2 ? 'egress IPs' : `IPv${unknown[0]} egress IPs`
  const message = `${node.name} does not say how many ${which} its cloud lets it take; it counts as having no limit.`
  return [problem('CapacityUnknown', { object: `Node/${node.name}`, message, source: node.source.at(CONFIG) })]
}

const capacityOf = ({ ipv4, ipv6 }: { readonly ipv4: number | null; readonly ipv6: number | null }, family: Family): number | null =>
  family === 4 ? ipv4 : ipv6

/** A node that holds, or says that it can take, more than its provider allows. */
function providerLimit({ facts }: Field, node: ClusterNode, held: Held | undefined): readonly Problem[] {
  const cloud = cloudOf(node, facts)
  const provider = LIMITS[facts.platform ?? '']
  if (!cloud || !provider) return []
  const holds = (held?.ipv4 ?? 0) + (held?.ipv6 ?? 0)
  const { ip, ipv4, ipv6 } = cloud.capacity
  const says = Math.max(ip ?? 0, ipv4 ?? 0, ipv6 ?? 0)
  if (Math.max(holds, says) <= provider.limit) return []
  const what = holds > provider.limit ? `holds ${holds} egress IPs` : `says that it can take ${says} egress IPs`
  const message = `${node.name} ${what}, but ${provider.what}.`
  return [problem('ProviderLimit', { object: `Node/${node.name}`, message, source: node.source.at(CONFIG) })]
}

/** Seed 001: "not supported on a cluster provisioned on AWS". The cloud would take the address all the same. */
function controlPlane({ facts }: Field, node: ClusterNode, { name }: EgressIPIntent): readonly Problem[] {
  if (facts.platform !== 'AWS' || !CONTROL_PLANE.some((label) => label in node.labels)) return []
  const message = `${node.name} is a control-plane node, on which OpenShift does not support egress IPs on AWS, and egressNodeSelector of ${name} matches it.`
  const remedy = 'Take the label that egressNodeSelector matches off the control-plane node, or let it match other nodes.'
  return [problem('UnsupportedPlatform', { object: `Node/${node.name}`, message, remedy, source: node.source.at(['metadata', 'labels']) })]
}

/** OpenStack removes the Neutron port of an address that leaves its node, and cannot while a floating IP is bound to it (seed 001). */
function floatingIPs({ intent }: Inputs, { facts, nodes }: Field, placed: readonly Placed[]): readonly Problem[] {
  if (facts.platform !== 'OpenStack') return []
  const moves = placed.flatMap(({ claim: { object, address, from, source }, index }) => {
    const node = (nodes[index] as ClusterNode).name
    if (from === null || from === node) return []
    const message = `${address.text} of ${object.name} leaves ${from} for ${node}: a floating IP of its port egressip-${address.text} is lost, and while one is bound the move is blocked.`
    return [problem('FloatingIPLoss', { object: object.name, message, source })]
  })
  const asked = new Set(intent.objects.flatMap(({ name, addresses }) => addresses.map(({ address }) => `${name} ${address?.text}`)))
  const sourceOf = (name: string) => [...intent.objects, ...intent.gone].find((object) => object.name === name)?.source.at() ?? null
  const removals = intent.removed
    .filter(({ object, egressIP }) => parseAddress(egressIP) && !asked.has(`${object} ${egressIP}`))
    .map(({ object, egressIP, node }) => {
      const message = `${egressIP} of ${object} leaves ${node}: a floating IP of its port egressip-${egressIP} is lost, and while one is bound the removal is blocked.`
      return problem('FloatingIPLoss', {
        object,
        message,
        source: sourceOf(object),
        remedy: 'Unassign the floating IP from the reservation port first.',
      })
    })
  return [...moves, ...removals]
}
