import type { WriteStream } from 'node:tty'
import type { Style } from '../plan/style.js'
import type { Terminal } from './request.js'

/** The process's own streams. Colour only on a terminal that shows it, and never with NO_COLOR (no-color.org). */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', quietWhenClosed)
  const { out, err, progress } = withProgress(
    (text) => void process.stdout.write(text),
    (text) => void process.stderr.write(text),
  )
  return {
    out,
    err,
    ...(process.stderr.isTTY && process.env.TERM !== 'dumb' ? { progress } : {}),
    style: styleOf(process.stdout, process.env),
    errorStyle: styleOf(process.stderr, process.env),
  }
}

const ERASE_LINE = '\r\x1b[K'

/** Streams of which the second shows what goes on, in one line that is gone before anything else is printed. */
export function withProgress(out: Terminal['out'], err: Terminal['err']): Required<Pick<Terminal, 'out' | 'err' | 'progress'>> {
  let shown = false
  const erase = () => {
    if (shown) err(ERASE_LINE)
    shown = false
  }
  return {
    out(text) {
      erase()
      out(text)
    },
    err(text) {
      erase()
      err(text)
    },
    progress(step) {
      erase()
      err(`${step} …`)
      shown = true
    },
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
