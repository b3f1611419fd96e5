import { SUBSYSTEMS } from './entries.js'
import { printProblem } from './report.js'
import { type AgentStatus, obstacles, type SubsystemStatus } from './status.js'

/** How many egress IPs are listed; of more the number is said. */
const LISTED = 20

/** The status for a person: what it is, subsystem by subsystem, who meddled, what is held, and why it is not ready. */
export function printStatus(status: AgentStatus): string {
  const { node, version, phase, bundle, ready, subsystems, held, passes, problems, sourceError } = status
  const from =
    bundle && `${bundle.digest.slice(0, 16)} from ${bundle.source}${bundle.revision === null ? '' : `, commit ${bundle.revision}`}`
  const last = passes.lastEnd === null ? '' : `, the last ended ${passes.lastEnd} after ${passes.lastSeconds?.toFixed(2)} s`
  const drifts = SUBSYSTEMS.flatMap((name) => {
    const { lastDrift } = subsystems[name]
    return lastDrift ? [[name, lastDrift.time, `${lastDrift.who}; first lost: ${lastDrift.key}`]] : []
  })
  const errors = SUBSYSTEMS.flatMap((name) => {
    const { lastError, lastErrorTime } = subsystems[name]
    return lastError === null ? [] : [[name, lastErrorTime ?? '', lastError]]
  })
  const waits = SUBSYSTEMS.flatMap((name) =>
    subsystems[name].waits.map(({ reason, count, key }) => [name, `${count}`, `${reason}; first: ${key}`]),
  )
  const more = held.length > LISTED ? [[`and ${held.length - LISTED} more`]] : []
  return [
    `${node}: ${ready ? 'ready' : 'not ready'} (${phase}, egretta-agent ${version})`,
    `bundle: ${from ?? 'none yet'}`,
    `passes: ${passes.count}, ${passes.failed} failed${last}`,
    '',
    ...table([
      ['subsystem', 'state', 'entries', 'pending', 'drift', 'last change', 'desired'],
      ...SUBSYSTEMS.map((name) => row(name, subsystems[name])),
    ]),
    ...section('egress IPs held', [...held.slice(0, LISTED).map((each) => [each.address, each.interface, `since ${each.since}`]), ...more]),
    ...section('last drift', drifts),
    ...section('last errors', errors),
    ...section('waiting', waits),
    ...section('source', sourceError ? [[`cannot be used since ${sourceError.since}: ${sourceError.text}`]] : []),
    ...section('not ready because', ready ? [] : obstacles(status).map((reason) => [reason])),
    ...(problems.length === 0 ? [] : ['', ...problems.map((each) => printProblem(each).trimEnd())]),
    '',
  ].join('\n')
}

function row(name: string, subsystem: SubsystemStatus): readonly string[] {
  const { ownership, desired, observed, entries, pending, drift, lastChange } = subsystem
  return [
    name,
    stateOf(subsystem),
    `${entries}`,
    `${pending}`,
    `${drift}`,
    lastChange ?? '-',
    ownership === 'off' ? '-' : (desired ?? '-'),
  ].concat(observed !== desired && observed !== null ? [`observed ${observed}`] : [])
}

function stateOf({ ownership, desired, observed, pending }: SubsystemStatus): string {
  if (ownership === 'off') return 'off'
  const state = desired === null ? 'not seen' : observed !== desired ? 'differs' : pending > 0 ? 'waits' : 'holds'
  return ownership === 'verify' ? `${state} (verify)` : state
}

const section = (title: string, rows: readonly (readonly string[])[]): readonly string[] =>
  rows.length === 0 ? [] : ['', `${title}:`, ...table(rows)]

/** Rows with their columns one below the other. Programs choose their names, so what would steer a terminal is shown as `?`. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const shown = rows.map((row) => row.map((cell) => cell.replace(/\p{Cc}/gu, '?')))
  const widths: number[] = []
  for (const row of shown) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  return shown.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd())
}
