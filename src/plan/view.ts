import type { NMinusOne, Unassigned } from '../model/assignment.js'
import type { Inputs } from '../model/inputs.js'
import type { Problem, Severity } from '../model/problem.js'
import { PROBLEMS } from '../model/problem.js'
import type { Plan } from './index.js'
import { hasDifferences } from './index.js'
import type { ObjectChange } from './object-change.js'
import {
  changeCounts,
  countProblems,
  effects,
  enough,
  entryCounts,
  hostingOf,
  leftAlone,
  lossOf,
  nodesOf,
  noticed,
  type PlanNotes,
  remediesOf,
  route,
  spareSummary,
  sparesOf,
  staying,
  subjectOf,
  termsOf,
} from './phrases.js'
import type { Style, Tone } from './style.js'
import { columns, few, paint, printable, wrap } from './style.js'

/** How many addresses of a lost node are listed. */
const LISTED = 10

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
    changeLines(plan, notes, style),
    plan.unassigned.flatMap((one) => refusalLines(one, remedies.get(one), style)),
    titled(
      'Objects',
      printable(notes.objects).flatMap((one) => objectLines(one, style)),
      style,
    ),
    titled('Hosts', hostLines(plan), style),
    titled(
      'Problems',
      others.flatMap((found) => problemLines(found, style).map((line) => `  ${line}`)),
      style,
    ),
    plan.nMinusOne ? lossLines(plan.nMinusOne, style) : [],
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

function problemLines({ severity, code, object, message, remedy, source }: Problem, style: Style): readonly string[] {
  const at = source ? `${source.file}:${source.line}:${source.column}: ` : ''
  const head = `${at}${paint(style, TONES[severity], severity)} ${paint(style, 'bold', code)}${object ? ` ${object}` : ''}:`
  const plain = `${at}${severity} ${code}${object ? ` ${object}` : ''}: ${message}`
  const rest = wrap(style, '    ', remedy)
  return plain.length <= style.width ? [`${head} ${message}`, ...rest] : [head, ...wrap(style, '    ', message), ...rest]
}

function headline(plan: Plan, notes: PlanNotes, style: Style): readonly string[] {
  return [paint(style, 'bold', subjectOf(plan, notes)), ...termsOf(plan, notes).flatMap((term) => wrap(style, '', term))]
}

/** A line for each change; where a line would be too wide, the network stands below it, with what pods notice. */
function changeLines({ assignments, disruptions }: Plan, notes: PlanNotes, style: Style): readonly string[] {
  const changed = assignments.filter((one) => one.change !== 'keep')
  const rows = changed.map((one) => [one.egressIP, one.object, route(one), hostingOf(one)])
  const wide = columns(rows)
  const fits = wide.every((line) => line.length + 4 <= style.width)
  const lines = fits ? wide : columns(rows.map((row) => row.slice(0, -1)))
  const notices = new Map(disruptions.map((one) => [`${one.object} ${one.egressIP}`, noticed(one, notes)]))
  return changed.flatMap((one, i) => {
    const [symbol, tone] = CHANGES[one.change as keyof typeof CHANGES]
    const below = [...(fits ? [] : [hostingOf(one)].filter(Boolean)), ...(notices.get(`${one.object} ${one.egressIP}`) ?? [])]
    return [`  ${paint(style, tone, symbol)} ${lines[i]}`, ...wrap(style, '      ', below.join('; '))]
  })
}

function refusalLines(one: Unassigned, found: Problem | undefined, style: Style): readonly string[] {
  const tone = TONES[found?.severity ?? 'info']
  const lost = one.from === null ? '' : `  leaves ${one.from}`
  const at = found?.source ? `  ${found.source.file}:${found.source.line}:${found.source.column}` : ''
  const nodes = nodesOf(one)
  const why = nodes === '' ? [] : wrap(style, '      ', `nodes: ${nodes}`)
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

function hostLines({ nodes }: Plan): readonly string[] {
  return columns(nodes.map((one) => [one.node, entryCounts(one)])).map((line) => `  ${line}`)
}

function lossLines(found: NMinusOne, style: Style): readonly string[] {
  const each = found.losses.flatMap((loss) => {
    const lost = loss.unplaced.map(({ egressIP, object, reason }) => `${egressIP} of ${object} (${reason})`)
    return [
      `  ${paint(style, 'yellow', '!')} ${loss.node}  ${lossOf(loss)}`,
      ...wrap(style, '      ', few(lost, LISTED)),
      ...wrap(style, '      ', enough(loss) ?? ''),
    ]
  })
  return titled(
    'Without one node',
    [...wrap(style, '  ', spareSummary(found)), ...each, ...wrap(style, '  ', sparesOf(found) ?? '')],
    style,
  )
}

function noteLines(inputs: Inputs, style: Style): readonly string[] {
  return leftAlone(inputs)
    .flatMap((note) => wrap(style, '', note))
    .map((line) => paint(style, 'dim', line))
}

function summaryLines(plan: Plan, notes: PlanNotes, style: Style): readonly string[] {
  const { unassigned } = plan.summary
  const problems = plan.problems.length > 0 ? [`${countProblems(plan.problems)}.`] : []
  if (!hasDifferences(plan, notes.objects))
    return [...leading('No changes.', `${staying(plan)}${unassigned > 0 ? `, ${unassigned} refused` : ''}.`, style), ...problems]
  return [...leading('Plan:', `${changeCounts(plan)}; ${effects(plan, notes)}.`, style), ...problems]
}

/** A paragraph whose first words are bold. */
function leading(title: string, text: string, style: Style): readonly string[] {
  return wrap(style, '', `${title} ${text}`).map((line, i) => (i === 0 ? paint(style, 'bold', title) + line.slice(title.length) : line))
}

function titled(title: string, lines: readonly string[], style: Style): readonly string[] {
  return lines.length > 0 ? [paint(style, 'bold', `${title}:`), ...lines] : []
}
