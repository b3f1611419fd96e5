import type { Address, Prefix } from './address.js'
import { describe, listAt, objectAt, type Path, valueAt } from './json.js'
import { readLabels } from './labels.js'
import {
  type CloudEgressConfig,
  type Fault,
  type Gateway,
  readAddressList,
  readCloudConfig,
  readGateway,
  readHostAddresses,
  readInternalIPs,
  readNetworkIds,
  readNodeSubnets,
  readPrefixList,
  readPrefixPair,
} from './node-annotations.js'
import { type Problem, problem } from './problem.js'
import type { Labels } from './selector.js'
import { type SourceObject, subject } from './source.js'

export interface ClusterNode {
  readonly name: string
  readonly labels: Labels
  readonly ready: boolean
  /** Why the node's annotations do not parse; null when they do. Such a node hosts nothing. */
  readonly invalid: string | null
  /** node-primary-ifaddr, at most one per family. */
  readonly primary: readonly Prefix[]
  /** host-cidrs; for older nodes the host-addresses as /32 and /128. */
  readonly hostPrefixes: readonly Prefix[]
  readonly internalIPs: readonly Address[]
  /** Egress IPs that the node says it holds: secondary-host-egress-ips and bridge-egress-ips. */
  readonly heldEgressIPs: readonly Address[]
  readonly gateway: Gateway | null
  readonly cloud: CloudEgressConfig | null
  /** node-subnets: network name to the node's pod subnets. */
  readonly podSubnets: ReadonlyMap<string, readonly Prefix[]>
  readonly masqueradeSubnets: readonly Prefix[]
  /** network-ids (older nodes): network name to id. */
  readonly networkIds: ReadonlyMap<string, number>
  readonly source: SourceObject
}

const OVN = 'k8s.ovn.org/'

/** The masquerade subnets of a node. */
export const MASQUERADE_ANNOTATION = `${OVN}node-masquerade-subnet`

/**
 * A node as its labels, annotations and status say. An absent annotation hosts nothing; each malformed one is an
 * InvalidNode problem, and what can be read of it still counts as an address of the host.
 */
export function readNode(object: SourceObject): { node: ClusterNode; problems: readonly Problem[] } {
  const problems: Problem[] = []
  let invalid: string | null = null
  const faultAt =
    (what: string, path: Path): Fault =>
    (message) => {
      invalid ??= `${what}: ${message}`
      problems.push(
        problem('InvalidNode', { object: subject(object), message: `Node ${object.name}, ${what}: ${message}.`, source: object.at(path) }),
      )
    }

  const annotations = objectAt(object.value, ['metadata', 'annotations'])
  /** Reads one annotation; `none` when it is absent, empty, or no JSON. */
  const annotation = <T>(key: string, none: T, read: (value: unknown, fault: Fault) => T): T => {
    const text = Object.hasOwn(annotations, key) ? annotations[key] : undefined
    if (text === undefined || text === null || text === '') return none
    const fault = faultAt(`annotation ${key}`, ['metadata', 'annotations', key])
    if (typeof text !== 'string') {
      fault(`it must be JSON in a text; it is ${describe(text)}`)
      return none
    }
    const parsed = parseJson(text)
    if (parsed === undefined) {
      fault('it is not valid JSON')
      return none
    }
    return read(parsed, fault)
  }

  const hasCidrs = typeof annotations[`${OVN}host-cidrs`] === 'string'
  const read = {
    primary: annotation(`${OVN}node-primary-ifaddr`, [], readPrefixPair),
    hostPrefixes: hasCidrs ? annotation(`${OVN}host-cidrs`, [], readPrefixList) : annotation(`${OVN}host-addresses`, [], readHostAddresses),
    heldEgressIPs: [
      ...annotation(`${OVN}secondary-host-egress-ips`, [], readAddressList),
      ...annotation(`${OVN}bridge-egress-ips`, [], readAddressList),
    ],
    gateway: annotation(`${OVN}l3-gateway-config`, null, (value, fault) => readGateway(value, object.name, fault)),
    cloud: annotation('cloud.network.openshift.io/egress-ipconfig', null, readCloudConfig),
    podSubnets: annotation<ClusterNode['podSubnets']>(`${OVN}node-subnets`, new Map(), readNodeSubnets),
    masqueradeSubnets: annotation(MASQUERADE_ANNOTATION, [], readPrefixPair),
    networkIds: annotation<ClusterNode['networkIds']>(`${OVN}network-ids`, new Map(), readNetworkIds),
    internalIPs: readInternalIPs(listAt(object.value, ['status', 'addresses']), (index) =>
      faultAt('status.addresses', ['status', 'addresses', index, 'address']),
    ),
    ready: isReady(object, faultAt),
  }
  const { labels, problems: labelProblems } = readLabels(object)
  return { node: { name: object.name, labels, ...read, invalid, source: object }, problems: [...problems, ...labelProblems] }
}

function isReady(object: SourceObject, faultAt: (what: string, path: Path) => Fault): boolean {
  const conditions = listAt(object.value, ['status', 'conditions'])
  const index = conditions.findIndex((condition) => valueAt(condition, ['type']) === 'Ready')
  const status = valueAt(conditions[index], ['status'])
  if (index >= 0 && typeof status !== 'string') {
    faultAt('condition Ready', ['status', 'conditions', index, 'status'])(
      `its status is "True", "False" or "Unknown", in quotes; it is ${describe(status)}`,
    )
  }
  return status === 'True'
}

/** Undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
