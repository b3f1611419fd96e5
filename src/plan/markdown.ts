import type { Assignment, NMinusOne, Unassigned } from '../model/assignment.js'
import { PROBLEMS, type Problem } from '../model/problem.js'
import { clipped, code, fenced, htmlCode, prose } from './escape.js'
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
  spareSummary,
  sparesOf,
  staying,
  subjectOf,
  termsOf,
} from './phrases.js'
import { type Section, shorten } from './shorten.js'
import { few, printable } from './style.js'

/** GitHub takes comments of 65,536 characters; the rest is for who puts a line of their own around the plan. */
const LIMIT = 65_000
/** Longest sentence in a cell, and how many addresses of a node are listed. */
const SENTENCE = 600
const LISTED = 20

const SIGNS = { add: '+', move: '~', remove: '-' } as const

/**
 * The plan as a comment of a pull request, in GitHub-flavoured Markdown: headline, changes, refusals with reasons and remedies,
 * problems, and folded for each node what its host changes. Names of the inputs form no markup and mention nobody. At most 65,000 characters: what
 * does not fit is left out, and the comment says so.
 */
export function viewMarkdown(given: Plan, notes: PlanNotes): string {
  const plan = printable(given)
  const remedies = remediesOf(plan)
  const told = new Set(remedies.values())
  const sections: readonly Section[] = [
    { head: headline(plan, notes), rows: leads(plan, notes), gap: '\n\n' },
    table('Changes', ['', 'address', 'EgressIP', 'node', 'network', 'pods'], changeRows(plan, notes)),
    table(
      'Refused',
      ['address', 'EgressIP', 'reason', 'why', 'what to do'],
      plan.unassigned.map((one) => refusalRow(one, remedies.get(one))),
    ),
    { head: '#### Problems\n', rows: plan.problems.filter((found) => !told.has(found)).map(problemRow), gap: '\n' },
    { head: '#### Objects', rows: printable(notes.objects).map(objectBlock), gap: '\n\n' },
    { head: '#### Hosts', rows: nodeBlocks(plan), gap: '\n\n' },
    ...(plan.nMinusOne ? [lossSection(plan.nMinusOne)] : []),
    { head: '', rows: leftAlone(notes.inputs).map(prose), gap: '\n\n' },
  ]
  return shorten(sections, LIMIT)
}

function headline(plan: Plan, { objects }: PlanNotes): string {
  const { unassigned } = plan.summary
  if (hasDifferences(plan, objects)) return `### Plan: ${changeCounts(plan)}`
  return `### No changes: ${staying(plan)}${unassigned > 0 ? `, ${unassigned} refused` : ''}`
}

function leads(plan: Plan, notes: PlanNotes): readonly string[] {
  const problems = plan.problems.length > 0 ? ` **${countProblems(plan.problems)}.**` : ''
  const terms = [subjectOf(plan, notes), ...termsOf(plan, notes)].map((term) => `- ${prose(clipped(term, SENTENCE))}`)
  return [`${capital(effects(plan, notes))}.${problems}`, terms.join('\n')]
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const table = (title: string, heads: readonly string[], rows: readonly (readonly string[])[]): Section => ({
  head: `#### ${title}\n\n${row(heads)}\n${row(heads.map(() => '---'))}`,
  rows: rows.map(row),
  gap: '\n',
})

function changeRows({ assignments, disruptions }: Plan, notes: PlanNotes): readonly (readonly string[])[] {
  const notices = new Map(disruptions.map((one) => [`${one.object} ${one.egressIP}`, noticed(one, notes).join('; ')]))
  return assignments.flatMap((one) => {
    if (one.change === 'keep') return []
    const notice = notices.get(`${one.object} ${one.egressIP}`) ?? ''
    return [
      [`\`${SIGNS[one.change]}\``, code(one.egressIP), code(one.object), way(one), prose(hostingOf(one)), prose(clipped(notice, SENTENCE))],
    ]
  })
}

function way({ change, node, from }: Assignment): string {
  if (change === 'remove') return `from ${code(from ?? '')}`
  return change === 'move' ? `${code(from ?? '')} → ${code(node ?? '')}` : code(node ?? '')
}

function refusalRow(one: Unassigned, found: Problem | undefined): readonly string[] {
  const nodes = nodesOf(one)
  const why = [
    prose(clipped(one.message, SENTENCE)),
    ...(nodes === '' ? [] : [prose(`Nodes: ${clipped(nodes, SENTENCE)}.`)]),
    ...(one.from === null ? [] : [`It leaves ${code(one.from)}.`]),
    ...placeOf(found),
  ]
  const remedy = prose(clipped(found?.remedy ?? PROBLEMS[one.reason].remedy, SENTENCE))
  return [code(clipped(one.egressIP, SENTENCE)), code(clipped(one.object, SENTENCE)), one.reason, why.join(' '), remedy]
}

function problemRow(found: Problem): string {
  const { severity, object, message, remedy } = found
  const about = object === null ? '' : ` ${code(clipped(object, SENTENCE))}`
  const place = placeOf(found).map((at) => ` ${at}`)
  return `- **${severity}** ${found.code}${about}: ${prose(clipped(message, SENTENCE))} ${prose(clipped(remedy, SENTENCE))}${place.join('')}`
}

const placeOf = (found: Problem | undefined): readonly string[] =>
  found?.source ? [`(${code(`${clipped(found.source.file, SENTENCE)}:${found.source.line}:${found.source.column}`)})`] : []

const objectBlock = ({ object, lines }: ObjectChange): string =>
  `EgressIP ${code(object)}\n\n${fenced(
    'diff',
    lines.map((line) => clipped(line, SENTENCE)),
  )}`

/** Folded: a click on the line of a node shows which addresses come and go, and how many entries of each part of the host change. */
function nodeBlocks({ nodes, assignments, unassigned }: Plan): readonly string[] {
  const arriving = namesBy(assignments.filter(({ change }) => change === 'add' || change === 'move').map((one) => [one.node, one]))
  const leaving = namesBy([...assignments, ...unassigned].map((one) => [one.from, one]))
  return nodes.map((changed) => {
    const moves = [listed('arrive', arriving.get(changed.node)), listed('leave', leaving.get(changed.node))].filter(Boolean)
    const counts = Object.entries(changed.changes).map(([subsystem, { add, update, delete: gone }]) =>
      row([subsystem, String(add), String(update), String(gone)]),
    )
    return [
      `<details><summary>${htmlCode(changed.node)}: ${entryCounts(changed)}</summary>`,
      ...(moves.length > 0 ? [moves.join('\n')] : []),
      [row(['', 'add', 'update', 'delete']), row(['---', '---', '---', '---']), ...counts].join('\n'),
      '</details>',
    ].join('\n\n')
  })
}

function lossSection(found: NMinusOne): Section {
  const rows = found.losses.map((loss) => {
    const lost = loss.unplaced.map(({ egressIP, object, reason }) => `${code(egressIP)} of ${code(object)} (${reason})`)
    const remedy = enough(loss)
    return `- ${code(loss.node)}: ${lossOf(loss)}: ${few(lost, LISTED)}${remedy === null ? '' : `; ${remedy}`}`
  })
  const spares = sparesOf(found)
  const summary = [spareSummary(found), ...(spares === null ? [] : [`${prose(clipped(spares, SENTENCE))}.`])].join(' ')
  return { head: '#### Without one node', rows: [summary, ...rows], gap: '\n\n' }
}

type Named = Pick<Assignment, 'egressIP' | 'object'>

function namesBy(entries: readonly (readonly [string | null, Named])[]): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  for (const [node, { egressIP, object }] of entries) {
    if (node === null) continue
    const known = names.get(node) ?? []
    names.set(node, known)
    known.push(`${code(egressIP)} of ${code(object)}`)
  }
  return names
}

function listed(title: string, names: readonly string[] = []): string {
  const rest = names.length > LISTED ? ` and ${names.length - LISTED} more` : ''
  return names.length > 0 ? `- ${title}: ${names.slice(0, LISTED).join(', ')}${rest}` : ''
}
