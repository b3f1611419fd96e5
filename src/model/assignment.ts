import type { Prefix } from './address.js'
import type { Problem } from './problem.js'

export type NetworkType = 'primary' | 'secondary'
export type AssignmentChange = 'keep' | 'add' | 'move' | 'remove'

/** One egress IP on one node. `node` and the network are null only for `remove`. */
export interface Assignment {
  /** RFC 5952 */
  readonly egressIP: string
  readonly object: string
  readonly node: string | null
  readonly network: string | null
  readonly networkType: NetworkType | null
  /** The secondary interface, where an input names it. */
  readonly interface: string | null
  readonly change: AssignmentChange
  /** The holder until now; null unless move or remove. */
  readonly from: string | null
  /** False where placement is advisory, the address is not in the status yet and more than one node would do. */
  readonly certain: boolean
}

/** An address that nobody asks for any more leaves its node. */
export const removal = (object: string, egressIP: string, from: string): Assignment => ({
  egressIP,
  object,
  node: null,
  network: null,
  networkType: null,
  interface: null,
  change: 'remove',
  from,
  certain: true,
})

/** Why an address is on no node. */
export type UnassignedReason =
  | 'InvalidObject'
  | 'InvalidAddress'
  | 'AddressConflict'
  | 'AddressHeldByOther'
  | 'ReservedAddress'
  | 'NoMatchingNode'
  | 'NoAvailableNode'
  | 'NoHostingNetwork'
  | 'CapacityExhausted'
  | 'AntiColocation'

/** The first rule that keeps a node from hosting an address. */
export type NodeReason =
  | 'SelectorMismatch'
  | 'NotReady'
  | 'Unreachable'
  | 'InvalidNode'
  | 'Draining'
  | 'NoHostingNetwork'
  | 'CapacityExhausted'
  | 'HoldsSameObject'

export interface Unassigned {
  /** RFC 5952, or as written where it is no address. */
  readonly egressIP: string
  readonly object: string
  readonly reason: UnassignedReason
  readonly message: string
  /** The node that has held it until now, if any. */
  readonly from: string | null
  /** All nodes, counted by reason. Empty where the refusal does not depend on nodes. */
  readonly reasons: Readonly<Partial<Record<NodeReason, number>>>
  /** At most 20, sorted by name. */
  readonly nodes: readonly { readonly node: string; readonly reason: NodeReason }[]
}

/** What the user asks of one run beside the inputs. */
export interface PlacementOptions {
  /** Nodes that take nothing new and whose addresses move away. */
  readonly drain: readonly string[]
  /** Nodes that count as unreachable, beside Cluster.spec.unreachable and what ProbeResults say. */
  readonly down: readonly string[]
  /** How many valid assignments may move for balance: null none, Infinity any number. */
  readonly rebalance: number | null
}

/** The answer of `place`. Each (object, address) of the intent stands once, in `assignments` or in `unassigned`; both sorted by object, then address. */
export interface Placement {
  readonly assignments: readonly Assignment[]
  readonly unassigned: readonly Unassigned[]
  /** Egress mark per object, where it needs one. */
  readonly marks: ReadonlyMap<string, number>
  /**
   * How far the placement may be from the best one: 0 where it is proven to be the best. The whole part is how many addresses
   * a bound places that this placement does not, the rest by what share at most its sum of squares could be smaller.
   */
  readonly optimalityGap: number
  readonly problems: readonly Problem[]
}

/** A network of a node that hosts an address. */
export interface Hosting {
  readonly network: Prefix
  readonly type: NetworkType
}

/** Whether every address would still have a node if the cluster lost any one egress node: the answer of `nMinusOne`. */
export interface NMinusOne {
  /** How many nodes were taken away, one at a time: those that may host an address of our objects, and those that hold one. */
  readonly egressNodes: number
  /** The nodes without which not all addresses would have a node, by name. Empty: the cluster can lose any one. */
  readonly losses: readonly NodeLoss[]
  /** Further nodes with which it could: each like one that is there, with its labels, networks and capacity. */
  readonly spares: readonly { readonly like: string; readonly for: readonly string[] }[]
}

/** What the loss of one node would mean. */
export interface NodeLoss {
  readonly node: string
  /** How many addresses of our objects it holds once the placement is there. */
  readonly holds: number
  /** Those of them that no other node would take, by object and address, with the reason. */
  readonly unplaced: readonly { readonly egressIP: string; readonly object: string; readonly reason: UnassignedReason }[]
  /** How many addresses more its other candidates would have to take; null where capacity is not what is missing. */
  readonly capacity: number | null
}
