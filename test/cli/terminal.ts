import { run } from '../../src/cli/program.js'
import type { ExitCode, Terminal } from '../../src/cli/request.js'
import { PLAIN } from '../../src/plan/style.js'

export interface Run {
  readonly exit: ExitCode
  readonly out: string
  readonly err: string
}

/** Runs a command line with a terminal that keeps what is printed. */
export async function egretta(...argv: readonly string[]): Promise<Run> {
  const printed = { out: '', err: '' }
  const terminal: Terminal = {
    out: (text) => {
      printed.out += text
    },
    err: (text) => {
      printed.err += text
    },
    style: PLAIN,
    errorStyle: PLAIN,
  }
  const exit = await run(argv, terminal)
  return { exit, ...printed }
}
