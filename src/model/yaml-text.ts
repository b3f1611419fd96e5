import { CORE_SCHEMA, load, Type, YAMLException } from 'js-yaml'
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml'
import type { Path } from './json.js'
import { MAX_DEPTH, type TextFault } from './json-text.js'
import { locateBlock } from './yaml-block.js'

/** JSON's types and merge keys. No timestamps: Kubernetes reads them as text. */
const SCHEMA = CORE_SCHEMA.extend({ implicit: [new Type('tag:yaml.org,2002:merge', { kind: 'scalar', resolve: (text) => text === '<<' })] })

/** A document may expand, through its aliases, to as many values as it has characters, and this many more. */
const ALIAS_ALLOWANCE = 100_000

const TOO_DEEP = `it is nested over ${MAX_DEPTH} levels deep`

/** Start and end of every document of a YAML stream, each with its `---` line and the directives before it. */
export function splitYaml(text: string): readonly (readonly [start: number, end: number])[] {
  const documents: (readonly [number, number])[] = []
  const marker = /(?:^|\n)(---|\.\.\.)(?=[ \t\r\n]|$)/g
  let start = 0
  for (let found = marker.exec(text); found; found = marker.exec(text)) {
    const at = marker.lastIndex - 3
    if (!isPreamble(text, start, at)) documents.push([start, at])
    else if (found[1] === '---') continue
    if (found[1] === '---') start = at
    else {
      const next = text.indexOf('\n', at)
      start = next < 0 ? text.length : next + 1
      marker.lastIndex = Math.max(start - 1, marker.lastIndex)
    }
  }
  if (!isPreamble(text, start, text.length)) documents.push([start, text.length])
  return documents
}

/** Whether nothing but blank lines, comments and directives stands there. */
function isPreamble(text: string, start: number, end: number): boolean {
  const line = /[ \t\r\uFEFF]*(?:(?:#|%)[^\n]*)?(?:\n|$)/y
  for (let at = start; at < end; at = line.lastIndex) {
    line.lastIndex = at
    if (!line.test(text) || line.lastIndex === at) return at >= end
  }
  return true
}

/** The value of one YAML document, or its fault. */
export function loadYaml(text: string): { readonly value: unknown } | TextFault {
  let value: unknown
  try {
    value = load(text, { schema: SCHEMA })
  } catch (error) {
    if (error instanceof YAMLException) return syntaxFault(text, error)
    return { offset: 0, message: TOO_DEEP }
  }
  const message = text.includes('&') ? sizeFault(value, text.length + ALIAS_ALLOWANCE) : null
  return message === null ? { value } : { offset: 0, message }
}

function syntaxFault(text: string, error: YAMLException): TextFault {
  const offset = Math.min(error.mark?.position ?? 0, text.length)
  const from = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1
  const line = text.slice(from, (text.indexOf('\n', offset) + 1 || text.length + 1) - 1)
  const bare = /(?:^|[\s[,])((?:[0-9a-fA-F]{1,4}:)*:):?\s*(?:$|[\],#])/.exec(line)?.[1] ?? /: ([0-9a-fA-F:]+::)\s*$/.exec(line)?.[1]
  const message = /maxDepth/.test(error.reason) ? TOO_DEEP : error.reason.replace(/\s+/g, ' ')
  return bare === undefined
    ? { offset, message }
    : { offset, message, remedy: `Write "${bare}" in quotes: unquoted, YAML takes its last colon for the end of a key.` }
}

/** Why a value must not be walked: too deep, circular, or exploding through its aliases (js-yaml shares what they name). */
function sizeFault(value: unknown, limit: number): string | null {
  const sizes = new Map<object, number>()
  const open = new Set<object>()
  let fault: string | null = null
  const size = (here: unknown, depth: number): number => {
    if (here === null || typeof here !== 'object' || fault !== null) return 1
    const known = sizes.get(here)
    if (known !== undefined) return known
    if (open.has(here)) fault = 'an anchor contains an alias of itself'
    else if (depth > MAX_DEPTH) fault = TOO_DEEP
    if (fault !== null) return 1
    open.add(here)
    let sum = 1
    for (const child of Object.values(here)) sum += size(child, depth + 1)
    open.delete(here)
    sizes.set(here, sum)
    if (sum > limit) fault ??= 'its aliases expand to far more values than the document has characters'
    return sum
  }
  size(value, 0)
  return fault
}

/** Finds values in one YAML document. */
export type YamlLocator = (path: Path, key?: boolean) => number

/** Offset of the value at a path (or of its key) within the text of a document; of the nearest parent when the path leaves it. */
export function yamlLocator(text: string): YamlLocator {
  let parsed: Document | null | undefined
  return (path, key = false) => {
    const plain = parsed === undefined ? locateBlock(text, path, key) : undefined
    if (plain !== undefined) return plain
    if (parsed === undefined) parsed = positions(text)
    return parsed === null ? 0 : locate(parsed, path, key)
  }
}

/** Over this size a document is not parsed a second time for a position: it would take seconds. */
const MAX_RELOCATE = 4_000_000

function positions(text: string): Document | null {
  if (text.length > MAX_RELOCATE) return null
  try {
    return parseDocument(text, { uniqueKeys: false, strict: false, merge: true, logLevel: 'silent' })
  } catch {
    return null
  }
}

function locate(document: Document, path: Path, key: boolean): number {
  const start = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0]
  let node: unknown = document.contents
  let offset = start(node) ?? 0
  for (const [depth, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step))
      if (!pair) return offset
      const empty = isScalar(pair.value) && pair.value.range?.[0] === pair.value.range?.[1]
      const wanted = (key && depth === path.length - 1) || empty ? pair.key : pair.value
      offset = start(wanted) ?? start(pair.key) ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      const item = node.items[Number(step)]
      if (item === undefined) return offset
      offset = start(item) ?? offset
      node = item
    } else return offset
  }
  return offset
}

/**
 * Start of each line that begins an item of the top-level `items` of a List in block style; undefined when the lines
 * do not agree with the number of items. So the position of one item in a large List needs that item's lines only.
 */
export function itemLines(text: string, count: number): readonly number[] | undefined {
  const head = /(?:^|\n)items:[ \t]*\r?\n/.exec(text)
  const indent = head && /[ ]*(?=- )/y
  if (!head || !indent) return undefined
  const begin = head.index + head[0].length
  indent.lastIndex = begin
  const blanks = indent.exec(text)?.[0]
  if (blanks === undefined) return undefined
  const starts = [begin]
  for (let at = text.indexOf(`\n${blanks}- `, begin); at >= 0; at = text.indexOf(`\n${blanks}- `, at + 1)) starts.push(at + 1)
  return starts.length === count ? starts : undefined
}
