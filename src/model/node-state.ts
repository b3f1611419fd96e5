import type { Address } from './address.js'

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
  /** Permanent neighbors for masquerade addresses, on the bridge (seed 002). */
  readonly neighbors: readonly { readonly address: Address; readonly mac: string; readonly interface: string; readonly for: string }[]
  /** Networks whose patch port must not announce stale addresses: today the default one (seed 000). */
  readonly announcing: readonly string[]
  /** What the shutdown guard silences: every egress IP of the node on its primary network. */
  readonly silenced: readonly { readonly address: Address; readonly for: string }[]
  /** Oldest nft the rendered rules must load on. */
  readonly nftVersion: string
}
