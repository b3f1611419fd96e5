import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Lock } from '../model/lock.js'
import { parseLock } from '../model/lock.js'
import type { Problem } from '../model/problem.js'
import type { Role, SourceFile } from '../model/source.js'
import { UsageError } from './fault.js'
import { readSources, readText } from './sources.js'

/** Where the inputs stand, as the command line says it. */
export interface ProjectPaths {
  /** Files that are intent and topology at once. */
  readonly both: readonly string[]
  readonly intent: readonly string[]
  readonly topology: readonly string[]
  readonly lock: string | null
}

export const DEFAULT_PATHS: ProjectPaths = { both: [], intent: [], topology: [], lock: null }

/** All inputs of one run as read, and the place of the lock. */
export interface Project {
  readonly files: readonly SourceFile[]
  /** Of reading the files and the lock. */
  readonly problems: readonly Problem[]
  readonly lock: Lock | null
  /** Where the lock is kept; null: this run has none. */
  readonly lockPath: string | null
  /** Null: the file is not there yet. */
  readonly lockText: string | null
}

/** Without intent everything would be a removal, without topology no address would have a node: neither is what was meant. */
const missing = (role: 'intent' | 'topology', folder: string): string =>
  role === 'intent'
    ? `there is no intent: ${folder} is not there; name the files with --intent PATH, or make the folder, empty, if no egress IP is wanted`
    : `there is no topology: ${folder} is not there; name the files with --topology PATH (kubectl get … -o yaml)`

const LOCK = 'egretta.lock.json'

/**
 * Reads what the paths name; without a path, `intent/` and `topology/` of the directory. The lock belongs to the directory:
 * with a bare path or standard input there is none unless it is named. Throws UsageError when there is nothing to read.
 */
export function readProject(paths: ProjectPaths, directory = '.'): Project {
  const defaults = (role: 'intent' | 'topology'): readonly string[] => {
    const folder = join(directory, role)
    return paths.both.length === 0 && existsSync(folder) ? [folder] : []
  }
  const intent = paths.intent.length > 0 ? paths.intent : defaults('intent')
  const topology = paths.topology.length > 0 ? paths.topology : defaults('topology')
  const read: readonly (readonly [readonly string[], Role])[] = [
    [intent, 'intent'],
    [topology, 'topology'],
    [paths.both, 'both'],
  ]
  const named = read.flatMap(([list]) => list)
  if (named.length === 0) {
    throw new UsageError(
      `${join(directory, 'intent')} and ${join(directory, 'topology')} are not there; name the files with --intent PATH and --topology PATH, or give one PATH that holds both (kubectl get … -o yaml)`,
    )
  }
  for (const [role, list] of [['intent', intent] as const, ['topology', topology] as const]) {
    if (paths.both.length === 0 && list.length === 0) throw new UsageError(missing(role, join(directory, role)))
  }
  if (named.filter((path) => path === '-').length > 1) throw new UsageError('standard input (-) can be read once only')
  const sources = read.filter(([list]) => list.length > 0).map(([list, role]) => readSources(list, role))
  const lockPath = paths.lock ?? (paths.both.length === 0 && !named.includes('-') ? join(directory, LOCK) : null)
  const lock = readLock(lockPath)
  return {
    files: sources.flatMap(({ files }) => files),
    problems: [...sources.flatMap(({ problems }) => problems), ...lock.problems],
    lock: lock.lock,
    lockPath,
    lockText: lock.text,
  }
}

function readLock(path: string | null): {
  readonly lock: Lock | null
  readonly text: string | null
  readonly problems: readonly Problem[]
} {
  if (path === null || !existsSync(path)) return { lock: null, text: null, problems: [] }
  const text = readText(path)
  if (typeof text !== 'string') return { lock: null, text: null, problems: [text] }
  return { ...parseLock({ file: path, text, role: 'intent' }), text }
}
