import type { Address } from './address.js'
import type { Hosting, NodeReason } from './assignment.js'
import type { EgressIPIntent } from './egressip.js'
import type { CloudEgressConfig, ClusterNode } from './topology.js'

/** A node at the end of a placement: how many egress IPs it holds, those of other EgressIPs of the cluster too, and how many it may. */
export interface NodeLoad {
  readonly node: ClusterNode
  readonly ipv4: number
  readonly ipv6: number
  /** Null is no limit, 0 is none. */
  readonly capacity: CloudEgressConfig['capacity']
  /** Why it takes no address of any object; null when it may. */
  readonly standing: NodeReason | null
}

/** How a node stands to one address, what the placement gives the node beside it taken into account. */
export interface Verdict {
  /** The first rule that keeps it from hosting the address; null where none does. */
  readonly reason: NodeReason | null
  /** Its network that contains the address. */
  readonly hosting: Hosting | null
}

/** How every node stands to every address of an object, judged against a finished placement. */
export interface Verdicts {
  /** By name of the node. */
  readonly nodes: readonly NodeLoad[]
  /** `index` is the place of the node in `nodes`. */
  on(object: EgressIPIntent, address: Address, index: number): Verdict
}
