import type { PlacementOptions } from '../model/assignment.js'
import { describe, isObject, valueAt } from '../model/json.js'
import type { Lock } from '../model/lock.js'
import type { Problem } from '../model/problem.js'
import type { SourceFile } from '../model/source.js'
import { NO_OPTIONS } from '../place/place.js'

export interface EgressClusterProps {
  /** Files of intent, beside the EgressIP constructs below this one. */
  readonly intent?: readonly SourceFile[]
  /** The snapshot of the cluster; files that are intent and topology at once stand here too. */
  readonly topology: readonly SourceFile[]
  /** What the last synthesis decided (`parseLock`); null or absent when there is none. */
  readonly lock?: Lock | null
  /** Problems of reading the files (`readSources`). */
  readonly problems?: readonly Problem[]
  /** What is asked of this synthesis alone; a field that is absent asks for nothing. */
  readonly options?: Partial<PlacementOptions>
  /** Addresses that find no place are warnings. */
  readonly allowUnassigned?: boolean
}

/** The options with what an absent field stands for. */
export const placementOptions = (given: Partial<PlacementOptions>): PlacementOptions => ({
  drain: given.drain ?? NO_OPTIONS.drain,
  down: given.down ?? NO_OPTIONS.down,
  rebalance: given.rebalance ?? NO_OPTIONS.rebalance,
})

const ROLES: readonly unknown[] = ['intent', 'topology', 'both'] satisfies readonly SourceFile['role'][]
const isSourceFile = (value: unknown): boolean =>
  isObject(value) && typeof value.file === 'string' && typeof value.text === 'string' && ROLES.includes(value.role)
const isText = (value: unknown): boolean => typeof value === 'string'
const isLock = (value: unknown): boolean => isObject(value) && value.kind === 'Lock' && isObject(value.objects)
const listOf =
  (item: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(item)

interface Rule {
  readonly path: readonly string[]
  readonly means: string
  readonly required?: true
  holds(value: unknown): boolean
}

const FILES = 'a list of source files, each with file, text and role ("intent", "topology" or "both"), as readSources returns them'
const NAMES = 'a list of names of nodes'
const RULES: readonly Rule[] = [
  { path: ['topology'], means: FILES, required: true, holds: listOf(isSourceFile) },
  { path: ['intent'], means: FILES, holds: listOf(isSourceFile) },
  { path: ['lock'], means: 'a lock as parseLock returns it, or null', holds: (value) => value === null || isLock(value) },
  { path: ['problems'], means: 'a list of problems as readSources returns them', holds: listOf(isObject) },
  { path: ['options'], means: 'a mapping of drain, down and rebalance', holds: isObject },
  { path: ['options', 'drain'], means: NAMES, holds: listOf(isText) },
  { path: ['options', 'down'], means: NAMES, holds: listOf(isText) },
  {
    path: ['options', 'rebalance'],
    means: 'a number of addresses from 0 (Infinity: any number), or null',
    holds: (value) => value === null || (typeof value === 'number' && value >= 0),
  },
  { path: ['allowUnassigned'], means: 'true or false', holds: (value) => typeof value === 'boolean' },
]

/** What is wrong with the types of the props: an app in plain JavaScript can hand over anything. */
export function propFaults(props: unknown): readonly string[] {
  return RULES.flatMap(({ path, means, required, holds }) => {
    const value = valueAt(props, path)
    if ((value === undefined && !required) || holds(value)) return []
    const what = Array.isArray(value) ? 'a list with something else in it' : describe(value)
    return [`${path.join('.')} must be ${means}; it is ${what}`]
  })
}
