import { compareAddresses, networkOf, type Prefix, parsePrefix } from './address.js'
import { describe, isObject, listAt, objectAt, type Path, textAt, valueAt, withoutNulls } from './json.js'
import { readLabels } from './labels.js'
import type { ClusterNamespace } from './namespace.js'
import { type ClusterNode, parseJson } from './node.js'
import { readNetworkId } from './node-annotations.js'
import type { Position, Problem } from './problem.js'
import { isAdvertised, type RouteAdvertisement } from './route-advertisements.js'
import { isSelector, matches } from './selector.js'
import { malformed, type SourceObject, subject } from './source.js'

/** A primary user-defined network. */
export interface UserDefinedNetwork {
  /** Network name: `<namespace>_<name>` or `cluster_udn_<name>`. */
  readonly network: string
  /** `UserDefinedNetwork/<namespace>/<name>` or `ClusterUserDefinedNetwork/<name>`. */
  readonly for: string
  /** From 1; null when no NetworkAttachmentDefinition and no node says it. */
  readonly id: number | null
  readonly topology: string
  readonly role: string
  readonly namespaces: readonly string[]
  /** Its pod subnets in the whole cluster, without host bits, sorted. */
  readonly subnets: readonly Prefix[]
  /** Whether pods of different nodes speak through tunnels; without, through the fabric. */
  readonly overlay: boolean
  /** Whether its pod subnets are advertised: a RouteAdvertisements object selects it, or it could not do without. */
  readonly advertised: boolean
  readonly source: Position
}

/** A NetworkAttachmentDefinition: which network it attaches to, and the network's id where it says it. */
export interface Attachment {
  /** `<namespace>/<name>`, as pods name it. */
  readonly key: string
  readonly network: string | null
  readonly id: number | null
}

const ID = 'k8s.ovn.org/network-id'
const NAME = 'k8s.ovn.org/network-name'

/** Reads a NetworkAttachmentDefinition. A spec.config that is no JSON, or an id that is none, is InvalidObject. */
export function readAttachment(object: SourceObject): { attachment: Attachment; problems: readonly Problem[] } {
  const problems: Problem[] = []
  const refuse = (path: readonly string[], message: string) => {
    problems.push(malformed(object, path, message))
  }
  const text = textAt(object.value, ['spec', 'config'])
  const config = text === null ? undefined : parseJson(text)
  if (text !== null && !isObject(config)) refuse(['spec', 'config'], 'spec.config is not a JSON object')
  const annotations = objectAt(object.value, ['metadata', 'annotations'])
  const labels = objectAt(object.value, ['metadata', 'labels'])
  const id = readNetworkId(annotations[ID])
  if (annotations[ID] !== undefined && id === null) refuse(['metadata', 'annotations', ID], `the annotation ${ID} is not a network id`)
  return {
    attachment: {
      key: `${object.namespace ?? 'default'}/${object.name}`,
      network: textAt(config, ['name']) ?? textAt(annotations, [NAME]) ?? textAt(labels, [NAME]),
      id,
    },
    problems,
  }
}

interface Surroundings {
  readonly namespaces: readonly ClusterNamespace[]
  readonly nodes: readonly ClusterNode[]
  readonly attachments: readonly Attachment[]
  readonly advertisements: readonly RouteAdvertisement[]
}

/**
 * The primary networks among UserDefinedNetworks and ClusterUserDefinedNetworks, sorted by network name. The id of a network
 * stands on its NetworkAttachmentDefinition, on older clusters on the nodes. Only a ClusterUserDefinedNetwork can be without overlay
 * (spec.network.transport) or be advertised. A subnet that is none is an InvalidObject warning and left out.
 */
export function readNetworks(
  objects: readonly SourceObject[],
  around: Surroundings,
): { networks: readonly UserDefinedNetwork[]; problems: readonly Problem[] } {
  const problems: Problem[] = []
  const networks = objects.flatMap((object): readonly UserDefinedNetwork[] => {
    const isWide = object.kind === 'ClusterUserDefinedNetwork'
    const path = isWide ? ['spec', 'network'] : ['spec']
    const spec = objectAt(object.value, path)
    const topology = textAt(spec, ['topology']) ?? ''
    const layer = topology.toLowerCase()
    const role = textAt(spec, [layer, 'role']) ?? ''
    if (role !== 'Primary') return []
    const { labels, problems: labelProblems } = readLabels(object)
    const { subnets, problems: subnetProblems } = readSubnets(object, [...path, layer, 'subnets'])
    problems.push(...labelProblems, ...subnetProblems)
    const namespaces = namespacesOf(object, around.namespaces)
    const overlay = !isWide || textAt(spec, ['transport']) !== 'NoOverlay'
    const network = networkName(object)
    const id = idOf(
      network,
      namespaces.map((namespace) => `${namespace}/${object.name}`),
      around,
    )
    return [
      {
        network,
        for: subject(object),
        id,
        topology,
        role,
        namespaces,
        subnets,
        overlay,
        advertised: !overlay || (isWide && isAdvertised(around.advertisements, labels)),
        source: object.at(),
      },
    ]
  })
  return { networks: networks.sort((a, b) => (a.network < b.network ? -1 : 1)), problems }
}

/** Subnets as Layer3 (`{cidr, hostSubnet}`) and Layer2 (a text) list them. */
function readSubnets(object: SourceObject, path: Path): { subnets: readonly Prefix[]; problems: readonly Problem[] } {
  const problems: Problem[] = []
  const subnets = listAt(object.value, path).flatMap((item, index) => {
    const text = isObject(item) ? item.cidr : item
    const prefix = typeof text === 'string' ? parsePrefix(text) : undefined
    if (prefix) return [networkOf(prefix)]
    problems.push(malformed(object, isObject(item) ? [...path, index, 'cidr'] : [...path, index], `${describe(text)} is not a subnet`))
    return []
  })
  return { subnets: subnets.sort((a, b) => compareAddresses(a.address, b.address) || a.length - b.length), problems }
}

/** `<namespace>_<name>` of a UserDefinedNetwork, `cluster_udn_<name>` of a ClusterUserDefinedNetwork. */
export const networkName = (object: SourceObject): string =>
  object.kind === 'UserDefinedNetwork' ? `${object.namespace ?? 'default'}_${object.name}` : `cluster_udn_${object.name}`

/** Only a namespace with the label can have a primary network of its own. */
const LABEL = 'k8s.ovn.org/primary-user-defined-network'

function namespacesOf(object: SourceObject, namespaces: readonly ClusterNamespace[]): readonly string[] {
  if (object.kind === 'UserDefinedNetwork') return [object.namespace ?? 'default']
  const selector = withoutNulls(valueAt(object.value, ['spec', 'namespaceSelector']))
  if (!isSelector(selector)) return []
  return namespaces.filter(({ labels }) => Object.hasOwn(labels, LABEL) && matches(selector, labels)).map(({ name }) => name)
}

/** The id that the network's attachments say, else the nodes (older clusters). 0 is the id of the default network, and of no other. */
function idOf(network: string, keys: readonly string[], { attachments, nodes }: Surroundings): number | null {
  const own = attachments.filter(
    (attachment) => attachment.network === network || (attachment.network === null && keys.includes(attachment.key)),
  )
  const least = (ids: readonly (number | null)[]): number | null => {
    const known = ids.filter((id) => id !== null).filter((id) => id !== 0)
    return known.length === 0 ? null : Math.min(...known)
  }
  return least(own.map(({ id }) => id)) ?? least(nodes.map(({ networkIds }) => networkIds.get(network) ?? null))
}

/**
 * Name of the network that a pod's attachment, `<namespace>/<name>`, leads to: as the NetworkAttachmentDefinition says, else as the
 * user-defined network of that name, which the attachment is named after.
 */
export function attachmentNetworks(objects: readonly SourceObject[], attachments: readonly Attachment[]): (key: string) => string {
  const said = new Map(attachments.flatMap(({ key, network }) => (network === null ? [] : [[key, network] as const])))
  const wide = new Map(
    objects.filter(({ kind }) => kind === 'ClusterUserDefinedNetwork').map((object) => [object.name, networkName(object)]),
  )
  return (key) => said.get(key) ?? wide.get(key.slice(key.indexOf('/') + 1)) ?? key.replace('/', '_')
}
