import type { SourceObject } from './source.js'

/** Kinds that egretta reads, with their API group. A kind of the same name in another group is another kind. */
const GROUPS = {
  EgressIP: 'k8s.ovn.org',
  UserDefinedNetwork: 'k8s.ovn.org',
  ClusterUserDefinedNetwork: 'k8s.ovn.org',
  RouteAdvertisements: 'k8s.ovn.org',
  Node: '',
  Namespace: '',
  Pod: '',
  ConfigMap: '',
  NetworkAttachmentDefinition: 'k8s.cni.cncf.io',
  CustomResourceDefinition: 'apiextensions.k8s.io',
  Network: 'operator.openshift.io',
  Infrastructure: 'config.openshift.io',
  ClusterVersion: 'config.openshift.io',
  Cluster: 'egretta.dev',
  ProbeResult: 'egretta.dev',
  HostFacts: 'egretta.dev',
} as const

/** apiVersion of the kind EgressIP. */
export const EGRESSIP_VERSION = 'k8s.ovn.org/v1'

export type KnownKind = keyof typeof GROUPS

const NAMESPACED: readonly KnownKind[] = ['UserDefinedNetwork', 'Pod', 'ConfigMap', 'NetworkAttachmentDefinition']

/** What no two objects of a kind share: the name, of a namespaced kind with the namespace before it. */
export const nameKey = (kind: KnownKind, { namespace, name }: SourceObject): string =>
  NAMESPACED.includes(kind) ? `${namespace ?? 'default'}/${name}` : name

/** The ConfigMaps that are read, as `<namespace>/<name>`. */
export const GATEWAY_MODE_CONFIG = 'openshift-network-operator/gateway-mode-config'
export const OVN_CONFIG_MAP = 'ovn-kubernetes/ovn-config'

/** The CustomResourceDefinitions that are of use: one is read, the others show that the cluster has user-defined networks. */
export const EGRESSIP_CRD_NAME = 'egressips.k8s.ovn.org'
export const NETWORK_CRD_NAMES: readonly string[] = ['userdefinednetworks.k8s.ovn.org', 'clusteruserdefinednetworks.k8s.ovn.org']

/** The kind of an object if egretta has a use for it, else null. */
export function knownKind(object: SourceObject): KnownKind | null {
  if (!Object.hasOwn(GROUPS, object.kind)) return null
  const kind = object.kind as KnownKind
  const slash = object.apiVersion.indexOf('/')
  if (GROUPS[kind] !== object.apiVersion.slice(0, Math.max(slash, 0))) return null
  if (kind === 'ConfigMap' && ![GATEWAY_MODE_CONFIG, OVN_CONFIG_MAP].includes(`${object.namespace}/${object.name}`)) return null
  if (kind === 'CustomResourceDefinition' && ![EGRESSIP_CRD_NAME, ...NETWORK_CRD_NAMES].includes(object.name)) return null
  return kind
}
