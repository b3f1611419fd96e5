import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { HostFault } from './exec.js'

/** The text of a file; null when it is not there. Fails with HostFault when it may not be read or is no file. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw fileFault(path, error)
  }
}

/** When a file was last written, in milliseconds since 1970; null when it is not there. Fails with HostFault. */
export function writtenAt(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
  } catch (error) {
    throw fileFault(path, error)
  }
}

/** Says when a file was last written. Fails with HostFault. */
export function dateFile(path: string, milliseconds: number): void {
  try {
    utimesSync(path, milliseconds / 1000, milliseconds / 1000)
  } catch (error) {
    throw fileFault(path, error)
  }
}

/** Makes a folder and those above it. Fails with HostFault when others could write to it: what stands in it decides what is deleted. */
export function makeFolder(path: string): void {
  let found: Stats
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    found = statSync(path)
  } catch (error) {
    throw fileFault(path, error)
  }
  if (found.uid === process.geteuid?.() && (found.mode & 0o022) === 0) return
  const remedy = 'Name a folder with --state-dir that belongs to the user who runs the agent, and to which nobody else may write.'
  throw new HostFault('NoPermission', `others may write to ${path}`, remedy)
}

/** A descriptor of a file that is made where it is missing and emptied where it is not. */
export function openForWriting(path: string): number {
  try {
    return openSync(path, 'w', 0o600)
  } catch (error) {
    throw fileFault(path, error)
  }
}

/** Replaces a file: after a crash at any moment it holds the old text or the new one, whole, and what is returned from is on disk. */
export function writeAtomic(path: string, text: string): void {
  const next = `${path}.next`
  try {
    const fd = openSync(next, 'w', 0o600)
    try {
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(next, path)
    syncFolder(dirname(path))
  } catch (error) {
    throw fileFault(path, error)
  }
}

/** Removes a file, if it is there, for good. */
export function removeFile(path: string): void {
  try {
    rmSync(path, { force: true })
    syncFolder(dirname(path))
  } catch (error) {
    throw fileFault(path, error)
  }
}

/** What stands in a folder, sorted by name, and whether it is a plain file: no folder, no symbolic link. Null when the folder is not there. */
export function listFolder(folder: string): readonly { readonly name: string; readonly plain: boolean }[] | null {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => ({ name, plain: lstatSync(join(folder, name)).isFile() }))
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw fileFault(folder, error)
  }
}

/** The name of this machine, as the kernel has it. */
export const machineName = (): string => hostname()

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

export const isCode = (error: unknown, ...codes: readonly string[]): boolean => codes.includes((error as NodeJS.ErrnoException).code ?? '')

export function fileFault(path: string, error: unknown): HostFault {
  const { message } = error as Error
  return isCode(error, 'EACCES', 'EPERM', 'EROFS')
    ? new HostFault('NoPermission', `${path} is not accessible: ${message}`, 'Run as root, or name another folder with --state-dir.')
    : new HostFault('CommandFailed', `${path}: ${message}`, 'See what is wrong with this file, then run again.')
}
