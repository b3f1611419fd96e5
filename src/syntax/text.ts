import { SyntaxFault } from './language.js'

/** Splits at commas that stand outside of parentheses and brackets; blanks around the parts are dropped, and so are empty parts. */
export function splitTop(text: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const c = text[at]
    if (c === '(' || c === '[') depth++
    else if (c === ')' || c === ']') depth--
    else if ((c === ',' && depth === 0) || c === undefined) {
      const part = text.slice(start, at).trim()
      if (part !== '') parts.push(part)
      start = at + 1
    }
  }
  return parts
}

/** The text without the longer one that it may be a part of, which the engine would keep for its sake. */
export const alone = (text: string): string => ` ${text}`.slice(1)

/** A table of words. Not a plain object: a text that is read could be `constructor`. */
export const mapOf = <V>(words: Readonly<Record<string, V>>): ReadonlyMap<string, V> => new Map(Object.entries(words))

/** Orders texts by code unit. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Parses JSON that has one entry per line; throws SyntaxFault with the first line that is none. (Node's own message does not always say
 * where.)
 */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const isEntry = (line: string) => /[^\s[\]{},]/.test(line) && line.trim() !== '{"nftables":['
    const wrong = text.split('\n').findIndex((line) => isEntry(line) && !isJson(line.trim().replace(/,$/, '')))
    throw new SyntaxFault(wrong + 1 || 1, `not JSON: ${(error as Error).message}`)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** An array of JSON values, one per line, so that a change of one entry is a change of one line. */
export const printLines = (values: readonly unknown[]): string =>
  values.length === 0 ? '[]\n' : `[\n${values.map((value) => `  ${JSON.stringify(value)}`).join(',\n')}\n]\n`
