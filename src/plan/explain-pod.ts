import { type Address, compareAddresses, parseAddress, printPrefix } from '../model/address.js'
import type { Assignment, AssignmentChange, NetworkType, Placement } from '../model/assignment.js'
import type { EgressIPIntent } from '../model/egressip.js'
import { hosting } from '../model/hosting.js'
import type { Inputs } from '../model/inputs.js'
import { type PodExclusion, podExclusion } from '../model/pod.js'
import { compareObjects } from '../model/precedence.js'
import { matches } from '../model/selector.js'
import type { ClusterPod } from '../model/topology.js'
import type { Departure, ExplainedPod, NotSelectedCode, PodReference } from './explanation.js'
import { few } from './style.js'

/** An address of an object that is on a node at the end of the plan. */
export interface Live {
  readonly address: Address
  readonly node: string
  readonly network: string | null
  readonly networkType: NetworkType | null
  readonly change: AssignmentChange
}

/** Who decides the address of a pod, and which addresses each object has. */
export interface Deciding {
  /** The objects that select a pod, the one that decides first: the older, then the first by name. */
  objectsOf(pod: ClusterPod): readonly EgressIPIntent[]
  /** The addresses of an object that are on a node, IPv4 first, then by value. */
  liveOf(object: string): readonly Live[]
}

/** Indexes the objects of the intent and those that only the cluster has. */
export function deciding(inputs: Inputs, placement: Placement): Deciding {
  const { intent, topology } = inputs
  const objects = [...intent.objects, ...intent.foreign].sort(compareObjects)
  const labels = new Map(topology.namespaces.map((namespace) => [namespace.name, namespace.labels]))
  const byNamespace = new Map<string, readonly EgressIPIntent[]>()
  const inNamespace = (name: string): readonly EgressIPIntent[] => {
    const known = byNamespace.get(name)
    if (known) return known
    const own = labels.get(name)
    const found = own === undefined ? [] : objects.filter(({ namespaceSelector }) => matches(namespaceSelector, own))
    byNamespace.set(name, found)
    return found
  }
  const live = liveAddresses(inputs, placement)
  return {
    objectsOf: (pod) =>
      podExclusion(pod) === null ? inNamespace(pod.namespace).filter(({ podSelector }) => matches(podSelector, pod.labels)) : [],
    liveOf: (object) => live.get(object) ?? [],
  }
}

function liveAddresses({ intent, topology }: Inputs, placement: Placement): ReadonlyMap<string, readonly Live[]> {
  const live = new Map<string, Live[]>()
  const taken = new Set<string>()
  const add = (object: string, egressIP: string, rest: Omit<Live, 'address'>) => {
    const address = parseAddress(egressIP)
    if (!address) return
    taken.add(egressIP)
    live.set(object, [...(live.get(object) ?? []), { address, ...rest }])
  }
  const onNode = (one: Assignment): one is Assignment & { readonly node: string } => one.node !== null
  for (const { object, egressIP, node, network, networkType, change } of placement.assignments.filter(onNode))
    add(object, egressIP, { node, network, networkType, change })
  const nodes = new Map(topology.nodes.map((node) => [node.name, node]))
  for (const { name, status } of intent.foreign) {
    for (const [egressIP, node] of status) {
      const [address, host] = [parseAddress(egressIP), nodes.get(node)]
      const network = address && host ? hosting(host, topology.facts, address) : null
      if (taken.has(egressIP)) continue
      add(name, egressIP, { node, network: network && printPrefix(network.network), networkType: network?.type ?? null, change: 'keep' })
    }
  }
  for (const list of live.values()) list.sort((a, b) => compareAddresses(a.address, b.address))
  return live
}

export const podReference = ({ namespace, name, network }: ClusterPod): PodReference => ({ pod: `${namespace}/${name}`, network })

/** Pods of a primary user-defined network have no path to an address on a secondary network. */
export const canUse = (pod: ClusterPod, { address, networkType }: Pick<Live, 'address' | 'networkType'>): boolean =>
  pod.addresses.some(({ family }) => family === address.family) && (pod.network === 'default' || networkType !== 'secondary')

/** With which addresses a pod leaves the cluster, through which object, and if none selects it, why. */
export function explainPod(inputs: Inputs, { objectsOf, liveOf }: Deciding, pod: ClusterPod): ExplainedPod {
  const [winner, ...others] = objectsOf(pod)
  const silent = podExclusion(pod)
  const live = winner ? liveOf(winner.name) : []
  const departures = silent === null ? [...new Set(pod.addresses.map(({ family }) => family))].map((family) => departure(family)) : []
  function departure(family: 4 | 6): Departure {
    const usable = live.filter((one) => one.address.family === family && canUse(pod, one))
    return {
      family,
      address: pod.addresses.find((own) => own.family === family)?.text ?? '',
      egressIPs: usable.map(({ address, node, change }) => ({ egressIP: address.text, node, change })),
      nodeAddress: addressOfNode(inputs, pod.node, family),
    }
  }
  return {
    pod: `${pod.namespace}/${pod.name}`,
    node: pod.node,
    network: pod.network,
    phase: pod.phase,
    object: winner?.name ?? null,
    others: others.map(({ name }) => name),
    notSelected: winner ? null : notSelected(inputs, pod),
    departures: departures.sort((a, b) => a.family - b.family),
  }
}

/** The address of a node that its pods without egress IP leave with. */
export function addressOfNode({ topology }: Inputs, name: string | null, family: 4 | 6): string | null {
  const node = topology.nodes.find((one) => one.name === name)
  if (!node) return null
  const own = [...[...(node.gateway?.addresses ?? []), ...node.primary].map(({ address }) => address), ...node.internalIPs]
  return own.find((address) => address.family === family)?.text ?? null
}

const EXCLUSIONS: Readonly<Record<PodExclusion, string>> = {
  HostNetwork: 'it is on the network of its host, which no EgressIP touches',
  Completed: 'it has completed; its address may belong to another pod by now',
  Failed: 'it has failed; its address may belong to another pod by now',
  NoAddress: 'it has no address yet',
}

function notSelected({ intent, topology }: Inputs, pod: ClusterPod): { readonly code: NotSelectedCode; readonly message: string } {
  const silent = podExclusion(pod)
  if (silent) return { code: silent, message: EXCLUSIONS[silent] }
  const namespace = topology.namespaces.find(({ name }) => name === pod.namespace)
  if (!namespace)
    return { code: 'UnknownNamespace', message: `the inputs do not have its namespace ${pod.namespace}, so no selector can match it` }
  const near = [...intent.objects, ...intent.foreign].filter((object) => matches(object.namespaceSelector, namespace.labels))
  if (near.length === 0) return { code: 'NoNamespaceMatch', message: `no namespaceSelector matches its namespace ${pod.namespace}` }
  const names = few(near.map(({ name }) => name).sort())
  const one = near.length === 1
  return {
    code: 'NoPodMatch',
    message: `${names} ${one ? 'selects its namespace, but its' : 'select its namespace, but their'} podSelector does not match its labels`,
  }
}
