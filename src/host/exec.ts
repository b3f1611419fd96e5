import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { packageOf } from '../model/package.js'

export type HostFaultCode = 'MissingTool' | 'NoPermission' | 'CommandFailed'

/** The host refused something. `message` says what, `remedy` what to do. */
export class HostFault extends Error {
  constructor(
    readonly code: HostFaultCode,
    message: string,
    readonly remedy: string,
  ) {
    super(message)
  }
}

export interface RunOptions {
  /** Text for standard input, as a file: `nft -f -` fails on a pipe of Node's. Without it standard input is closed. */
  readonly input?: string
  /** Milliseconds until the command is killed and the run fails; 10,000 unless given. */
  readonly timeout?: number
}

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program without a shell, in the C locale, with a fixed PATH. Fails with HostFault only for what no caller can judge: missing tool, no permission, time out. */
export type Exec = (command: string, args: readonly string[], options?: RunOptions) => Promise<Outcome>

export interface ExecOptions {
  /** Words put before every command, such as `nsenter --net=… --`. */
  readonly prefix?: readonly string[]
  /** Folders for the short-lived file behind standard input; the first that takes it. */
  readonly scratch?: readonly string[]
  readonly path?: string
  /** A descriptor that every child inherits, so that a lock on it outlives the agent until the last child has ended. */
  readonly inherit?: number
  /** When it is aborted, what runs is killed and nothing more is started: every command fails. */
  readonly signal?: AbortSignal
  /** Added to the environment, which is fixed otherwise. */
  readonly env?: Readonly<Record<string, string>>
}

export const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const TIMEOUT = 10_000
/** Memory first: a full disk must not keep a guard from being loaded. */
export const SCRATCH = ['/dev/shm', '/run', '/tmp']

/** Makes the one way in which this program starts others. */
export function createExec(options: ExecOptions = {}): Exec {
  const { prefix = [], scratch = SCRATCH, path = PATH, inherit, signal, env = {} } = options
  // Everything that runs listens to it; that it is much at a time is no leak.
  if (signal) setMaxListeners(0, signal)
  return async (command, args, { input, timeout = TIMEOUT } = {}) => {
    if (signal?.aborted) throw stopping(command)
    const [program = command, ...words] = [...prefix, command, ...args]
    const stdin = input === undefined ? undefined : inputFile(scratch, input, command)
    return new Promise<Outcome>((resolve, reject) => {
      const child = spawn(program, words, {
        env: { LC_ALL: 'C', PATH: path, ...env },
        stdio: [stdin ?? 'ignore', 'pipe', 'pipe', ...(inherit === undefined ? [] : [inherit])],
      })
      // What a killed command started may keep its streams open, so nothing waits for their end.
      const stop = (fault: HostFault) => {
        child.kill('SIGKILL')
        child.stdout?.destroy()
        child.stderr?.destroy()
        child.unref()
        end()
        reject(fault)
      }
      const timer = setTimeout(() => stop(late(command, timeout)), timeout)
      const abort = () => stop(stopping(command))
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
      }
      signal?.addEventListener('abort', abort)
      const stdout: Buffer[] = []
      const stderr: Buffer[] = []
      child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
      child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
      child.on('error', (error: NodeJS.ErrnoException) => {
        end()
        reject(startFault(command, error))
      })
      child.on('close', (code) => {
        end()
        const outcome = { code: code ?? 128, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }
        const fault = outcomeFault(command, prefix.length > 0, outcome)
        if (fault) reject(fault)
        else resolve(outcome)
      })
    }).finally(() => {
      if (stdin !== undefined) closeSync(stdin)
    })
  }
}

/** The standard output of a command that must succeed; HostFault CommandFailed with what it said otherwise. */
export async function output(exec: Exec, command: string, args: readonly string[], options?: RunOptions): Promise<string> {
  const outcome = await exec(command, args, options)
  if (outcome.code !== 0) throw failure(command, args, outcome)
  return outcome.stdout
}

/** What to throw when a command failed for a reason that the caller does not expect. */
export function failure(command: string, args: readonly string[], outcome: Outcome): HostFault {
  const said = (outcome.stderr || outcome.stdout).trim().split('\n').slice(0, 3).join(' ')
  const shown = [command, ...args].join(' ')
  return new HostFault(
    'CommandFailed',
    `"${shown}" failed with exit code ${outcome.code}: ${said}`,
    'See what the command says; the host was put back as it was found.',
  )
}

/** An unnamed file with this text. Written at position 0 without moving the offset, which the child shares. */
export function inputFile(folders: readonly string[], text: string, command: string): number {
  const [folder = '', ...others] = folders
  const name = `${folder}/.egretta-${randomUUID()}`
  try {
    const fd = openSync(name, 'wx+', 0o600)
    unlinkSync(name)
    try {
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at)
      return fd
    } catch (error) {
      closeSync(fd)
      throw error
    }
  } catch (error) {
    if (others.length > 0) return inputFile(others, text, command)
    throw new HostFault(
      'CommandFailed',
      `the input of ${command} cannot be written: ${(error as Error).message}`,
      `Make room in ${folder}, then run again.`,
    )
  }
}

const late = (command: string, timeout: number): HostFault =>
  new HostFault(
    'CommandFailed',
    `${command} did not end within ${timeout / 1000} seconds`,
    `See why ${command} hangs on this host, then run again.`,
  )

const stopping = (command: string): HostFault =>
  new HostFault('CommandFailed', `${command} was not run to its end: the agent is stopping`, 'Run again.')

function missing(command: string): HostFault {
  return new HostFault('MissingTool', `${command} is not installed`, `Install ${packageOf(command)}, then run again.`)
}

function denied(command: string, said: string): HostFault {
  return new HostFault(
    'NoPermission',
    `${command} may not do this: ${said}`,
    'Run as root, or with CAP_NET_ADMIN and access to the sockets of Open vSwitch.',
  )
}

function startFault(command: string, error: NodeJS.ErrnoException): HostFault {
  if (error.code === 'ENOENT') return missing(command)
  if (error.code === 'EACCES' || error.code === 'EPERM') return denied(command, error.message)
  return new HostFault(
    'CommandFailed',
    `${command} does not start: ${error.message}`,
    'See why the host starts no processes, then run again.',
  )
}

function outcomeFault(command: string, prefixed: boolean, { code, stderr }: Outcome): HostFault | undefined {
  if (code === 0) return undefined
  if (prefixed && code === 127 && /No such file or directory/.test(stderr)) return missing(command)
  const line = stderr.split('\n').find((text) => /Operation not permitted|Permission denied/.test(text))
  return line === undefined ? undefined : denied(command, line.trim())
}
