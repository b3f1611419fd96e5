import type { Assignment, Unassigned } from '../model/assignment.js'
import type { Inputs } from '../model/inputs.js'
import type { Problem, Severity } from '../model/problem.js'
import { PROBLEMS } from '../model/problem.js'
import type { NodeChanges, Plan } from './index.js'
import { hasDifferences } from './index.js'
import type { ObjectChange } from './object-change.js'
import type { Style, Tone } from './style.js'
import { columns, counted, paint, printable, wrap } from './style.js'

/** What the text says beyond the plan itself. */
export interface PlanNotes {
  readonly inputs: Inputs
  /** How single objects change: `changedObjects`. */
  readonly objects: readonly ObjectChange[]
}

const TONES: Readonly<Record<Severity, Tone>> = { error: 'red', warning: 'yellow', info: 'cyan' }
const CHANGES = { add: ['+', 'green'], move: ['~', 'yellow'], remove: ['-', 'red'] } as const

/** The plan as a person reads it: what changes, what is refused and what to do about it, which hosts change. */
export function viewPlan(given: Plan, notes: PlanNotes, style: Style): string {
  const plan = printable(given)
  const remedies = remediesOf(plan)
  const told = new Set(remedies.values())
  const others = plan.problems.filter((found) => !told.has(found))
  const sections = [
    headline(plan, notes, style),
    changeLines(plan.assignments, style),
    plan.unassigned.flatMap((one) => refusalLines(one, remedies.get(one), style)),
    titled(
      'Objects',
      printable(notes.objects).flatMap((one) => objectLines(one, style)),
      style,
    ),
    titled('Hosts', hostLines(plan.nodes), style),
    titled(
      'Problems',
      others.flatMap((found) => problemLines(found, style).map((line) => `  ${line}`)),
      style,
    ),
    noteLines(notes.inputs, style),
    summaryLines(plan, notes, style),
  ]
  const filled = sections.filter((lines) => lines.length > 0)
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

/** Problems one below the other, each with its place and what to do; empty when there are none. */
export function viewProblems(problems: readonly Problem[], style: Style): string {
  return printable(problems)
    .map((found) => `${problemLines(found, style).join('\n')}\n`)
    .join('')
}

/** `1 error, 2 warnings` */
export function countProblems(problems: readonly Problem[]): string {
  const count = (severity: Severity) => problems.filter((found) => found.severity === severity).length
  const parts = [counted(count('error'), 'error'), counted(count('warning'), 'warning')]
  return count('info') > 0 ? [...parts, counted(count('info'), 'note')].join(', ') : parts.join(', ')
}

function problemLines({ severity, code, object, message, remedy, source }: Problem, style: Style): readonly string[] {
  const at = source ? `${source.file}:${source.line}:${source.column}: ` : ''
  const head = `${at}${paint(style, TONES[severity], severity)} ${paint(style, 'bold', code)}${object ? ` ${object}` : ''}:`
  const plain = `${at}${severity} ${code}${object ? ` ${object}` : ''}: ${message}`
  const rest = wrap(style, '    ', remedy)
  return plain.length <= style.width ? [`${head} ${message}`, ...rest] : [head, ...wrap(style, '    ', message), ...rest]
}

function headline({ placement, summary }: Plan, { inputs }: PlanNotes, style: Style): readonly string[] {
  const objects = inputs.intent.objects.length + inputs.intent.invalid.length
  const asked = `${counted(objects, 'EgressIP')} with ${counted(summary.addresses, 'address', 'addresses')}`
  const nodes = counted(inputs.topology.nodes.length, 'node')
  const means =
    placement === 'enforced' ? 'egretta decides which node has an address' : 'the cluster decides; what is new here is a prediction'
  return [
    paint(style, 'bold', `Plan for ${asked} on ${nodes}`),
    ...wrap(style, '', `placement: ${placement}, because ${inputs.cluster.placementReason}; ${means}`),
  ]
}

function changeLines(assignments: readonly Assignment[], style: Style): readonly string[] {
  const changed = assignments.filter((one) => one.change !== 'keep')
  const lines = columns(changed.map((one) => [one.egressIP, one.object, route(one), hostingOf(one)]))
  return changed.map(({ change }, i) => {
    const [symbol, tone] = CHANGES[change as keyof typeof CHANGES]
    return `  ${paint(style, tone, symbol)} ${lines[i]}`
  })
}

function route({ change, node, from }: Assignment): string {
  if (change === 'remove') return `from ${from}`
  return change === 'move' ? `${from} -> ${node}` : `on ${node}`
}

function hostingOf({ network, networkType, interface: device, certain }: Assignment): string {
  const where = network === null ? '' : `${networkType} network ${network}${device ? ` (${device})` : ''}`
  return certain ? where : `${where}, predicted`
}

function refusalLines(one: Unassigned, found: Problem | undefined, style: Style): readonly string[] {
  const tone = TONES[found?.severity ?? 'info']
  const lost = one.from === null ? '' : `  leaves ${one.from}`
  const at = found?.source ? `  ${found.source.file}:${found.source.line}:${found.source.column}` : ''
  const counts = Object.entries(one.reasons).map(([reason, n]) => `${n} ${reason}`)
  const nodes = one.nodes.map(({ node, reason }) => `${node} ${reason}`)
  const why = counts.length === 0 ? [] : wrap(style, '      ', `nodes: ${(one.nodes.length <= 5 ? nodes : counts).join(', ')}`)
  return [
    `  ${paint(style, tone, '!')} ${one.egressIP}  ${one.object}  ${paint(style, tone, one.reason)}${lost}${paint(style, 'dim', at)}`,
    ...wrap(style, '      ', one.message),
    ...why,
    ...wrap(style, '      ', found?.remedy ?? PROBLEMS[one.reason].remedy),
  ]
}

function objectLines({ object, lines }: ObjectChange, style: Style): readonly string[] {
  const tone = (line: string): string =>
    line.startsWith('+') ? paint(style, 'green', line) : line.startsWith('-') ? paint(style, 'red', line) : line
  return [`  EgressIP/${object}`, ...lines.map((line) => `    ${tone(line)}`)]
}

function hostLines(nodes: readonly NodeChanges[]): readonly string[] {
  const rows = nodes.map(({ node, changes }) => [
    node,
    Object.entries(changes)
      .map(([subsystem, { add, update, delete: gone }]) => {
        const parts = [add && `+${add}`, update && `~${update}`, gone && `-${gone}`].filter(Boolean)
        return `${subsystem} ${parts.join(' ')}`
      })
      .join(', '),
  ])
  return columns(rows).map((line) => `  ${line}`)
}

function noteLines({ intent, topology }: Inputs, style: Style): readonly string[] {
  const addresses = intent.foreign.reduce((sum, { status }) => sum + status.size, 0)
  const foreign = `${counted(intent.foreign.length, 'other EgressIP')} of the cluster ${intent.foreign.length === 1 ? 'keeps its' : 'keep their'} ${counted(addresses, 'address', 'addresses')}; the intent does not mention ${intent.foreign.length === 1 ? 'it' : 'them'}`
  const kinds = [...printable([...topology.ignored])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, n]) => `${n} ${kind}`)
  return [
    ...(intent.foreign.length > 0 ? wrap(style, '', foreign) : []),
    ...(kinds.length > 0 ? wrap(style, '', `objects of no concern: ${kinds.join(', ')}`) : []),
  ].map((line) => paint(style, 'dim', line))
}

function summaryLines(plan: Plan, { objects }: PlanNotes, style: Style): readonly string[] {
  const { summary } = plan
  const refused = summary.unassigned > 0 ? `, ${summary.unassigned} refused` : ''
  const problems = plan.problems.length > 0 ? [`${countProblems(plan.problems)}.`] : []
  if (!hasDifferences(plan, objects)) {
    const stays = summary.kept === 1 ? '1 address stays where it is' : `${summary.kept} addresses stay where they are`
    return [...leading('No changes.', `${stays}${refused}.`, style), ...problems]
  }
  const counts = `${summary.added} to add, ${summary.moved} to move, ${summary.removed} to remove, ${summary.kept} kept${refused}`
  const specs = objects.length === 0 ? '' : ` ${counted(objects.length, 'object')} ${objects.length === 1 ? 'changes' : 'change'},`
  const hosts = `${counted(plan.nodes.length, 'host')} ${plan.nodes.length === 1 ? 'changes' : 'change'}`
  const pods = `${counted(summary.podsAffected, 'pod')} ${summary.podsAffected === 1 ? 'changes its' : 'change their'} source address`
  return [...leading('Plan:', `${counts};${specs} ${hosts}, ${pods}.`, style), ...problems]
}

/** A paragraph whose first words are bold. */
function leading(title: string, text: string, style: Style): readonly string[] {
  return wrap(style, '', `${title} ${text}`).map((line, i) => (i === 0 ? paint(style, 'bold', title) + line.slice(title.length) : line))
}

function titled(title: string, lines: readonly string[], style: Style): readonly string[] {
  return lines.length > 0 ? [paint(style, 'bold', `${title}:`), ...lines] : []
}

/** The problem that each refusal has; a policy may have switched it off. */
function remediesOf({ unassigned, problems }: Plan): ReadonlyMap<Unassigned, Problem> {
  const found = new Map<Unassigned, Problem>()
  for (const one of unassigned) {
    const same = problems.filter(({ code, object }) => code === one.reason && object === one.object)
    const best =
      same.find(({ message }) => message === one.message) ?? same.find(({ message }) => message.includes(one.egressIP)) ?? same[0]
    if (best) found.set(one, best)
  }
  return found
}
