import { diffString } from 'json-diff'
import type { ObjectChange } from './view.js'

/** A longer difference says less than the manifest itself. */
const LONGEST = 24

/** How one object changes, line by line; null when it stays the same or the difference is too long to help. */
export function objectChange(object: string, before: object, after: object): ObjectChange | null {
  const text = diffString(before, after, { color: false })
  const inner = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(1, -1)
  return inner.length > 0 && inner.length <= LONGEST ? { object, lines: inner.map(withoutOuterBraces) } : null
}

/** The first character of a line says whether it is added or removed. */
const withoutOuterBraces = (line: string): string => line.slice(0, 1) + line.slice(3)
