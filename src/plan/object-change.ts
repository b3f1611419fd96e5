import { diffString } from 'json-diff'
import type { ObjectChange } from './view.js'

/** A longer difference says less than the manifest itself. */
const LONGEST = 24

/** How one object changes, line by line; null when it stays the same or the difference is too long to help. */
export function objectChange(object: string, before: object, after: object): ObjectChange | null {
  const lines = diffString(before, after, { color: false })
    .split('\n')
    .filter((line) => line.trim() !== '')
  return lines.length > 0 && lines.length <= LONGEST ? { object, lines } : null
}
