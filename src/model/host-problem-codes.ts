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
} as const satisfies Record<string, ProblemKind>
