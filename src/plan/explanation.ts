import type { AssignmentChange, NetworkType, NodeReason, UnassignedReason } from '../model/assignment.js'
import type { PlacementMode, SubsystemName } from '../model/cluster.js'
import type { PodExclusion } from '../model/pod.js'
import type { NodeProbe } from '../model/probe.js'
import type { Position, Problem } from '../model/problem.js'
import type { NodeLoad } from '../model/verdict.js'

/** What a user can ask about; `probes` has no name. */
export type QuestionKind = 'ip' | 'pod' | 'node' | 'object' | 'probes'

export interface Question {
  readonly kind: QuestionKind
  /** As the user wrote it; empty for `probes`. */
  readonly name: string
}

/** Why an address is on its node. A refused one has the reason of its refusal. */
export type WhyCode =
  /** The node has it already, and a valid assignment never moves. */
  | 'Kept'
  /** It leaves a drained node, but no other one takes it. */
  | 'DrainIncomplete'
  /** No other node may host it. */
  | 'OnlyCandidate'
  /** The others that may host it are full or hold another address of the object. */
  | 'OnlyRoom'
  /** It holds fewer egress IPs than every other candidate. */
  | 'LeastLoaded'
  /** It holds as few as others and is the first of them by name. */
  | 'FirstByName'
  /** Another as good placement would have put a name that comes earlier on a later node. */
  | 'WholePlacement'
  /** Nobody asks for it any more. */
  | 'NotAskedFor'
  /** The EgressIP is in the cluster only; its status names the node. */
  | 'NotOurs'
  | UnassignedReason

/** A node that could host the address, and how many egress IPs it holds in the end. */
export interface Candidate {
  readonly node: string
  readonly addresses: number
}

export interface ExcludedNode {
  readonly node: string
  /** The first rule that excludes it. */
  readonly reason: NodeReason
}

/** An entry of a bundle. */
export interface EntryReference {
  readonly node: string
  readonly artefact: string
  readonly subsystem: SubsystemName
  /** Its identity in the subsystem, as `egretta-agent` names it. */
  readonly key: string
}

export interface PodReference {
  /** `<namespace>/<name>` */
  readonly pod: string
  /** Network that carries its traffic; `default` for the default one. */
  readonly network: string
}

/** One address of one object: where it is, why there and not elsewhere, who uses it, and what it makes of the hosts. */
export interface ExplainedAddress {
  /** RFC 5952, or as written where it is no address. */
  readonly egressIP: string
  readonly object: string
  readonly node: string | null
  readonly network: string | null
  readonly networkType: NetworkType | null
  readonly change: AssignmentChange | 'refuse'
  readonly from: string | null
  readonly certain: boolean
  readonly why: { readonly code: WhyCode; readonly message: string }
  /** Other nodes that could host it, the least loaded first, then by name. */
  readonly candidates: readonly Candidate[]
  /** All nodes that a rule excludes, by name. Empty where the nodes have no say. */
  readonly excluded: readonly ExcludedNode[]
  /** Pods that leave the cluster with it, by name. Where the object has several addresses of the family, each connection takes any. */
  readonly pods: readonly PodReference[]
  /** Pods of a user-defined network that cannot use it, because it is on a secondary network. */
  readonly unsupported: readonly PodReference[]
  readonly entries: readonly EntryReference[]
}

/** With what a pod leaves the cluster in one family. */
export interface Departure {
  readonly family: 4 | 6
  /** The pod's own address. */
  readonly address: string
  /** Any of these; empty: it leaves with the node's address. */
  readonly egressIPs: readonly { readonly egressIP: string; readonly node: string; readonly change: AssignmentChange }[]
  /** The address of its node; null where no input names it. */
  readonly nodeAddress: string | null
}

export type NotSelectedCode = PodExclusion | 'UnknownNamespace' | 'NoNamespaceMatch' | 'NoPodMatch'

export interface ExplainedPod {
  readonly pod: string
  readonly node: string | null
  readonly network: string
  readonly phase: string
  /** The object that decides; null when none does. */
  readonly object: string | null
  /** Further objects that select it, and have no effect, in order of precedence. */
  readonly others: readonly string[]
  /** Null when an object selects it. */
  readonly notSelected: { readonly code: NotSelectedCode; readonly message: string } | null
  /** Per family of its addresses. Empty for a pod without traffic of its own. */
  readonly departures: readonly Departure[]
}

export interface ExplainedObject {
  readonly name: string
  /** Where it stands: in the intent, in the cluster only (foreign), to be removed, or invalid and left out. */
  readonly origin: 'intent' | 'foreign' | 'gone' | 'invalid'
  readonly source: Position | null
  readonly created: string | null
  readonly mark: number | null
  /** egressNodeSelector as kubectl writes selectors; null where it cannot be read. */
  readonly nodeSelector: string | null
  readonly matchingNodes: number
  /** Pods whose address it decides. */
  readonly pods: readonly PodReference[]
  /** Pods that it selects and another object decides. */
  readonly overruled: readonly { readonly pod: string; readonly by: string }[]
}

export interface HeldByNode {
  readonly egressIP: string
  readonly object: string
  readonly network: string | null
  readonly networkType: NetworkType | null
  readonly change: AssignmentChange | null
}

export interface LeftByNode {
  readonly egressIP: string
  readonly object: string
  /** Null where it is on no node any more. */
  readonly to: string | null
}

export interface ExplainedNode {
  readonly name: string
  readonly ready: boolean
  /** Why its annotations do not parse. */
  readonly invalid: string | null
  /** How it is known to be unreachable. */
  readonly unreachable: string | null
  readonly draining: boolean
  readonly load: { readonly ipv4: number; readonly ipv6: number }
  readonly capacity: NodeLoad['capacity']
  readonly holds: readonly HeldByNode[]
  readonly leaving: readonly LeftByNode[]
  /** Addresses that it could host beside those it has. */
  readonly open: number
  /** What it may not host; `egressIP` is null where the rule concerns every address of the object. */
  readonly excluded: readonly { readonly object: string; readonly egressIP: string | null; readonly reason: NodeReason }[]
  readonly probe: ProbedNode
  /** Everything that its bundle holds, with the object it comes from. */
  readonly entries: readonly (EntryReference & { readonly for: string | null })[]
}

export interface ProbedNode {
  readonly node: string
  readonly probed: boolean
  /** Why it is not: no selector matches it, it is not Ready, or the check is off. */
  readonly why: 'Probed' | 'NotSelected' | 'NotReady' | 'CheckOff'
  /** Objects whose egressNodeSelector matches it, by name. */
  readonly objects: readonly string[]
  /** What the latest ProbeResult says. */
  readonly last: NodeProbe | null
}

/** The nodes that are probed: Ready, and matched by the egressNodeSelector of at least one object (seed 003). */
export interface ProbeSet {
  /** Seconds; 0: off, null: not said (ovnkube's default is 1). */
  readonly timeout: number | null
  readonly nodes: readonly ProbedNode[]
  /** The selectors whose union it is, as kubectl writes them. */
  readonly selectors: readonly { readonly selector: string; readonly objects: readonly string[]; readonly nodes: number }[]
  /** Objects whose selector is empty: they make it the whole cluster. */
  readonly everything: readonly string[]
}

/** What `egretta explain -o json` prints; schema: `schema/explanation.json`. Which of the last fields is there depends on the kind. */
export interface Explanation {
  readonly apiVersion: 'egretta.dev/v1alpha1'
  readonly kind: 'Explanation'
  readonly inputDigest: string
  readonly placement: PlacementMode
  readonly question: Question
  /** One sentence: the first line of the text. */
  readonly answer: string
  /** ip and object. */
  readonly addresses?: readonly ExplainedAddress[]
  readonly object?: ExplainedObject
  readonly pod?: ExplainedPod
  readonly node?: ExplainedNode
  readonly probes?: ProbeSet
  /** Those that are about the subject. */
  readonly problems: readonly Problem[]
}
