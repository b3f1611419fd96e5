import { diffString } from 'json-diff'
import type { Assignment } from '../model/assignment.js'
import { DEFAULT_NODE_SELECTOR } from '../model/egressip-crd.js'
import { isEqual } from '../model/equal.js'
import type { Inputs } from '../model/inputs.js'
import { withoutNulls } from '../model/json.js'
import type { SourceObject } from '../model/source.js'

/** How one EgressIP changes: lines that begin with `+`, `-` or a blank. */
export interface ObjectChange {
  readonly object: string
  readonly lines: readonly string[]
}

/** A longer difference says less than the manifest itself. */
const LONGEST = 24

/** EgressIPs by name as they were; null where only the lock knows that one was there. */
export type ObjectsBefore = ReadonlyMap<string, SourceObject | null>

/** Those of the intent that the cluster has, or had when the lock was written, and those that are to be deleted. */
export function objectsNow({ intent, lock }: Pick<Inputs, 'intent' | 'lock'>): ObjectsBefore {
  const live = intent.objects.flatMap((object) => (object.live ? [[object.name, object.live] as const] : []))
  const locked = Object.keys(lock?.objects ?? {}).map((name) => [name, null] as const)
  return new Map([...locked, ...live, ...intent.gone.map(({ name, source }) => [name, source] as const)])
}

/** Those of an earlier intent. */
export const objectsOf = ({ objects }: Inputs['intent']): ObjectsBefore => new Map(objects.map(({ name, source }) => [name, source]))

/**
 * The EgressIPs whose spec the intent changes, those that it deletes, and new ones that only their manifest tells of, because
 * none of their addresses is on a node; by name.
 */
export function changedObjects(
  before: ObjectsBefore,
  { objects, invalid, foreign }: Inputs['intent'],
  assignments: readonly Pick<Assignment, 'object'>[],
): readonly ObjectChange[] {
  const placed = new Set(assignments.map(({ object }) => object))
  const changed = objects.flatMap(({ name, source }): readonly ObjectChange[] => {
    const was = before.get(name)
    if (was) return [objectChange(name, specOf(was), specOf(source)) ?? []].flat()
    return was === null || placed.has(name) ? [] : [{ object: name, lines: ['+ new, without an address on a node'] }]
  })
  const there = new Set([...objects, ...invalid, ...foreign].map(({ name }) => name))
  const deleted = [...before].flatMap(([object, was]) =>
    was && !there.has(object) ? [{ object, lines: ['- no file of the intent has it any more'] }] : [],
  )
  return [...changed, ...deleted].sort((a, b) => (a.object < b.object ? -1 : 1))
}

/** With the defaults of the CRD, which a live object has and a file need not. */
function specOf({ value }: SourceObject): object {
  return { podSelector: {}, egressNodeSelector: DEFAULT_NODE_SELECTOR, ...(withoutNulls(value.spec) as object) }
}

/** How one object changes, line by line; null when it stays the same. */
export function objectChange(object: string, before: object, after: object): ObjectChange | null {
  if (isEqual(before, after)) return null
  const text = diffString(before, after, { color: false })
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(1, -1)
    .map(withoutOuterBraces)
  if (lines.length === 0) return null
  const count = lines.filter((line) => /^[+-]/.test(line)).length
  return { object, lines: lines.length <= LONGEST ? lines : [`  ${count} lines of its spec differ; see its manifest`] }
}

/** The first character of a line says whether it is added or removed. */
const withoutOuterBraces = (line: string): string => line.slice(0, 1) + line.slice(3)
