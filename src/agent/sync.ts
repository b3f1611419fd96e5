import type { Exec } from '../host/exec.js'
import type { Problem } from '../model/problem.js'
import { faultProblem } from './reconcile.js'
import type { Report } from './run.js'

/** How a node that starts finds out that its data path is in place. */
export interface SyncOptions {
  /** Milliseconds for which the entries must have been there. */
  readonly settle: number
  /** A command, without shell, that ends with 0 when it is; it takes the place of the time. */
  readonly check: readonly string[] | null
}

/** What waits for a port or an interface that is missing keeps the guard of the start no longer than this. */
const PATIENCE = 30_000
const CHECK_EVERY = 1_000
const CHECK_WITHIN = 10_000

/** Whether a node that starts may speak. Times are milliseconds of one clock. */
export interface Sync {
  /** Milliseconds to wait after this report of a pass, as far as is known; 0 when the data path is in place, null when only another pass can say. */
  after(report: Report, now: number): number | null
}

/** `checked` is called when the check command has said yes, `failed` when it could not be run, for the same reason once. */
export function createSync({ settle, check }: SyncOptions, exec: Exec, checked: () => void, failed: (problem: Problem) => void): Sync {
  let since: number | null = null
  let running = false
  let last = Number.NEGATIVE_INFINITY
  let [passed, said] = [false, '']
  const ask = async ([command = '', ...args]: readonly string[]): Promise<void> => {
    running = true
    try {
      passed = (await exec(command, args, { timeout: CHECK_WITHIN })).code === 0
    } catch (error) {
      const problem = faultProblem(error)
      if (problem.message !== said) failed(problem)
      said = problem.message
    }
    running = false
    if (passed) checked()
  }
  return {
    after({ exitCode }, now) {
      if (exitCode === 1) {
        since = null
        return null
      }
      since ??= now
      if (check === null) return Math.max(0, since + (exitCode === 0 ? settle : Math.max(settle, PATIENCE)) - now)
      if (passed) return 0
      if (!running && now - last >= CHECK_EVERY) {
        last = now
        void ask(check)
      }
      return CHECK_EVERY
    },
  }
}
