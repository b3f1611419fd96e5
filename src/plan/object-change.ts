import { diffString } from 'json-diff'
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

/** The EgressIPs of the cluster whose spec the intent changes, and those that it deletes, by name. */
export function changedObjects({ intent }: Pick<Inputs, 'intent'>): readonly ObjectChange[] {
  const changed = intent.objects.flatMap(({ name, source, live }) => (live ? (objectChange(name, specOf(live), specOf(source)) ?? []) : []))
  const removed = intent.gone.map(({ name }) => deleted(name))
  return [...changed, ...removed].sort((a, b) => (a.object < b.object ? -1 : 1))
}

/**
 * How the EgressIPs of an intent differ from those of an earlier one, by name; new ones are not listed. Nothing where there is no earlier
 * intent to compare with: a plan does not hold the objects.
 */
export function changedSince(earlier: Inputs['intent'] | null, { objects, invalid }: Inputs['intent']): readonly ObjectChange[] {
  if (!earlier) return []
  const now = new Map(objects.map((object) => [object.name, object.source]))
  const broken = new Set(invalid.map(({ name }) => name))
  const changed = earlier.objects.flatMap(({ name, source }): readonly ObjectChange[] => {
    const wanted = now.get(name)
    if (wanted) return [objectChange(name, specOf(source), specOf(wanted)) ?? []].flat()
    return broken.has(name) ? [] : [deleted(name)]
  })
  return changed.sort((a, b) => (a.object < b.object ? -1 : 1))
}

const deleted = (object: string): ObjectChange => ({ object, lines: ['- no file of the intent has it any more'] })

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
