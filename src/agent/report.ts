import { printPrefix } from '../model/address.js'
import type { Change } from '../model/change.js'
import type { Problem } from '../model/problem.js'
import type { Language } from '../syntax/language.js'
import type { Entry } from '../syntax/languages.js'
import { hex } from '../syntax/match.js'
import { nftObject } from '../syntax/nftables.js'
import { printFlow } from '../syntax/openflow.js'
import { type HostRoute, routes } from '../syntax/routes.js'
import { type HostRule, rules } from '../syntax/rules.js'
import type { Report } from './run.js'

/** The report as JSON, kind `Change`: plain words for every entry, as it stands in a bundle. */
export function printJson({ node, phase, changes, pending, problems }: Report): string {
  const plain = changes.map(({ subsystem, op, key, entry, from }) => ({ subsystem, op, key, entry: wordsOf(entry), from: wordsOf(from) }))
  return `${JSON.stringify({ kind: 'Change', node, phase, changes: plain, pending, problems }, null, 2)}\n`
}

/** An entry in the words of its file: a flow as `ovs-ofctl` takes it, an nft object, fields of `ip -j`. */
function wordsOf(entry: Entry | null): unknown {
  if (entry === null) return null
  if ('cookie' in entry) return { ...entry, cookie: hex(entry.cookie), match: Object.fromEntries(entry.match) }
  if ('kind' in entry) return nftObject(entry)
  if ('lladdr' in entry) return { ...entry, dst: entry.dst.text }
  if ('address' in entry) return { ...entry, address: printPrefix(entry.address) }
  if ('metric' in entry) return asRendered(routes, entry)
  if ('fwmark' in entry) return { ...asRendered(rules, entry), ...(entry.altered !== undefined && { altered: entry.altered }) }
  return entry
}

const asRendered = <E extends HostRoute | HostRule>(language: Language<E>, entry: E): object => ({
  ...(JSON.parse(language.print([entry])) as readonly object[])[0],
  for: entry.for,
})

const SYMBOLS = { add: '+', update: '~', delete: '-' } as const

/** The report for a person: one line per change, what waits and why, a last line that says it all. */
export function printText(report: Report, command: 'diff' | 'apply'): string {
  const { node, phase, changes, pending, exitCode } = report
  const lines = changes.map((change) => `  ${SYMBOLS[change.op]} ${change.subsystem}  ${describe(change)}`)
  const waiting = pending.map(({ subsystem, key, reason }) => `  ? ${subsystem}  ${key}: ${reason}`)
  const count = (op: Change<Entry>['op']) => changes.filter((change) => change.op === op).length
  const counted = `${count('add')} to add, ${count('update')} to update, ${count('delete')} to delete`
  const total = changes.length > 0 ? counted : exitCode === 1 ? 'failed or refused, nothing was changed' : 'no changes'
  const waits = pending.length === 0 ? '' : `, ${pending.length} pending`
  const outcome =
    command === 'diff' || changes.length === 0 ? '' : exitCode === 1 ? ': done, but then it failed' : exitCode === 2 ? '' : ': done'
  return [...lines, ...waiting, `${node} (${phase}): ${total}${waits}${outcome}.`, ''].join('\n')
}

function describe({ key, entry }: Change<Entry>): string {
  if (entry && 'cookie' in entry) return `${entry.bridge} ${printFlow(entry)}`
  if (entry && 'lladdr' in entry) return `${key} lladdr ${entry.lladdr}`
  return key
}

/** One problem on two lines, for standard error. */
export const printProblem = ({ severity, code, message, remedy }: Problem): string => `${severity} ${code}: ${message}\n  → ${remedy}\n`
