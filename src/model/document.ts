import { listAt, type Path } from './json.js'
import { elementOffsets, isSound, jsonFault, locateJson, type TextFault } from './json-text.js'
import { itemLines, loadYaml, splitYaml, type YamlLocator, yamlLocator } from './yaml-text.js'

/** One document of a file: its value, and where in the file's text (offset in UTF-16 units) the value at a path stands. */
export interface TextDocument {
  readonly value: unknown
  readonly locate: (path: Path, key?: boolean) => number
}

export interface Documents {
  readonly documents: readonly TextDocument[]
  readonly faults: readonly TextFault[]
}

/** The documents of a JSON text: exactly one. */
export function jsonDocuments(text: string): Documents {
  let value: unknown
  let fault: TextFault | null = null
  try {
    value = JSON.parse(text)
    if (!isSound(text, value)) fault = jsonFault(text)
  } catch (error) {
    fault = jsonFault(text) ?? { offset: 0, message: String(error) }
  }
  if (fault) return { documents: [], faults: [fault] }
  let items: readonly number[] | undefined
  const locate = (path: Path, key?: boolean): number => {
    const [first, index, ...rest] = path
    if (first !== 'items' || typeof index !== 'number') return locateJson(text, 0, path, key)
    items ??= elementOffsets(text, ['items'])
    const start = items[index]
    return start === undefined ? locateJson(text, 0, ['items']) : locateJson(text, start, rest, key)
  }
  return { documents: [{ value, locate }], faults: [] }
}

/** The documents of a YAML stream. One that does not parse leaves the others alone; empty ones are left out. */
export function yamlDocuments(text: string): Documents {
  const documents: TextDocument[] = []
  const faults: TextFault[] = []
  for (const [start, end] of splitYaml(text)) {
    const chunk = text.slice(start, end)
    const loaded = loadYaml(chunk)
    if ('message' in loaded) faults.push({ ...loaded, offset: loaded.offset + start })
    else if (loaded.value !== null && loaded.value !== undefined)
      documents.push({ value: loaded.value, locate: locator(chunk, start, listAt(loaded.value, ['items']).length) })
  }
  return { documents, faults }
}

/** Knows of the value only how many `items` it has: it would keep it from being collected. */
function locator(chunk: string, start: number, count: number): TextDocument['locate'] {
  let whole: YamlLocator | undefined
  let lines: readonly number[] | null | undefined
  let latest: { readonly index: number; readonly at: YamlLocator } | undefined
  return (path, key) => {
    const [first, index, ...rest] = path
    if (first === 'items' && typeof index === 'number') {
      if (lines === undefined) lines = itemLines(chunk, count) ?? null
      const begin = lines?.[index]
      if (begin !== undefined) {
        if (latest?.index !== index) latest = { index, at: yamlLocator(chunk.slice(begin, lines?.[index + 1])) }
        return start + begin + latest.at([0, ...rest], key)
      }
    }
    whole ??= yamlLocator(chunk)
    return start + whole(path, key)
  }
}
