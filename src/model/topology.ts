import { type Catalog, theOne } from './catalog.js'
import { type ClusterFacts, readFacts } from './cluster-facts.js'
import type { Subnets } from './cluster-subnets.js'
import { EGRESSIP_CRD_NAME, GATEWAY_MODE_CONFIG, type KnownKind, NETWORK_CRD_NAMES, OVN_CONFIG_MAP } from './kind.js'
import { type ClusterNamespace, readNamespace } from './namespace.js'
import { type ClusterNode, readNode } from './node.js'
import { type ClusterPod, readPod } from './pod.js'
import { settleAddresses } from './pod-addresses.js'
import { type NodeProbe, readProbes } from './probe.js'
import type { Problem } from './problem.js'
import { type ReportedHost, readHostFacts } from './reported-host.js'
import { readAdvertisement } from './route-advertisements.js'
import type { SourceObject } from './source.js'
import { attachmentNetworks, readAttachment, readNetworks, type UserDefinedNetwork } from './user-defined-network.js'

export type { ClusterFacts } from './cluster-facts.js'
export type { ClusterNamespace } from './namespace.js'
export type { ClusterNode } from './node.js'
export type { CloudEgressConfig, Gateway } from './node-annotations.js'
export type { ClusterPod } from './pod.js'
export type { UserDefinedNetwork } from './user-defined-network.js'

/** A snapshot of the cluster; a value, never a client. */
export interface Topology {
  readonly nodes: readonly ClusterNode[]
  readonly namespaces: readonly ClusterNamespace[]
  readonly pods: readonly ClusterPod[]
  readonly networks: readonly UserDefinedNetwork[]
  readonly facts: ClusterFacts
  /** The Network operator's object, where the inputs have it: it configures the subnets of the cluster. */
  readonly networkOperator: SourceObject | null
  /** What the latest probe of each node found, by name; nodes without a ProbeResult are not there. */
  readonly probes: readonly NodeProbe[]
  /** What hosts are like, by name of the node; most nodes have no HostFacts. */
  readonly hosts: readonly ReportedHost[]
  /** Kind to number of objects that egretta has no use for. */
  readonly ignored: ReadonlyMap<string, number>
}

/** The topology that the objects of a catalog describe, and the subnets that its configuration objects name. */
export function readTopology(catalog: Catalog): { topology: Topology; subnets: Subnets; problems: readonly Problem[] } {
  const problems: Problem[] = []
  const take = <T>(read: { readonly problems: readonly Problem[] } & T): T => {
    for (const found of read.problems) problems.push(found)
    return read
  }
  const all = (kind: KnownKind): readonly SourceObject[] =>
    (catalog.byKind.get(kind) ?? []).flatMap((namesakes) => take(theOne(namesakes)).object ?? [])
  const configMaps = all('ConfigMap')
  const configMap = (key: string) => configMaps.find(({ namespace, name }) => `${namespace}/${name}` === key) ?? null

  const nodes = all('Node').map((object) => take(readNode(object)).node)
  const namespaces = all('Namespace').map((object) => take(readNamespace(object)).namespace)
  const attachments = all('NetworkAttachmentDefinition').map((object) => take(readAttachment(object)).attachment)
  const networkObjects = [...all('UserDefinedNetwork'), ...all('ClusterUserDefinedNetwork')]
  const advertisements = all('RouteAdvertisements').map((object) => take(readAdvertisement(object)).advertisement)
  const { networks } = take(readNetworks(networkObjects, { namespaces, nodes, attachments, advertisements }))
  const networkOf = attachmentNetworks(networkObjects, attachments)
  const pods = settleAddresses(all('Pod').map((object) => take(readPod(object, networkOf))))
  const { probes } = take(readProbes((catalog.byKind.get('ProbeResult') ?? []).flat()))
  const hosts = all('HostFacts').flatMap((object) => take(readHostFacts(object)).host ?? [])
  const networkOperator = all('Network')[0] ?? null
  const definitions = all('CustomResourceDefinition')
  const { facts, subnets } = take(
    readFacts(
      {
        operator: networkOperator,
        infrastructure: all('Infrastructure')[0] ?? null,
        gatewayModeConfig: configMap(GATEWAY_MODE_CONFIG),
        ovnConfig: configMap(OVN_CONFIG_MAP),
        version: all('ClusterVersion')[0] ?? null,
        egressIPDefinition: definitions.find(({ name }) => name === EGRESSIP_CRD_NAME) ?? null,
      },
      {
        defaultNetworkAdvertised: advertisements.some(({ defaultNetwork }) => defaultNetwork),
        userDefinedNetworks: networkObjects.length > 0 || definitions.some(({ name }) => NETWORK_CRD_NAMES.includes(name)),
      },
    ),
  )
  return {
    topology: { nodes, namespaces, pods, networks, facts, networkOperator, probes, hosts, ignored: catalog.ignored },
    subnets,
    problems,
  }
}
