import type { Change } from '../model/change.js'
import { type Exec, failure, HostFault } from './exec.js'

/** How far a batch came. */
export interface Batch {
  /** How many of the changes, from the first, are made. */
  readonly made: number
  /** Why not all; null when they are. */
  readonly fault: HostFault | null
}

/** What ip says of the deletion of something that is not there: of a route, a rule, an interface, an address. */
const GONE = /No such process|No such file or directory|Cannot find device|No such device|Cannot assign requested address/

/**
 * Makes changes by `ip -batch`, one line each. That is not atomic: it stops at the first line that fails, and what stands before is made.
 * A deletion of what somebody else deleted first counts as made.
 */
export async function batch<E>(
  exec: Exec,
  options: readonly string[],
  changes: readonly Change<E>[],
  line: (change: Change<E>) => string,
): Promise<Batch> {
  const args = [...options, '-batch', '-']
  for (let made = 0; made < changes.length; ) {
    const left = changes.slice(made)
    const outcome = await exec('ip', args, { input: left.map((change) => `${line(change)}\n`).join('') })
    if (outcome.code === 0) break
    // Without -force, ip names the line at which it stopped.
    const failed = Number(/Command failed -:(\d+)/.exec(outcome.stderr)?.[1] ?? 1) - 1
    const at = left[failed]
    made += failed
    if (at?.op === 'delete' && GONE.test(outcome.stderr)) made += 1
    else {
      const { code, message, remedy } = failure('ip', args, outcome)
      return { made, fault: new HostFault(code, at ? `${at.key}: ${message}` : message, remedy) }
    }
  }
  return { made: changes.length, fault: null }
}

/** `batch` for a subsystem that keeps no record of what was made. Fails with HostFault. */
export async function batchAll<E>(
  exec: Exec,
  options: readonly string[],
  changes: readonly Change<E>[],
  line: (change: Change<E>) => string,
): Promise<void> {
  const { fault } = await batch(exec, options, changes, line)
  if (fault) throw fault
}
