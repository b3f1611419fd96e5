import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { createExec, type ExecOptions, HostFault } from './exec.js'
import { makeFolder, openForWriting } from './files.js'

export interface RunLock {
  /** The locked descriptor. A child that inherits it keeps the lock until it ends too. */
  readonly fd: number
  release(): void
}

/** How long who wants a lock waits for it. */
const WAIT_SECONDS = 10

/**
 * Lets one agent at a time work on the host. The lock belongs to an open file (flock(2)), not to a process id: it is gone when the
 * last process that has the file open ends, however it ends, and a command that outlives a killed agent still holds it.
 * Fails with HostFault when another run does not end within ten seconds.
 */
export async function lockState(stateDir: string, options: ExecOptions): Promise<RunLock> {
  const lock = await lockFile(stateDir, 'lock', WAIT_SECONDS, options)
  if (lock) return lock
  throw new HostFault('CommandFailed', 'another egretta-agent is working on this host', 'Wait until it has ended, then run again.')
}

/** Lets one agent stay on the host. Fails with HostFault at once when another one is there. */
export async function lockHost(stateDir: string, options: ExecOptions): Promise<RunLock> {
  const lock = await lockFile(stateDir, 'daemon.lock', 0, options)
  if (lock) return lock
  throw new HostFault('CommandFailed', 'another egretta-agent run is on this host already', 'Stop it first, or leave this host to it.')
}

async function lockFile(stateDir: string, name: string, seconds: number, options: ExecOptions): Promise<RunLock | null> {
  makeFolder(stateDir)
  const fd = openForWriting(join(stateDir, name))
  try {
    const args = ['--timeout', `${seconds}`, '3']
    const { code } = await createExec({ ...options, inherit: fd })('flock', args, { timeout: (seconds + 5) * 1000 })
    if (code === 0) return { fd, release: () => closeSync(fd) }
  } catch (error) {
    closeSync(fd)
    throw error
  }
  closeSync(fd)
  return null
}
