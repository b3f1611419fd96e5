/** What is wrong with the inputs, or worth knowing about them. Collected and returned, never logged and skipped. */

export type Severity = 'error' | 'warning' | 'info'

/** Where an object, or a value in it, stands. `line` and `column` count from 1. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

export interface Problem {
  readonly severity: Severity
  readonly code: ProblemCode
  /** Name of the EgressIP, or `Kind/[namespace/]name` of another object; null when no object is concerned. */
  readonly object: string | null
  /** One sentence: what is wrong. */
  readonly message: string
  /** One sentence: what to do about it. */
  readonly remedy: string
  readonly source: Position | null
}

interface Kind {
  readonly severity: Severity
  /** The remedy when the place that finds the problem has no better one. */
  readonly remedy: string
}

/** Every code with its default severity and remedy. `docs/problems.md` is made from it. */
export const PROBLEMS = {
  UnreadableInput: { severity: 'error', remedy: 'Mend the file, then run the command again; nothing was written.' },
  InvalidObject: { severity: 'error', remedy: 'Correct the field that is named; the object is left out until then.' },
  DuplicateObject: { severity: 'error', remedy: 'Keep one of the objects; their addresses are placed when only one is left.' },
  InvalidAddress: { severity: 'error', remedy: 'Write a plain IPv4 or IPv6 address, without prefix length, zone or leading zeros.' },
  AddressHeldByOther: { severity: 'error', remedy: 'Remove the address from one of the two objects.' },
  AddressConflict: { severity: 'error', remedy: 'Choose an address that no host has.' },
  ReservedAddress: { severity: 'error', remedy: 'Choose an address outside the reserved ones.' },
  DuplicateMark: { severity: 'error', remedy: 'Remove the annotation k8s.ovn.org/egressip-mark from one of the objects.' },
  InvalidMark: { severity: 'error', remedy: 'Remove the annotation k8s.ovn.org/egressip-mark; a mark is a number from 50000 to 55000.' },
  MarkExhausted: { severity: 'error', remedy: 'Remove EgressIP objects that are no longer needed; 5,001 marks exist.' },
  NoMatchingNode: { severity: 'error', remedy: 'Label a node so that egressNodeSelector matches it, or correct the selector.' },
  NoAvailableNode: { severity: 'error', remedy: 'Bring back one of the matching nodes, or let the selector match others.' },
  NoHostingNetwork: { severity: 'error', remedy: 'Choose an address in a network of a matching node.' },
  CapacityExhausted: { severity: 'error', remedy: 'Let the selector match more nodes, or remove addresses from the full ones.' },
  AntiColocation: { severity: 'error', remedy: 'Let the selector match at least as many nodes as the object has addresses.' },
  DrainIncomplete: { severity: 'error', remedy: 'Make room on another node, or let the selector match more of them, then drain again.' },
  MasqueradeSubnetTooSmall: { severity: 'error', remedy: 'Use a larger masquerade subnet, for example 169.254.0.0/17 and fd69::/112.' },
  UnknownNode: { severity: 'error', remedy: 'Correct the name of the node on the command line.' },
  OverlappingSelection: { severity: 'error', remedy: 'Change the selectors so that one object alone selects the pods.' },
  UnsupportedNetwork: {
    severity: 'error',
    remedy: 'Choose an address of the primary network, or select pods of the default network only.',
  },
  OverlappingNetworks: {
    severity: 'warning',
    remedy: 'Choose an address that lies in one network of the node, or make sure that the right one hosts it.',
  },
  SelectorMatchesNoNamespace: { severity: 'warning', remedy: 'Correct namespaceSelector, or label the namespaces that are meant.' },
  SelectorMatchesEverything: { severity: 'warning', remedy: 'Name the namespaces that are meant in namespaceSelector.' },
  Imbalance: { severity: 'info', remedy: 'Run egretta plan --rebalance to see which addresses would move; without it none does.' },
  DuplicateInObject: { severity: 'warning', remedy: 'Remove the second spelling.' },
  StatusInIntent: { severity: 'warning', remedy: 'Remove status from the intent file; it is read from the topology.' },
  MarkInIntent: { severity: 'warning', remedy: 'Remove the annotation from the intent file; it is read from the topology and the lock.' },
  InvalidNode: { severity: 'warning', remedy: 'Correct the annotation; the node hosts nothing until then.' },
  UnknownField: { severity: 'warning', remedy: 'Correct the spelling of the field, or remove it.' },
  UnknownNetworkId: {
    severity: 'warning',
    remedy: 'Add the NetworkAttachmentDefinition of the network to the topology; it carries k8s.ovn.org/network-id.',
  },
  EmptyInput: { severity: 'warning', remedy: 'Remove the file, or write the objects it should hold.' },
  InvalidBundle: { severity: 'error', remedy: 'Render the bundle again with egretta synth and copy its folder whole.' },
  WrongNode: { severity: 'error', remedy: 'Take the folder of this node, or say with --node which node this host is.' },
  NodeAddress: { severity: 'error', remedy: 'Correct the intent: an address of the node itself cannot be an egress IP.' },
  ForeignConflict: { severity: 'error', remedy: 'Remove the entry that is named, or let whoever made it do so; nothing was changed.' },
  OvnkubeActive: { severity: 'error', remedy: 'Set Cluster.spec.ownership to verify for what ovnkube-node owns, or stop it on this host.' },
  TooManyRemovals: { severity: 'error', remedy: 'Look at what diff lists; if it is meant, raise --max-remove.' },
  MissingTool: { severity: 'error', remedy: 'Install the program that is named.' },
  NoPermission: { severity: 'error', remedy: 'Run as root.' },
  CommandFailed: { severity: 'error', remedy: 'See what the command says, then run again.' },
  NotConverged: { severity: 'error', remedy: 'See who else changes these entries on this host, then run again.' },
  NoEgressHook: {
    severity: 'warning',
    remedy: 'Use kernel 5.16 or newer; until then the node may still speak for the addresses that it no longer answers for.',
  },
} as const satisfies Record<string, Kind>

export type ProblemCode = keyof typeof PROBLEMS

/** A problem with the default severity of its code and, unless given, its default remedy. */
export function problem(
  code: ProblemCode,
  about: { object?: string | null; message: string; source?: Position | null; remedy?: string; severity?: Severity },
): Problem {
  const kind: Kind = PROBLEMS[code]
  return {
    severity: about.severity ?? kind.severity,
    code,
    object: about.object ?? null,
    message: about.message,
    remedy: about.remedy ?? kind.remedy,
    source: about.source ?? null,
  }
}
