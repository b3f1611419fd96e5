import type { Artefact } from '../model/bundle.js'
import type { Change } from '../model/change.js'
import type { SubsystemName } from '../model/cluster.js'
import type { Language } from '../syntax/language.js'
import { type Entry, languageOf } from '../syntax/languages.js'

/** A desired entry whose key a foreign entry holds with another meaning. It is never written. */
export interface Conflict<E> {
  readonly key: string
  readonly desired: E
  readonly foreign: E
}

export interface Difference<E> {
  /** Sorted by key; empty when the host agrees. */
  readonly changes: readonly Change<E>[]
  readonly conflicts: readonly Conflict<E>[]
}

/**
 * What turns `own` into `desired`. A foreign entry is never changed, adopted or counted: where it holds the key of a desired entry,
 * the same meaning satisfies it and another meaning is a conflict. Law: diff(x, x) is empty.
 */
export function diff<E>(language: Language<E>, desired: readonly E[], own: readonly E[], foreign: readonly E[] = NONE): Difference<E> {
  const found = DIFFERENCES.get(desired)
  if (found?.language === language && found.own === own && found.foreign === foreign) return found.difference as Difference<E>
  const difference = compare(language, desired, own, foreign)
  DIFFERENCES.set(desired, { language, own, foreign, difference })
  return difference
}

const NONE: readonly never[] = []

/** Lists never change, and those of a host that says the same again are the same ones. */
const DIFFERENCES = new WeakMap<
  readonly unknown[],
  { readonly language: unknown; readonly own: unknown; readonly foreign: unknown; readonly difference: unknown }
>()

function compare<E>(language: Language<E>, desired: readonly E[], own: readonly E[], foreign: readonly E[]): Difference<E> {
  const { subsystem, same } = language
  const index = (entries: readonly E[]) => {
    const found = new Map<string, E>()
    for (const entry of entries) found.set(language.key(entry), entry)
    return found
  }
  const [wanted, ours, theirs] = [index(desired), index(own), index(foreign)]
  const changes: Change<E>[] = []
  const conflicts: Conflict<E>[] = []
  for (const [key, entry] of wanted) {
    const from = ours.get(key)
    const other = theirs.get(key)
    if (from !== undefined) {
      if (!same(entry, from)) changes.push({ subsystem, op: 'update', key, entry, from })
    } else if (other === undefined) changes.push({ subsystem, op: 'add', key, entry, from: null })
    else if (!same(entry, other)) conflicts.push({ key, desired: entry, foreign: other })
  }
  for (const [key, from] of ours) {
    if (!wanted.has(key)) changes.push({ subsystem, op: 'delete', key, entry: null, from })
  }
  return { changes: changes.sort(byKey), conflicts: conflicts.sort(byKey) }
}

const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

export type ChangeCounts = Partial<Record<SubsystemName, { readonly add: number; readonly update: number; readonly delete: number }>>

/** How many entries of each subsystem one rendering of a node changes in another, over the files that apply in the steady phase. Subsystems without a change are left out. */
export function countChanges(before: readonly Artefact[], after: readonly Artefact[]): ChangeCounts {
  if (before === after) return {}
  const [from, to] = [unlike(before, after), unlike(after, before)]
  const counts = new Map<SubsystemName, { add: number; update: number; delete: number }>()
  for (const path of new Set([...from.keys(), ...to.keys()])) {
    const written = languageOf(path)
    if (!written) continue
    const { subsystem, language } = written
    const read = (file: Artefact | undefined): readonly Entry[] =>
      file === undefined ? [] : ((file.entries as readonly Entry[] | undefined) ?? language.parse(file.text))
    const count = counts.get(subsystem) ?? { add: 0, update: 0, delete: 0 }
    for (const { op } of diff(language, read(to.get(path)), read(from.get(path))).changes) {
      count[op]++
      counts.set(subsystem, count)
    }
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The files by path that apply in the steady phase and are not the same among `others`. One that nothing changes is one object before and after. */
function unlike(artefacts: readonly Artefact[], others: readonly Artefact[]): ReadonlyMap<string, Artefact> {
  const steady = (list: readonly Artefact[]) => list.filter(({ phases }) => phases.includes('steady'))
  const there = new Map(steady(others).map((one) => [one.path, one]))
  return new Map(steady(artefacts).flatMap((one) => (there.get(one.path) === one ? [] : [[one.path, one] as const])))
}
