import { valueAt } from './json.js'

/** How many names are offered for a wrong one. */
const MOST = 3

/**
 * The known names that a wrong one may stand for, the likeliest first: those that contain it or that it contains, then those
 * a few typing errors away. At most three.
 */
export function nearNames(wrong: string, known: readonly string[]): readonly string[] {
  const name = wrong.toLowerCase()
  const limit = Math.max(1, Math.floor(name.length / 4))
  const scored = known.flatMap((text) => {
    const other = text.toLowerCase()
    const contained = name.length > 1 && (other.includes(name) || name.includes(other))
    if (contained) return [{ text, score: Math.abs(other.length - name.length) / 1000 }]
    const score = Math.abs(other.length - name.length) > limit ? limit + 1 : distance(name, other)
    return score > limit ? [] : [{ text, score }]
  })
  scored.sort((a, b) => a.score - b.score || (a.text < b.text ? -1 : 1))
  return scored.slice(0, MOST).map(({ text }) => text)
}

/** Characters to insert, delete, replace or swap with the next one (optimal string alignment). */
function distance(a: string, b: string): number {
  let older: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const best = Math.min(change, (above[j] as number) + 1, (row[j - 1] as number) + 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(swapped ? Math.min(best, (older[j - 2] as number) + 1) : best)
    }
    older = above
    above = row
  }
  return above[b.length] as number
}

/** The end of a message about an unknown name: what was meant perhaps, else what there is. */
export function suggestion(wrong: string, known: readonly string[], what: string): string {
  const near = nearNames(wrong, known)
  if (near.length > 0) return `did you mean ${near.join(' or ')}?`
  if (known.length === 0) return `there is no ${what} at all`
  const [first, ...rest] = [...known].sort().slice(0, MOST)
  const more = known.length > MOST ? ` and ${known.length - MOST} more` : ''
  return `there are ${[first, ...rest].join(', ')}${more}`
}

/** The end of the sentence about a field that an object may not have; it names those that it may have been meant for. */
export function notKnown(name: string, known: readonly string[], object: unknown): string {
  const absent = known.filter((field) => valueAt(object, [field]) === undefined)
  const near = nearNames(name, absent)
  return `is not a known field${near.length === 0 ? '' : ` (did you mean ${near.join(' or ')}?)`}`
}
