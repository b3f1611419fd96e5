import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { offers } from '../requires.js'
import { keepAll } from './clean-up.js'
import { faults, handOver, type Report, silences, table } from './handover.js'
import { buildNetwork, type LabNode, type Network, nodeFacts } from './network.js'
import { agent, apply, copyExample, holdings, MOVING, NETWORK_PREFIX, NODES, NODES_FILE, type Project } from './project.js'

/** Seconds to listen before, during and after a hand-over. */
const LISTEN: readonly [number, number, number] = [2, 5, 2]

const NEEDS = ['linux', 'root', 'ip', 'nft', 'ovs', 'arping', 'ndptool', 'tcpdump'] as const

const say = (text = ''): void => console.log(text)
const indent = (text: string): string => text.trimEnd().replace(/^(?=.)/gm, '    ')
const bold = (text: string): string => (process.stdout.isTTY ? `\x1b[1m${text}\x1b[0m` : text)
let steps = 0

/** Begins a step. Commands run one at a time and block: between them comes the turn of a signal. */
async function step(title: string): Promise<void> {
  await nextTurn()
  say(`\n${bold(`${++steps}. ${title}`)}`)
}

/** Lines of an output that are shown; a node's first apply says one for every flow of its bridge. */
const SHOWN = 40
const show = (command: string, output: string): void => {
  const lines = output.trimEnd().split('\n')
  const left = lines.length - SHOWN
  const shown = left > 0 ? [...lines.slice(0, SHOWN - 1), `… ${left} more lines …`, ...lines.slice(-1)] : lines
  say(`  $ ${command}\n${indent(shown.join('\n'))}`)
}

/** What a person does at a desk: no right and no host is needed. */
async function desk(project: Project): Promise<void> {
  await step('What would change: a copy of examples/kind-3-nodes, its intent against its topology')
  show('egretta plan', project.egretta('plan').stdout)
  await step('Render it: what every node must hold')
  show('egretta synth', project.egretta('synth').stdout)
}

/** Both bundles on two live hosts, twice. */
async function hosts(project: Project, nodes: readonly LabNode[]): Promise<readonly string[]> {
  await step('The agents apply their bundles')
  for (const node of nodes) {
    show(`egretta-agent apply --bundle out/nodes/${node.name}`, agent(node, 'apply', project.bundle('out', node.name)).stdout)
  }
  await step('Once more: there is nothing left to do')
  return nodes.flatMap((node) => {
    const before = holdings(node)
    const changes = apply(node, project.bundle('out', node.name))
    const untouched = before === holdings(node)
    say(`  ${node.name}: ${changes.length} changes, the host is ${untouched ? 'the same, byte for byte' : 'NOT THE SAME'}`)
    return changes.length === 0 && untouched ? [] : [`${node.name}: the second apply changed something`]
  })
}

async function move(project: Project, network: Network, from: LabNode, to: LabNode, guarded: boolean): Promise<Report> {
  for (const node of [to, from]) apply(node, project.bundle('out', node.name))
  const shown =
    (node: LabNode, out: string, ...args: readonly string[]) =>
    (): void => {
      const command = ['egretta-agent apply --bundle', `${out}/nodes/${node.name}`, ...args].join(' ')
      show(command, agent(node, 'apply', project.bundle(out, node.name), ...args).stdout)
    }
  const guard = guarded ? shown(from, 'out', '--phase', 'shutdown') : null
  // Left to itself the new node would wait until the old one no longer answers.
  const take = guarded ? shown(to, 'moved') : shown(to, 'moved', '--claim-after', '0')
  return await handOver(network, { addresses: MOVING, from, to, guard, take, release: shown(from, 'moved') }, LISTEN)
}

async function handOvers(project: Project, network: Network): Promise<readonly string[]> {
  const [from, to] = network.nodes
  if (!from || !to) throw new Error('the demo needs two nodes')
  await step('A person edits the intent: orders and reports leave through zone b from now on')
  project.edit()
  show('egretta plan', project.egretta('plan').stdout)
  show('egretta synth --out moved', project.egretta('synth', '--out', 'moved').stdout)
  const listening = `(${LISTEN.reduce((sum, seconds) => sum + seconds)} s)`
  await step(
    `Hand-over without the guard: the new node is not to wait, and takes the addresses while the old one still has them ${listening}`,
  )
  const unguarded = await move(project, network, from, to, false)
  await step(`Hand-over with the guard: shutdown phase on the old node, then the new node takes over and announces ${listening}`)
  const guarded = await move(project, network, from, to, true)
  await step('Who spoke for the addresses, as the client heard it (it asked 20 times a second)')
  say(indent(`${table([unguarded, guarded], from, to)}\n\n${silences(guarded)}`))
  return faults(unguarded, guarded)
}

function standing(project: Project, network: Network): void {
  const names = network.namespaces.map(({ name }) => name)
  say('\nLeft standing:')
  for (const node of network.nodes) {
    say(`  enter ${node.name}:  OVS_RUNDIR=${node.ovs.rundir} nsenter --net=/run/netns/${node.namespace.name} bash`)
  }
  say(`  enter the client:  nsenter --net=/run/netns/${network.client.name} bash`)
  say(`  the project:       cd ${project.dir}`)
  say(
    `  remove it all:     for n in ${names.join(' ')}; do ip netns pids $n | xargs -r kill; done; sleep 1; for n in ${names.join(' ')}; do ip netns del $n; done; rm -rf ${network.dir} ${project.dir}`,
  )
}

async function demo(): Promise<number> {
  const { keep } = parseArgs({ options: { keep: { type: 'boolean', default: false } } }).values
  const project = copyExample()
  await desk(project)
  const missing = NEEDS.filter((need) => !offers(need))
  if (missing.length > 0) {
    say(`\nThe second half shows two live hosts. It is left out here: it needs ${missing.join(', ')}.`)
    return 0
  }
  await step('Two nodes and a client, each in a network namespace; the nodes with an Open vSwitch and nftables of their own')
  const network = buildNetwork(nodeFacts(NODES_FILE, NODES), [NETWORK_PREFIX])
  for (const { name, bridge, mac, addresses, namespace } of network.nodes) {
    say(`  ${name.padEnd(12)} ${bridge} ${mac} ${addresses.join(' ')}  (namespace ${namespace.name})`)
  }
  const found = [...(await hosts(project, network.nodes)), ...(await handOvers(project, network))]
  if (keep) {
    standing(project, network)
    keepAll()
  }
  say()
  for (const fault of found) say(`FAILED: ${fault}`)
  if (found.length === 0) say('After the guard the old node did not answer, and did not speak, for the addresses that moved.')
  return found.length === 0 ? 0 : 1
}

const ended = demo().catch(async (fault: unknown) => {
  // Ctrl-C reaches the command that runs as well: its end is no news then, and the signal's own turn comes first.
  await sleep(100)
  say(`\nFAILED: ${fault instanceof Error ? fault.message : fault}`)
  return 1
})
process.exit(await ended)
