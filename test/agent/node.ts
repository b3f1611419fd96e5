import { join } from 'node:path'
import { type Report, type Request, run } from '../../src/agent/run.js'
import { type Machine, machine } from '../contract/machine.js'
import { addPatch, type OpenVSwitch } from '../lab/ovs.js'
import { BRIDGE, NODE, writeBundle } from './bundles.js'

/** A node: a host with br-ex, br-int and the patch port between them, and an agent that works on it. */
export interface Node extends Machine {
  readonly ovs: OpenVSwitch
  readonly bundle: string
  readonly stateDir: string
  agent(command: Request['command'], over?: Partial<Request>): Promise<Report>
  /** Everything that an agent could touch, as text. */
  state(): string
}

export function openNode(label: string): Node {
  const host = machine(label, { ovs: true })
  const { ovs, namespace } = host
  if (!ovs) throw new Error('no Open vSwitch')
  ovs.vsctl('add-br', 'br-int', '--', 'set', 'bridge', 'br-int', 'datapath_type=netdev')
  addPatch(ovs, BRIDGE, NODE)
  const bundle = join(host.folder, 'out', 'nodes', NODE)
  const stateDir = join(host.folder, 'state')
  writeBundle(bundle)
  return {
    ...host,
    ovs,
    bundle,
    stateDir,
    agent: (command, over = {}) =>
      run({
        command,
        bundle,
        node: NODE,
        phase: 'steady',
        stateDir,
        rundir: ovs.rundir,
        maxRemove: 50,
        exec: { prefix: host.prefix },
        ...over,
      }),
    state: () =>
      [
        // Duplicate detection of link-local addresses ends some time or other.
        namespace.exec('ip', ['-o', 'addr', 'show']).stdout.replaceAll(' tentative', ''),
        namespace.exec('ip', ['-N', 'neigh', 'show', 'nud', 'permanent']).stdout,
        namespace.exec('nft', ['list', 'ruleset']).stdout,
        ovs.ofctl('dump-flows', BRIDGE, '--no-stats', '--no-names'),
        ovs.ofctl('dump-flows', 'br-int', '--no-stats', '--no-names'),
      ].join('\n'),
  }
}

/** The words after `node` that start the agent from its sources on a bundle of a node. */
export const agentWords = (command: string, { bundle, stateDir }: Pick<Node, 'bundle' | 'stateDir'>): readonly string[] => [
  ...['--import', 'tsx', join(import.meta.dirname, '../../src/agent/main.ts'), command],
  ...['--bundle', bundle, '--node', NODE, '--state-dir', stateDir],
]

/** A report in one line per change and problem. */
export const summary = ({ changes, pending, problems, exitCode }: Report) => ({
  exitCode,
  changes: changes.map(({ subsystem, op, key }) => `${op} ${subsystem} ${key}`),
  pending: pending.map(({ subsystem, reason }) => `${subsystem}: ${reason}`),
  problems: problems.map(({ code }) => code),
})
