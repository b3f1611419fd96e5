import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OWN_PROTOCOL } from '../../src/model/numbers.js'
import { atExit } from './clean-up.js'
import { run, type Said } from './netns.js'
import { type LabNode, MANAGEMENT_PORT } from './network.js'

const ROOT = join(import.meta.dirname, '..', '..')
export const EXAMPLE = join(ROOT, 'examples', 'kind-3-nodes')
/** The file of the example that holds its Node objects. */
export const NODES_FILE = join(EXAMPLE, 'topology', 'nodes.yaml')

/** The nodes that trade addresses: the one in zone a has them, the one in zone b gets them. */
export const NODES = ['ovn-worker', 'ovn-worker2'] as const
/** What moves: one IPv4 address of EgressIP orders, one IPv6 address of EgressIP reports. */
export const MOVING = ['192.0.2.50', '2001:db8:1::50'] as const
/** Prefix of the example's user-defined network in patch port names. */
export const NETWORK_PREFIX = 'payments_tenant.blue_'

/** A copy of the example that a person works in. */
export interface Project {
  readonly dir: string
  /** `egretta ARGS…` in it. Throws when it fails. */
  egretta(...args: readonly string[]): Said
  /** The person edits the intent: orders and reports leave through zone b from now on. */
  edit(): void
  /** The bundle of a node in an output folder. */
  bundle(out: string, node: string): string
  close(): void
}

/** Copies the example's intent and topology into a folder of the temporary directory. Its nodes have the lab's management port there. */
export function copyExample(): Project {
  const dir = mkdtempSync(join(tmpdir(), 'egretta-project-'))
  const close = (): void => {
    forget()
    rmSync(dir, { recursive: true, force: true })
  }
  const forget = atExit(close)
  for (const part of ['intent', 'topology']) cpSync(join(EXAMPLE, part), join(dir, part), { recursive: true })
  appendFileSync(join(dir, 'intent', 'cluster.yaml'), `  managementPort: ${MANAGEMENT_PORT}\n`)
  return {
    dir,
    egretta: (...args) => run(process.execPath, [join(ROOT, 'dist', 'cli', 'main.js'), ...args], { cwd: dir }),
    edit: () => {
      for (const name of ['orders', 'reports']) {
        const file = join(dir, 'intent', `${name}.yaml`)
        writeFileSync(file, readFileSync(file, 'utf8').replace('zone: zone-a', 'zone: zone-b'))
      }
    },
    bundle: (out, node) => join(dir, out, 'nodes', node),
    close,
  }
}

/** The command line and environment of `egretta-agent COMMAND --bundle … ARGS…` for a node and its Open vSwitch. Who plays here goes back to old renderings. */
export function agentCommand(node: LabNode, command: 'apply' | 'diff', bundle: string, ...args: readonly string[]) {
  const main = join(ROOT, 'dist', 'agent', 'main.js')
  const options = ['--bundle', bundle, '--node', node.name, '--state-dir', node.stateDir, '--allow-older', ...args]
  return { program: process.execPath, words: [main, command, ...options], env: { OVS_RUNDIR: node.ovs.rundir } }
}

/** Runs the agent in the node's namespace. Throws when it does not end with 0. */
export function agent(node: LabNode, command: 'apply' | 'diff', bundle: string, ...args: readonly string[]): Said {
  const { program, words, env } = agentCommand(node, command, bundle, ...args)
  return node.namespace.exec(program, words, { env })
}

/** Applies a bundle and gives the changes that were made. */
export function apply(node: LabNode, bundle: string, ...args: readonly string[]): readonly unknown[] {
  return JSON.parse(agent(node, 'apply', bundle, '-o', 'json', ...args).stdout).changes
}

/** Everything on the host that an agent could touch, as text: equal texts, equal hosts. */
export function holdings(node: LabNode): string {
  const { namespace, ovs } = node
  const ip = (...args: readonly string[]): string => namespace.exec('ip', ['-N', ...args]).stdout
  return [
    namespace.exec('nft', ['list', 'ruleset']).stdout,
    // In no order that could be relied on.
    ovs.ofctl('dump-flows', node.bridge, '--no-stats').split('\n').sort().join('\n'),
    ovs.noFlood(node.bridge).join(' '),
    ip('addr', 'show', 'dev', node.bridge, 'scope', 'global'),
    ...['-4', '-6'].flatMap((family) => [
      ip(family, 'neigh', 'show', 'nud', 'permanent'),
      ip(family, 'rule', 'show'),
      ip(family, 'route', 'show', 'table', 'all', 'proto', String(OWN_PROTOCOL)),
    ]),
  ].join('\n')
}
