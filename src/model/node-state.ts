import type { Address, Prefix } from './address.js'
import type { GatewayMode } from './node-annotations.js'

/**
 * What one node must hold, in no host's language. Every list is sorted. `for` names the object that an entry comes from:
 * `EgressIP/eip-a`, `Node/node-a`, `UserDefinedNetwork/blue/net`, `ClusterUserDefinedNetwork/red`.
 */
export interface NodeState {
  readonly node: string
  readonly bridge: string
  /** Device with the guard's hooks: a device name, or null for the uplink of the bridge, which only the host knows. */
  readonly guardDevice: string | null
  /** The node's own addresses: the guard never silences them. */
  readonly nodeAddresses: readonly Address[]
  /** Egress IPs of the primary network, on the bridge. */
  readonly egressAddresses: readonly { readonly address: Address; readonly interface: string; readonly for: string }[]
  /** The host masquerade address of each family, on the bridge, with the length of the masquerade subnet (seed 002). */
  readonly masqueradeAddresses: readonly { readonly address: Prefix; readonly interface: string; readonly for: string }[]
  /** Permanent neighbors for masquerade addresses (seed 002), and on the management port for the gateway of the node's pods. */
  readonly neighbors: readonly { readonly address: Address; readonly mac: string; readonly interface: string; readonly for: string }[]
  /** Networks whose patch port must not announce stale addresses: today the default one (seed 000). */
  readonly announcing: readonly string[]
  /** What the shutdown guard silences on the guard device: every egress IP of the node on its primary network. */
  readonly silenced: readonly { readonly address: Address; readonly for: string }[]
  readonly externalBridge: ExternalBridge
  /** Routes of the main table to services and masquerade addresses. */
  readonly routes: readonly NodeRoute[]
  /** Networks of secondary interfaces on which the node holds egress IPs. */
  readonly secondary: readonly SecondaryNetwork[]
  /** Tables of secondary interfaces are numbered from here: this plus the index of the interface. */
  readonly routeTableBase: number
  /** What becomes of established flows of a pod that is given another egress IP. */
  readonly conntrack: ConntrackPolicy
  /** Oldest nft the rendered rules must load on. */
  readonly nftVersion: string
}

/** `flush`: their conntrack entries are deleted, so that they use the new address. `keep`: they keep the old one. */
export type ConntrackPolicy = 'flush' | 'keep'

/** The external bridge of a node and the networks that it joins to the wire: all that its flows are made from. */
export interface ExternalBridge {
  readonly mode: GatewayMode
  /** Of the bridge, and of every gateway router behind it. */
  readonly mac: string
  /** Gateway VLAN; 0 is untagged. */
  readonly vlan: number
  /** MTU of pods, in bytes; null where replies to pods are not measured against it (local mode). */
  readonly mtu: number | null
  readonly genevePort: number
  /** First of the conntrack zones: 64000 unless the cluster says another; the others follow it. */
  readonly zone: number
  /** Whether ovnkube runs with network segmentation: it has more flows then, also where there is no user-defined network yet. */
  readonly segmentation: boolean
  /** Whether pods of the default network leave the node with their own addresses (disable-snat-multiple-gws). */
  readonly routedPods: boolean
  /** The node's addresses on the bridge, at most one per family: `node` of the flow table. */
  readonly nodeAddresses: readonly Address[]
  /** Networks of the addresses on the bridge. */
  readonly hostSubnets: readonly Prefix[]
  /** The node's other addresses. */
  readonly extraAddresses: readonly Address[]
  readonly serviceSubnets: readonly Prefix[]
  /** At most one per family. */
  readonly masqueradeSubnets: readonly Prefix[]
  /**
   * Exactly the addresses of all nodes of the cluster, in as few prefixes as possible. One list is shared by all states of a
   * compilation, so that what is made from it can be made once.
   */
  readonly clusterAddresses: readonly Prefix[]
  /** The default network, then the primary user-defined ones that have an id of their own, sorted by name. */
  readonly networks: readonly BridgeNetwork[]
  /** The other primary user-defined networks, sorted by name: nothing of theirs may leave, as nobody could tell whose the replies are. */
  readonly closed: readonly { readonly name: string; readonly for: string }[]
  /** Egress IPs of the primary network that pods of user-defined networks leave with, by network and mark. */
  readonly egressMarks: readonly {
    readonly mark: number
    readonly address: Address
    /** Name of the network. */
    readonly network: string
    readonly for: string
  }[]
}

/** A network that a patch port joins to the external bridge. */
export interface BridgeNetwork {
  /** `default`, or the name of the network. */
  readonly name: string
  readonly for: string
  /** 0 for the default network. */
  readonly id: number
  /** Pod subnets of the network in the whole cluster. */
  readonly subnets: readonly Prefix[]
  /** Its pod subnets on this node. */
  readonly nodeSubnets: readonly Prefix[]
  /** Whether pods of different nodes speak through tunnels; without, through the fabric. */
  readonly overlay: boolean
  /** Whether the network's pod subnets are advertised (RouteAdvertisements). */
  readonly advertised: boolean
}

/** A route of the main table. `source` is the address the host prefers on it. */
export interface NodeRoute {
  readonly destination: Prefix
  readonly gateway: Address | null
  readonly interface: string
  readonly source: Address | null
  /** In bytes. */
  readonly mtu: number | null
  readonly for: string
}

/** A network of a secondary interface; which interface, only the host knows. */
export interface SecondaryNetwork {
  /** Without host bits. */
  readonly network: Prefix
  readonly egressIPs: readonly {
    readonly address: Address
    readonly for: string
    /** Pods of the default network, of any node, of the family of the address, that leave with it. */
    readonly pods: readonly Address[]
  }[]
}
