import { spawn } from 'node:child_process'
import { type ExecOptions, PATH } from './exec.js'

/** Something that goes on until it is closed. Closing again is fine. */
export interface Watch {
  close(): void
}

export interface Following {
  readonly command: string
  readonly args: readonly string[]
  /** A line of what it prints, on whichever stream. */
  readonly line: (text: string) => void
  /** It was started, or has ended: what happened meanwhile was not seen. */
  readonly gap: () => void
  /** Milliseconds between two attempts to start it: at first, and at most. */
  readonly pause: readonly [first: number, longest: number]
}

/** One that ran for so long is well: when it ends, it is started again at once. */
const WELL_AFTER = 10_000

/**
 * Follows what a program prints until it is told to stop, and starts it again whenever it ends. It dies with the agent, however that one
 * ends (setpriv: prctl(2) PR_SET_PDEATHSIG).
 */
export function follow(options: ExecOptions, { command, args, line, gap, pause: [first, longest] }: Following): Watch {
  const { prefix = [], path = PATH } = options
  let pause = first
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let stop = () => {}
  const start = () => {
    const [program = command, ...words] = [...prefix, 'setpriv', '--pdeathsig', 'KILL', '--', command, ...args]
    const started = Date.now()
    const child = spawn(program, words, { env: { LC_ALL: 'C', PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] })
    stop = () => child.kill('SIGKILL')
    for (const stream of [child.stdout, child.stderr]) readLines(stream, (text) => closed || line(text))
    let ended = false
    const end = () => {
      if (ended || closed) return
      ended = true
      pause = Date.now() - started > WELL_AFTER ? first : Math.min(pause * 2, longest)
      timer = setTimeout(start, pause)
      gap()
    }
    child.on('spawn', () => closed || gap())
    child.on('error', end)
    child.on('close', end)
  }
  start()
  return {
    close() {
      closed = true
      clearTimeout(timer)
      stop()
    },
  }
}

function readLines(stream: NodeJS.ReadableStream, line: (text: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) line(text)
  })
}
