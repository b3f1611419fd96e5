import type { Prefix } from './address.js'
import type { Severity } from './problem.js'

export type PlacementMode = 'enforced' | 'advisory'
export type Ownership = 'manage' | 'verify' | 'off'
export type SubsystemName = 'openflow' | 'nftables' | 'neighbors' | 'addresses' | 'rules' | 'routes'

export interface NodeOptions {
  readonly bridge?: string
  readonly uplink?: string
  readonly guardDevice?: string
}

/** Own kind `Cluster` (egretta.dev/v1alpha1), parsed, with every default filled in. Schema: `schema/cluster.json`. */
export interface Cluster {
  readonly placement: PlacementMode
  /** Why: `Cluster.spec.placement`, or the object that shows who decides. */
  readonly placementReason: string
  readonly ownership: Readonly<Partial<Record<SubsystemName, Ownership>>>
  readonly bridge: string | null
  readonly uplink: string | null
  readonly guardDevice: string | null
  readonly subnets: {
    readonly pod: readonly Prefix[]
    readonly service: readonly Prefix[]
    readonly join: readonly Prefix[]
    readonly transit: readonly Prefix[]
    readonly masquerade: readonly Prefix[]
  }
  readonly nodes: Readonly<Record<string, NodeOptions>>
  readonly unreachable: readonly string[]
  readonly policy: Readonly<Record<string, Severity | 'off'>>
  /** Oldest nft on the nodes. Below 1.0.9 the guard matches the raw target address (facts: `icmpv6 taddr` came with 1.0.9). */
  readonly nftVersion: string
}
