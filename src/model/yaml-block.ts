import type { Path } from './json.js'

/** A line of block style: where it begins, where its first character that is no blank stands. */
interface Line {
  readonly start: number
  readonly first: number
}

/**
 * Offset of the value at a path (or of its key) in a YAML document in plain block style, as kubectl prints it and people write it:
 * found by indentation, without parsing. Undefined where the path leaves that style (braces, anchors, tags, keys in quotes or not
 * there): then the parser knows. The document must be valid.
 */
export function locateBlock(text: string, path: Path, key: boolean): number | undefined {
  let at = firstNode(text)
  for (const [depth, step] of path.entries()) {
    if (at === undefined) return undefined
    const found: Found | undefined = typeof step === 'number' ? item(text, at, step) : member(text, at, step)
    const last = depth === path.length - 1
    if (found === undefined || (found.value === null && !last)) return undefined
    at = last && key ? found.key : (found.value ?? found.key)
    if (!last && startsOther(text, at)) return undefined
    if (last && !key && /[&!*|>]/.test(text.charAt(at))) return undefined
  }
  return at
}

interface Found {
  readonly key: number
  /** Null where the value is empty. */
  readonly value: number | null
}

/** Whether something else than a block mapping or list stands there. */
const startsOther = (text: string, at: number): boolean => /[&!*|>{["'%@`?]/.test(text.charAt(at))

function firstNode(text: string): number | undefined {
  for (let line = lineAt(text, 0); line; line = lineAfter(text, line)) {
    if (isBlank(text, line)) continue
    const marker = line.first === line.start && text.startsWith('---', line.start)
    if (marker && /^---[ \t\r]*(?:\n|$)/.test(text.slice(line.start, line.start + 80))) continue
    return marker || startsOther(text, line.first) ? undefined : line.first
  }
  return undefined
}

/** The value of a key of the block mapping that begins at an offset. */
function member(text: string, at: number, name: string): Found | undefined {
  const column = at - lineStart(text, at)
  for (let line: Line | undefined = { start: at - column, first: at }; line; line = lineAfter(text, line)) {
    if (isBlank(text, line)) continue
    const indent = line.first - line.start
    if (indent < column) return undefined
    const end = line.first + name.length
    if (indent > column || !text.startsWith(name, line.first) || text.charAt(end) !== ':' || !/[ \r\n]|^$/.test(text.charAt(end + 1)))
      continue
    const inline = afterBlanks(text, end + 1)
    if (!endsLine(text, inline)) return { key: line.first, value: inline }
    const next = contentAfter(text, line)
    const inner =
      next !== undefined && (next.first - next.start > column || (next.first - next.start === column && isItem(text, next.first)))
    return { key: line.first, value: inner ? next.first : null }
  }
  return undefined
}

/** The item of the block list that begins at an offset. */
function item(text: string, at: number, index: number): Found | undefined {
  if (!isItem(text, at)) return undefined
  const column = at - lineStart(text, at)
  let left = index
  for (let line: Line | undefined = { start: at - column, first: at }; line; line = lineAfter(text, line)) {
    if (isBlank(text, line) || line.first - line.start > column) continue
    if (line.first - line.start < column || !isItem(text, line.first)) return undefined
    if (left-- > 0) continue
    const inline = afterBlanks(text, line.first + 1)
    return endsLine(text, inline) ? undefined : { key: inline, value: inline }
  }
  return undefined
}

const isItem = (text: string, at: number): boolean => text.charAt(at) === '-' && /[ \r\n]|^$/.test(text.charAt(at + 1))

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1

const lineAt = (text: string, start: number): Line | undefined =>
  start < text.length ? { start, first: afterBlanks(text, start) } : undefined

function lineAfter(text: string, { first }: Line): Line | undefined {
  const end = text.indexOf('\n', first)
  return end < 0 ? undefined : lineAt(text, end + 1)
}

function contentAfter(text: string, line: Line): Line | undefined {
  let next = lineAfter(text, line)
  while (next && isBlank(text, next)) next = lineAfter(text, next)
  return next
}

/** Whether a line has nothing or a comment. */
const isBlank = (text: string, { first }: Line): boolean => endsLine(text, first)

function endsLine(text: string, at: number): boolean {
  const character = text.charAt(at)
  return character === '' || character === '\n' || character === '\r' || character === '#'
}

function afterBlanks(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) === 32) at++
  return at
}
