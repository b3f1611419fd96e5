import type { ProblemKind } from './problem-kind.js'

/** What the agent says of its bundle and of the host it runs on. */
export const HOST_PROBLEMS = {
  InvalidBundle: {
    severity: 'error',
    meaning: 'The bundle is empty, of an unknown version, incomplete or changed since it was rendered.',
    remedy: 'Render the bundle again with egretta synth and copy its folder whole.',
  },
  WrongNode: {
    severity: 'error',
    meaning: 'The bundle is that of another node.',
    remedy: 'Take the folder of this node, or say with --node which node this host is.',
  },
  NodeAddress: {
    severity: 'error',
    meaning: 'An address that the bundle wants to give or to silence is one of the node itself.',
    remedy: 'Correct the intent: an address of the node itself cannot be an egress IP.',
  },
  ForeignConflict: {
    severity: 'error',
    meaning: 'An entry that is not ours stands where one of ours should, and means something else.',
    remedy: 'Remove the entry that is named, or let whoever made it do so; nothing was changed.',
  },
  LeftoverServiceRoute: {
    severity: 'error',
    meaning: 'A route to a subnet of services that is not ours leads elsewhere: another gateway mode or release left it behind.',
    remedy: 'Remove the route that is named, or run egretta-agent apply --replace-service-routes.',
  },
  OvnkubeActive: {
    severity: 'error',
    meaning: 'ovnkube-node runs on this host and owns what the bundle wants to manage.',
    remedy: 'Set Cluster.spec.ownership to verify for what ovnkube-node owns, or stop it on this host.',
  },
  TooManyRemovals: {
    severity: 'error',
    meaning: 'The bundle would remove more of a part of the host than --max-remove allows.',
    remedy: 'Look at what diff lists; if it is meant, raise --max-remove.',
  },
  OlderBundle: {
    severity: 'error',
    meaning: 'The bundle is older than the one that was applied last, as a copy or a checkout that was left behind would be.',
    remedy: 'If it is meant, say so with --allow-older.',
  },
  CheckFailed: {
    severity: 'error',
    meaning: 'A check that was to hold after a pass did not, so what the pass had changed was put back.',
    remedy: 'See what the check that is named says on this host.',
  },
  MissingTool: {
    severity: 'error',
    meaning: 'A program that the agent needs is not installed.',
    remedy: 'Install the program that is named.',
  },
  NoPermission: {
    severity: 'error',
    meaning: 'The agent may not read or change this part of the host.',
    remedy: 'Run as root.',
  },
  CommandFailed: {
    severity: 'error',
    meaning: 'A program that the agent started failed.',
    remedy: 'See what the command says, then run again.',
  },
  NotConverged: {
    severity: 'error',
    meaning: 'The host was changed, and when it was read again it still differed.',
    remedy: 'See who else changes these entries on this host, then run again.',
  },
  NoEgressHook: {
    severity: 'warning',
    meaning: 'The kernel has no egress hook of the family netdev, so the guard silences only what the node hears.',
    remedy: 'Use kernel 5.16 or newer; until then the node may still speak for the addresses that it no longer answers for.',
  },
  AddressStillAnswered: {
    severity: 'warning',
    meaning:
      'Another station answered for an egress IP for as long as the agent waits for it, and the node claimed the address all the same.',
    remedy: 'Find the station that is named.',
  },
  AddressNotProbed: {
    severity: 'warning',
    meaning: 'A node claimed an egress IP though nobody could be asked whether another station has it.',
    remedy: 'See that no other station has the address.',
  },
  AddressNotAnnounced: {
    severity: 'warning',
    meaning: 'A node holds an egress IP but could not announce it, so its neighbors may send to another node until they ask again.',
    remedy: 'Correct what is named; the neighbors ask again within a minute or so.',
  },
  UnknownEgressIP: {
    severity: 'error',
    meaning: 'An address is to be released or claimed that is no egress IP of the node.',
    remedy: 'Name one of the addresses in addresses.json of the bundle.',
  },
  InterfaceMissing: {
    severity: 'warning',
    meaning: 'No interface of a host has an address of a network on which its node holds egress IPs; what belongs there waits.',
    remedy: 'Give the interface an address of the network.',
  },
  InterfaceNotReady: {
    severity: 'warning',
    meaning:
      'The interface of a secondary egress IP is down, or no address that the host speaks with says its network; what belongs there waits.',
    remedy: 'Set the interface up, with an address of scope global.',
  },
  AmbiguousInterface: {
    severity: 'warning',
    meaning: 'Several interfaces of a host have an address of one network, so it is not known to which its egress IPs belong; they wait.',
    remedy: 'Leave the network on one interface.',
  },
  ForwardingOff: {
    severity: 'error',
    meaning:
      'The host does not forward what pods send through a secondary interface, or the replies. It is a warning where it is not known through which interface pods enter.',
    remedy: 'Switch forwarding on for the interface that is named.',
  },
  StrictReversePath: {
    severity: 'warning',
    meaning: 'rp_filter is strict where pods enter the host.',
    remedy: 'Make it loose: set rp_filter of the interface to 2.',
  },
  ConfiguredEgressIP: {
    severity: 'error',
    meaning:
      'A configuration file of the host gives an egress IP to an interface: it comes back at the next start, also when another node holds it.',
    remedy: 'Remove the address from the file.',
  },
  TableInUse: {
    severity: 'error',
    meaning: 'The routing table of a secondary interface holds routes of somebody else.',
    remedy: 'Remove the routes, or set Cluster.spec.routeTable so that no table is used twice.',
  },
  RuleInTheWay: {
    severity: 'error',
    meaning: 'A rule of somebody else routes pods with a secondary egress IP before the rule that leads to it.',
    remedy: 'Give the rule a priority over 6000.',
  },
  PriorityTaken: {
    severity: 'warning',
    meaning: 'A rule of somebody else has the priority of those of egretta.',
    remedy: 'Give the rule a priority of its own.',
  },
  NeighborTableFull: {
    severity: 'warning',
    meaning: 'The neighbor table of a host is nearly full.',
    remedy: 'Raise gc_thresh3.',
  },
  OldTool: {
    severity: 'error',
    meaning: 'A program that the agent needs is too old.',
    remedy: 'Install a newer version.',
  },
} as const satisfies Record<string, ProblemKind>
