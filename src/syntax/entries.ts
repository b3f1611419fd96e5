import { SyntaxFault } from './language.js'
import { readJson } from './text.js'

/** Reads fields of one object of a host file; every fault names the line on which the object stands. */
export interface FieldReader {
  text(field: string): string
  optionalText(field: string): string | null
  /** A whole number from 0. */
  number(field: string): number
  optionalNumber(field: string): number | null
  fail(message: string): never
}

/**
 * The objects of a host file (a JSON array), each read by `read`. Fields that `fields` does not list are refused: a file of a newer
 * egretta must not be half understood. Throws SyntaxFault.
 */
export function readEntries<E>(text: string, fields: readonly string[], read: (reader: FieldReader) => E): readonly E[] {
  const values = readJson(text)
  if (!Array.isArray(values)) throw new SyntaxFault(1, 'expected an array')
  return values.map((value: unknown, index) => {
    // printLines gives every entry a line of its own, after the opening bracket
    const line = index + 2
    const fail = (message: string): never => {
      throw new SyntaxFault(line, message)
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail('expected an object')
    const entry = value as Record<string, unknown>
    for (const field of Object.keys(entry)) if (!fields.includes(field)) fail(`unknown field "${field}"`)
    const optionalText = (field: string): string | null => {
      const found = entry[field]
      if (found === undefined || found === null) return null
      return typeof found === 'string' && found !== '' ? found : fail(`"${field}" must be a text that is not empty`)
    }
    const optionalNumber = (field: string): number | null => {
      const found = entry[field]
      if (found === undefined || found === null) return null
      return Number.isSafeInteger(found) && (found as number) >= 0 ? (found as number) : fail(`"${field}" must be a whole number from 0`)
    }
    const missing = (field: string): never => fail(`"${field}" is missing`)
    return read({
      optionalText,
      text: (field) => optionalText(field) ?? missing(field),
      optionalNumber,
      number: (field) => optionalNumber(field) ?? missing(field),
      fail,
    })
  })
}
