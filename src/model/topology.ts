import type { Address, Prefix } from './address.js'
import type { Labels } from './selector.js'
import type { SourceObject } from './source.js'

export type GatewayMode = 'shared' | 'local'

/** The external bridge of a node: annotation k8s.ovn.org/l3-gateway-config. */
export interface Gateway {
  readonly mode: GatewayMode
  /** From bridge-id, else (older nodes) from interface-id, else null: then Cluster.spec.bridge decides. */
  readonly bridge: string | null
  readonly mac: string
  readonly addresses: readonly Prefix[]
  readonly nextHops: readonly Address[]
  /** 0 is untagged. */
  readonly vlan: number
}

/** Annotation cloud.network.openshift.io/egress-ipconfig (seed 001). A capacity that is absent is no limit, 0 is none. */
export interface CloudEgressConfig {
  readonly interface: string
  readonly networks: readonly Prefix[]
  readonly capacity: { readonly ip: number | null; readonly ipv4: number | null; readonly ipv6: number | null }
}

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

export interface ClusterNamespace {
  readonly name: string
  readonly labels: Labels
}

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

/** A primary user-defined network. */
export interface UserDefinedNetwork {
  /** Network name: `<namespace>_<name>` or `cluster_udn_<name>`. */
  readonly network: string
  /** `UserDefinedNetwork/<namespace>/<name>` or `ClusterUserDefinedNetwork/<name>`. */
  readonly for: string
  /** Null when no NetworkAttachmentDefinition and no node says it. */
  readonly id: number | null
  readonly topology: string
  readonly role: string
  readonly namespaces: readonly string[]
}

/** Facts of the whole cluster that its own configuration objects say. */
export interface ClusterFacts {
  /** Infrastructure platformStatus.type; null when unknown. */
  readonly platform: string | null
  readonly podSubnets: readonly Prefix[]
  readonly serviceSubnets: readonly Prefix[]
  /** From the Network operator's gatewayConfig or the gateway-mode-config ConfigMap; null when neither says it. */
  readonly gatewayMode: GatewayMode | null
  /** 0 switches the reachability check off; null when not said (upstream's default is 1 second). */
  readonly reachabilityTimeout: number | null
  /** The object that shows that ovnkube's cluster-manager decides the placement, or null. */
  readonly placedByOvnkube: string | null
}

/** A snapshot of the cluster; a value, never a client. */
export interface Topology {
  readonly nodes: readonly ClusterNode[]
  readonly namespaces: readonly ClusterNamespace[]
  readonly pods: readonly ClusterPod[]
  readonly networks: readonly UserDefinedNetwork[]
  readonly facts: ClusterFacts
  /** Kind to number of objects that egretta has no use for. */
  readonly ignored: ReadonlyMap<string, number>
}
