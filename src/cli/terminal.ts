import type { WriteStream } from 'node:tty'
import type { Style } from '../plan/style.js'
import type { Terminal } from './request.js'

/** The process's own streams. Colour only on a terminal that shows it, and never with NO_COLOR (no-color.org). */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', quietWhenClosed)
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    style: styleOf(process.stdout, process.env),
    errorStyle: styleOf(process.stderr, process.env),
  }
}

/** Lines are broken on a terminal only: what goes to a file or a program stays one line each. */
export function styleOf(stream: Partial<Pick<WriteStream, 'columns' | 'isTTY'>>, environment: NodeJS.ProcessEnv): Style {
  if (!stream.isTTY) return { color: false, width: Number.POSITIVE_INFINITY }
  return { color: !environment.NO_COLOR && environment.TERM !== 'dumb', width: Math.max(stream.columns || 80, 40) }
}

/** `egretta plan | head` closes the pipe early: that is no failure of ours. */
function quietWhenClosed(fault: NodeJS.ErrnoException): void {
  if (fault.code !== 'EPIPE') throw fault
  process.exit()
}
