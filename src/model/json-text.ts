import type { Path } from './json.js'

/** What is wrong with a text, and where (offset in UTF-16 units). */
export interface TextFault {
  readonly offset: number
  readonly message: string
  readonly remedy?: string
}

/** Deeper than any object of a cluster, and shallow enough for every recursive walk; js-yaml's own limit. */
export const MAX_DEPTH = 100

class Fault extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message)
  }
}

/**
 * The first fault of a JSON text (RFC 8259), or null. Beside syntax it finds what JSON.parse lets pass: a key that
 * stands twice in one object, and nesting over MAX_DEPTH.
 */
export function jsonFault(text: string): TextFault | null {
  try {
    const end = blank(text, value(text, 0, 0))
    return end < text.length ? { offset: end, message: 'there is more after the end of the value' } : null
  } catch (fault) {
    if (fault instanceof Fault) return { offset: fault.offset, message: fault.message }
    throw fault
  }
}

/**
 * Whether `jsonFault` has nothing to say about a text, given what JSON.parse made of it: the value has all keys that the text
 * has, and no more than MAX_DEPTH levels. Counting them takes a fifth of the time of JSON.parse; to look for them takes longer than it.
 */
export const isSound = (text: string, value: unknown): boolean => countKeys(text) === keysOf(value, 0)

/** The texts in quotes before a colon in a valid JSON text. */
function countKeys(text: string): number {
  let count = 0
  for (let open = text.indexOf('"'); open >= 0; ) {
    const next = blank(text, afterText(text, open))
    if (text.charCodeAt(next) === COLON) count++
    open = text.indexOf('"', next)
  }
  return count
}

/** Offset after the text in quotes at `at` of a valid JSON text. */
function afterText(text: string, at: number): number {
  let close = text.indexOf('"', at + 1)
  while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
  return close + 1
}

const QUOTE = 34
const COLON = 58
const BACKSLASH = 92
const COMMA = 44
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]

function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text.charCodeAt(first - 1) === BACKSLASH) first--
  return (at - first) % 2 === 1
}

/** How many keys a value has at all levels; NaN, which equals nothing, when it is too deep. */
function keysOf(value: unknown, depth: number): number {
  if (value === null || typeof value !== 'object') return 0
  if (depth > MAX_DEPTH) return Number.NaN
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += keysOf(item, depth + 1)
    return count
  }
  for (const key in value) {
    count++
    const inner = (value as Record<string, unknown>)[key]
    if (typeof inner === 'object') count += keysOf(inner, depth + 1)
  }
  return count
}

/** Offset of the value at a path (or of its key) in a valid JSON text, beginning at the value at `start`; of the nearest parent when the path leaves it. */
export function locateJson(text: string, start: number, path: Path, key = false): number {
  let at = blank(text, start)
  for (const [depth, step] of path.entries()) {
    let found: number | undefined
    const ofKey = key && depth === path.length - 1
    if (text[at] === '{') {
      for (const [keyAt, valueAt] of membersAt(text, at)) {
        if (JSON.parse(text.slice(keyAt, afterText(text, keyAt))) === step) found = ofKey ? keyAt : valueAt
      }
    } else if (text[at] === '[' && typeof step === 'number') found = elementsAt(text, at)[step]
    if (found === undefined) return at
    at = found
  }
  return at
}

/** Offsets of the elements of the list at a path of a valid JSON text. */
export function elementOffsets(text: string, path: Path): readonly number[] {
  const at = locateJson(text, 0, path)
  return text[at] === '[' ? elementsAt(text, at) : []
}

/** Offsets of the keys and values of an object of a valid JSON text. */
function membersAt(text: string, from: number): readonly (readonly [keyAt: number, valueAt: number])[] {
  const members: [number, number][] = []
  for (let at = blank(text, from + 1); text.charCodeAt(at) === QUOTE; at = afterComma(text, at)) {
    const keyAt = at
    at = blank(text, blank(text, afterText(text, keyAt)) + 1)
    members.push([keyAt, at])
  }
  return members
}

/** Offsets of the elements of a list of a valid JSON text. */
function elementsAt(text: string, from: number): readonly number[] {
  const elements: number[] = []
  for (let at = blank(text, from + 1); at < text.length && text[at] !== ']'; at = afterComma(text, at)) elements.push(at)
  return elements
}

/** Offset of what follows the value at `at` and a comma, if there is one, of a valid JSON text. */
function afterComma(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = afterText(text, at)
      continue
    }
    if (code === COMMA && depth === 0) return blank(text, at + 1)
    if (code === OPEN_OBJECT || code === OPEN_LIST) depth++
    else if ((code === CLOSE_OBJECT || code === CLOSE_LIST) && depth-- === 0) return at
    at++
  }
  return text.length
}

function value(text: string, from: number, depth: number): number {
  const at = blank(text, from)
  const first = text[at]
  if (depth > MAX_DEPTH) throw new Fault(at, `it is nested over ${MAX_DEPTH} levels deep`)
  if (first === '{') return members(text, at, depth)
  if (first === '[') return elements(text, at, depth)
  if (first === '"') return string(text, at)
  return word(text, at)
}

function members(text: string, from: number, depth: number): number {
  const seen = new Set<string>()
  let at = blank(text, from + 1)
  if (text[at] === '}') return at + 1
  for (;;) {
    if (text[at] !== '"') throw new Fault(at, `expected a key in double quotes${found(text, at)}`)
    const keyAt = at
    at = string(text, at)
    const name = JSON.parse(text.slice(keyAt, at)) as string
    if (seen.has(name)) throw new Fault(keyAt, `the key ${JSON.stringify(name)} stands twice in one object`)
    seen.add(name)
    at = blank(text, at)
    if (text[at] !== ':') throw new Fault(at, `expected ":"${found(text, at)}`)
    at = blank(text, value(text, at + 1, depth + 1))
    if (text[at] === '}') return at + 1
    if (text[at] !== ',') throw new Fault(at, `expected "," or "}"${found(text, at)}`)
    at = blank(text, at + 1)
  }
}

function elements(text: string, from: number, depth: number): number {
  let at = blank(text, from + 1)
  if (text[at] === ']') return at + 1
  for (;;) {
    at = blank(text, value(text, at, depth + 1))
    if (text[at] === ']') return at + 1
    if (text[at] !== ',') throw new Fault(at, `expected "," or "]"${found(text, at)}`)
    at = blank(text, at + 1)
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 forbids exactly these in a text
const STRING = /"(?:[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y
const WORD = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_.+-])/y

function string(text: string, at: number): number {
  STRING.lastIndex = at
  STRING.test(text)
  const end = STRING.lastIndex
  if (text[end] === '"') return end + 1
  if (end >= text.length) throw new Fault(at, 'the text in quotes has no end')
  throw new Fault(
    end,
    text[end] === '\\' ? 'unknown escape in a text' : 'a text in quotes contains a line break or another control character',
  )
}

function word(text: string, at: number): number {
  WORD.lastIndex = at
  if (!WORD.test(text)) throw new Fault(at, `expected a value${found(text, at)}`)
  return WORD.lastIndex
}

function blank(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at
    at++
  }
}

const found = (text: string, at: number): string =>
  at < text.length ? `, found ${JSON.stringify(text[at])}` : ', found the end of the file'
