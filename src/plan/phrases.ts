import type { Assignment, NMinusOne, NodeLoss, Unassigned } from '../model/assignment.js'
import type { Inputs } from '../model/inputs.js'
import type { Problem, Severity } from '../model/problem.js'
import type { Disruption } from './disruptions.js'
import type { NodeChanges, Plan } from './index.js'
import type { ObjectChange } from './object-change.js'
import { printOptions } from './options.js'
import { counted, few, printable } from './style.js'

/** What the views say beyond the plan itself. */
export interface PlanNotes {
  readonly inputs: Inputs
  /** How single objects change: `changedObjects`. */
  readonly objects: readonly ObjectChange[]
}

/** `1 error, 2 warnings` */
export function countProblems(problems: readonly Problem[]): string {
  const count = (severity: Severity) => problems.filter((found) => found.severity === severity).length
  const parts = [counted(count('error'), 'error'), counted(count('warning'), 'warning')]
  return count('info') > 0 ? [...parts, counted(count('info'), 'note')].join(', ') : parts.join(', ')
}

/** `Plan for 2 EgressIPs with 3 addresses on 4 nodes` */
export function subjectOf({ summary }: Plan, { inputs }: PlanNotes): string {
  const objects = inputs.intent.objects.length + inputs.intent.invalid.length
  const asked = `${counted(objects, 'EgressIP')} with ${counted(summary.addresses, 'address', 'addresses')}`
  return `Plan for ${asked} on ${counted(inputs.topology.nodes.length, 'node')}`
}

/** On what the plan rests: who decides and why, the options, what it is compared with. One sentence each. */
export function termsOf({ placement, options, previous }: Plan, { inputs }: PlanNotes): readonly string[] {
  const means =
    placement === 'enforced' ? 'egretta decides which node has an address' : 'the cluster decides; what is new here is a prediction'
  const asked = printOptions(options)
  return [
    `placement: ${placement}, because ${inputs.cluster.placementReason}; ${means}`,
    ...(asked === '' ? [] : [`options: ${asked}`]),
    ...(previous ? [`compared with ${previous.name} instead of the current assignment`] : []),
  ]
}

/** `node-a -> node-b` */
export function route({ change, node, from }: Assignment, arrow = '->'): string {
  if (change === 'remove') return `from ${from}`
  return change === 'move' ? `${from} ${arrow} ${node}` : `on ${node}`
}

/** `secondary network 198.51.100.0/24 (eth1), predicted` */
export function hostingOf({ network, networkType, interface: device, certain }: Assignment): string {
  const where = network === null ? '' : `${networkType} network ${network}${device ? ` (${device})` : ''}`
  return certain ? where : `${where}, predicted`
}

/** Without a Pod among the inputs, what happens to pods is unknown, not nothing. */
const knowsPods = ({ inputs }: PlanNotes): boolean => inputs.topology.pods.length > 0

/** What pods notice, in sentences without full stop. */
export function noticed({ from, node, pods, networks }: Disruption, notes: PlanNotes): readonly string[] {
  const users =
    from === null
      ? []
      : pods === 0
        ? knowsPods(notes)
          ? ['no pod uses it']
          : []
        : [`${counted(pods, 'pod')} ${pods === 1 ? 'uses it: its' : 'use it: their'} established connections break`]
  if (networks.length === 0) return users
  const one = networks.length === 1
  return [
    ...users,
    `${node} does not have the ${one ? 'network' : 'networks'} ${few(networks)} yet, as far as the topology shows: traffic of ${one ? 'its' : 'their'} pods may wait until ${one ? 'it is' : 'they are'} rendered there`,
  ]
}

/** `addresses +1, openflow +2 ~1 -3` */
export function entryCounts({ changes }: NodeChanges): string {
  return Object.entries(changes)
    .map(([subsystem, { add, update, delete: gone }]) => {
      const parts = [add && `+${add}`, update && `~${update}`, gone && `-${gone}`].filter(Boolean)
      return `${subsystem} ${parts.join(' ')}`
    })
    .join(', ')
}

/** Why each node does not take a refused address: by name where they are few, else counted. */
export function nodesOf({ nodes, reasons }: Unassigned): string {
  const named = nodes.map(({ node, reason }) => `${node} ${reason}`)
  const counts = Object.entries(reasons).map(([reason, n]) => `${n} ${reason}`)
  return (nodes.length <= 5 ? named : counts).join(', ')
}

/** `2 to add, 1 to move, 0 to remove, 3 kept, 1 refused` */
export function changeCounts({ summary }: Plan): string {
  const refused = summary.unassigned > 0 ? `, ${summary.unassigned} refused` : ''
  return `${summary.added} to add, ${summary.moved} to move, ${summary.removed} to remove, ${summary.kept} kept${refused}`
}

/** `2 hosts change, 3 pods change their source address` */
export function effects({ summary, nodes }: Plan, notes: PlanNotes): string {
  const { objects } = notes
  const specs = objects.length === 0 ? [] : [`${counted(objects.length, 'object')} ${objects.length === 1 ? 'changes' : 'change'}`]
  const hosts = `${counted(nodes.length, 'host')} ${nodes.length === 1 ? 'changes' : 'change'}`
  const pods = `${counted(summary.podsAffected, 'pod')} ${summary.podsAffected === 1 ? 'changes its' : 'change their'} source address`
  const unknown = 'how many pods change their source address is unknown (no pods in the inputs)'
  return [...specs, hosts, knowsPods(notes) ? pods : unknown].join(', ')
}

/** `3 addresses stay where they are` */
export const staying = ({ summary }: Plan): string =>
  summary.kept === 1 ? '1 address stays where it is' : `${summary.kept} addresses stay where they are`

/** What the plan leaves alone: EgressIPs that are not ours, and objects of other kinds. */
export function leftAlone({ intent, topology }: Inputs): readonly string[] {
  const one = intent.foreign.length === 1
  const addresses = intent.foreign.reduce((sum, { status }) => sum + status.size, 0)
  const foreign = `${counted(intent.foreign.length, 'other EgressIP')} of the cluster ${one ? 'keeps its' : 'keep their'} ${counted(addresses, 'address', 'addresses')}; the intent does not mention ${one ? 'it' : 'them'}`
  const kinds = [...printable([...topology.ignored])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, n]) => `${n} ${kind}`)
  return [...(intent.foreign.length > 0 ? [foreign] : []), ...(kinds.length > 0 ? [`objects of no concern: ${kinds.join(', ')}`] : [])]
}

/** The problem that each refusal has; a policy may have switched it off. */
export function remediesOf({ unassigned, problems }: Plan): ReadonlyMap<Unassigned, Problem> {
  const byObject = new Map<string | null, Problem[]>()
  for (const found of problems) byObject.set(found.object, [...(byObject.get(found.object) ?? []), found])
  const found = new Map<Unassigned, Problem>()
  for (const one of unassigned) {
    const same = (byObject.get(one.object) ?? []).filter(({ code }) => code === one.reason)
    const best =
      same.find(({ message }) => message === one.message) ?? same.find(({ message }) => message.includes(one.egressIP)) ?? same[0]
    if (best) found.set(one, best)
  }
  return found
}

/** `Without any one of 6 egress nodes every address that has a node would still have one.` */
export function spareSummary({ egressNodes, losses }: NMinusOne): string {
  if (egressNodes === 0) return 'There is no egress node to lose.'
  const nodes = `any one of ${counted(egressNodes, 'egress node')}`
  return losses.length === 0
    ? `Without ${nodes} every address that has a node would still have one.`
    : `${losses.length} of ${counted(egressNodes, 'egress node')} cannot be lost: not all addresses would find another.`
}

/** `2 of its 3 addresses would find no other node` */
export function lossOf({ holds, unplaced }: NodeLoss): string {
  const which = holds === 1 ? 'its address' : `${unplaced.length} of its ${holds} addresses`
  return `${which} would find no other node`
}

/** `capacity for 2 addresses more on its other candidates would do`; null where capacity is not what is missing. */
export const enough = ({ capacity }: NodeLoss): string | null =>
  capacity === null ? null : `capacity for ${counted(capacity, 'address', 'addresses')} more on its other candidates would do`

/** What would make up for the losses: `1 more node would do: like node-a (for node-a and node-b)` */
export function sparesOf({ losses, spares }: NMinusOne): string | null {
  if (spares.length === 0) return null
  const listed = spares.map(({ like, for: nodes }) => `one like ${like} (for ${few(nodes)})`)
  const helped = new Set(spares.flatMap(({ for: nodes }) => nodes))
  const rest = losses.filter(({ node }) => !helped.has(node)).map(({ node }) => node)
  const left = rest.length > 0 ? `; for ${few(rest)} one node does not do` : ''
  return `${counted(spares.length, 'more node')} would do: ${few(listed, 10)}${left}`
}
