import type { WriteStream } from 'node:tty'
import type { Style } from '../plan/style.js'
import type { Terminal } from './request.js'

/** The process's own streams. Colour only on a terminal that shows it, and never with NO_COLOR (no-color.org). */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', quietWhenClosed)
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    style: styleOf(process.stdout),
    errorStyle: styleOf(process.stderr),
  }
}

function styleOf(stream: Pick<WriteStream, 'columns'> & { readonly isTTY?: boolean }): Style {
  if (!stream.isTTY) return { color: false, width: Number.POSITIVE_INFINITY }
  return { color: !process.env.NO_COLOR && process.env.TERM !== 'dumb', width: Math.max(stream.columns || 80, 40) }
}

/** `egretta plan | head` closes the pipe early: that is no failure of ours. */
function quietWhenClosed(fault: NodeJS.ErrnoException): void {
  if (fault.code !== 'EPIPE') throw fault
  process.exit()
}
