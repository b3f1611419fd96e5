import { type Address, parseAddress } from './address.js'
import { POD_NETWORKS } from './excerpt.js'
import { describe, isObject, listAt, objectAt, type Path, textAt, valueAt } from './json.js'
import { readLabels } from './labels.js'
import { parseJson } from './node.js'
import type { Problem } from './problem.js'
import type { Labels } from './selector.js'
import { malformed, type SourceObject } from './source.js'

export interface ClusterPod {
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
  readonly node: string | null
  readonly hostNetwork: boolean
  readonly phase: string
  /** Addresses on the network that carries its traffic: the primary user-defined network's where there is one, else the default network's. */
  readonly addresses: readonly Address[]
  /** Name of that network; `default` for the default network. */
  readonly network: string
}

/** Why no EgressIP speaks for a pod, whatever its labels (seed 003). */
export type PodExclusion = 'HostNetwork' | 'Completed' | 'Failed' | 'NoAddress'

/** The first reason why a pod is never selected; null where it can be. */
export function podExclusion({ hostNetwork, phase, addresses }: ClusterPod): PodExclusion | null {
  if (hostNetwork) return 'HostNetwork'
  if (phase === 'Succeeded') return 'Completed'
  if (phase === 'Failed') return 'Failed'
  return addresses.length === 0 ? 'NoAddress' : null
}

/**
 * A pod, with its addresses on the network that carries its traffic. `networkOf` turns the key of a
 * NetworkAttachmentDefinition, `<namespace>/<name>`, into a network name. `created` is when it was made, in milliseconds since 1970.
 * What cannot be read of its addresses is an InvalidObject warning.
 */
export function readPod(
  object: SourceObject,
  networkOf: (key: string) => string,
): { pod: ClusterPod; created: number | null; problems: readonly Problem[] } {
  const { labels, problems: labelProblems } = readLabels(object)
  const problems: Problem[] = []
  const refuse = (path: Path, message: string) => {
    problems.push(malformed(object, path, message))
  }
  const primary = primaryNetwork(object, refuse)
  const addresses = primary
    ? readAddresses(primary.texts, ['metadata', 'annotations', POD_NETWORKS], refuse)
    : readAddresses(statusAddresses(object), ['status'], refuse)
  const pod: ClusterPod = {
    namespace: object.namespace ?? 'default',
    name: object.name,
    labels,
    node: textAt(object.value, ['spec', 'nodeName']),
    hostNetwork: valueAt(object.value, ['spec', 'hostNetwork']) === true,
    phase: textAt(object.value, ['status', 'phase']) ?? '',
    addresses,
    network: primary ? networkOf(primary.key) : 'default',
  }
  const time = textAt(object.value, ['metadata', 'creationTimestamp'])
  const created = time === null ? Number.NaN : Date.parse(time)
  return {
    pod,
    created: Number.isNaN(created) ? null : created,
    problems: problems.length > 0 ? [...labelProblems, ...problems] : labelProblems,
  }
}

function readAddresses(texts: readonly unknown[], path: Path, refuse: (path: Path, message: string) => void): readonly Address[] {
  const addresses: Address[] = []
  for (const text of texts) {
    const address = typeof text === 'string' ? parseAddress(withoutLength(text)) : undefined
    if (address) addresses.push(address)
    else refuse(path, `${describe(text)} is not an address`)
  }
  return addresses
}

/** `10.128.0.5` of `10.128.0.5/23` */
function withoutLength(text: string): string {
  const slash = text.indexOf('/')
  return slash < 0 ? text : text.slice(0, slash)
}

function statusAddresses(object: SourceObject): readonly unknown[] {
  const listed = listAt(object.value, ['status', 'podIPs']).map((entry) => valueAt(entry, ['ip']))
  const single = textAt(object.value, ['status', 'podIP'])
  return listed.length > 0 || single === null ? listed : [single]
}

/** The attachment to a primary user-defined network, if the pod has one. */
function primaryNetwork(
  object: SourceObject,
  refuse: (path: Path, message: string) => void,
): { readonly key: string; readonly texts: readonly unknown[] } | null {
  const text = objectAt(object.value, ['metadata', 'annotations'])[POD_NETWORKS]
  if (text === undefined || text === null || text === '') return null
  const networks = typeof text === 'string' ? parseJson(text) : undefined
  if (!isObject(networks)) {
    refuse(['metadata', 'annotations', POD_NETWORKS], `the annotation ${POD_NETWORKS} is not a JSON object`)
    return null
  }
  const key = Object.keys(networks)
    .sort()
    .find((name) => name !== 'default' && valueAt(networks, [name, 'role']) === 'primary')
  if (key === undefined) return null
  const listed = listAt(networks, [key, 'ip_addresses'])
  const single = textAt(networks, [key, 'ip_address'])
  return { key, texts: listed.length > 0 || single === null ? listed : [single] }
}
