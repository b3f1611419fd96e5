import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { createExec, type ExecOptions, HostFault } from './exec.js'
import { makeFolder, openForWriting } from './files.js'

export interface RunLock {
  /** The locked descriptor. A child that inherits it keeps the lock until it ends too. */
  readonly fd: number
  release(): void
}

const WAIT_SECONDS = 10

/**
 * Lets one agent at a time work on the host. The lock belongs to an open file (flock(2)), not to a process id: it is gone when the
 * last process that has the file open ends, however it ends, and a command that outlives a killed agent still holds it.
 * Fails with HostFault when another run does not end within ten seconds.
 */
export async function lockState(stateDir: string, options: ExecOptions): Promise<RunLock> {
  makeFolder(stateDir)
  const fd = openForWriting(join(stateDir, 'lock'))
  const { code } = await createExec({ ...options, inherit: fd })('flock', ['--timeout', `${WAIT_SECONDS}`, '3'], {
    timeout: (WAIT_SECONDS + 5) * 1000,
  })
  if (code !== 0) {
    closeSync(fd)
    throw new HostFault('CommandFailed', 'another egretta-agent is working on this host', 'Wait until it has ended, then run again.')
  }
  return { fd, release: () => closeSync(fd) }
}
