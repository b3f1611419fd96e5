import { mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileFault, isCode } from './files.js'

/** A text file below a folder. */
export interface TextFile {
  readonly path: string
  readonly text: string
}

/** Writes files into a folder that was not there, or that a killed agent left unfinished. Fails with HostFault. */
export function writeFolder(folder: string, files: readonly TextFile[]): void {
  try {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const { path, text } of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
      writeFileSync(join(folder, path), text, { mode: 0o600 })
    }
  } catch (error) {
    throw fileFault(folder, error)
  }
}

/** Gives a folder its name; one that has the name already is the same and stays. Fails with HostFault. */
export function nameFolder(from: string, to: string): void {
  try {
    if (isFolder(to)) rmSync(from, { recursive: true })
    else renameSync(from, to)
  } catch (error) {
    throw fileFault(to, error)
  }
}

export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    throw fileFault(folder, error)
  }
}

/** A path that means the same wherever the program stands. */
export const absolute = (path: string): string => resolve(path)

export const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/** Names of what stands in a folder, sorted; none where it is not there. Fails with HostFault. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw fileFault(folder, error)
  }
}

/** Lets a symbolic link lead elsewhere, at one moment. Fails with HostFault. */
export function pointLink(link: string, target: string): void {
  try {
    rmSync(`${link}.next`, { force: true })
    symlinkSync(target, `${link}.next`)
    renameSync(`${link}.next`, link)
  } catch (error) {
    throw fileFault(link, error)
  }
}

/** Where a symbolic link leads; null where there is none. */
export function linkTarget(link: string): string | null {
  try {
    return readlinkSync(link)
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'EINVAL')) return null
    throw fileFault(link, error)
  }
}
