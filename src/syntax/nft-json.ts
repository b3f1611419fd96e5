import { parseAddress } from '../model/address.js'
import { canonicalJson } from '../model/bundle.js'
import { SyntaxFault } from './language.js'
import { byText, readJson } from './text.js'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

export const asObject = (value: Json | undefined): JsonObject | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null

/** The items of `{"nftables":[…]}`: commands such as `{"add":{"table":{…}}}`, or (command null) bare objects of a listing. */
export function readNft(text: string): readonly { command: string | null; type: string; body: JsonObject; line: number }[] {
  // a raw field of up to 63 bits is listed as a number that JSON.parse would round
  const exact = /\d{16}/.test(text)
    ? text.replaceAll(/"(?:[^"\\]|\\.)*"|\d{16,}/g, (token) => (token.startsWith('"') ? token : `"${printHex(BigInt(token))}"`))
    : text
  const items = asObject(readJson(exact) as Json)?.nftables
  if (!Array.isArray(items)) throw new SyntaxFault(1, 'expected {"nftables":[…]}')
  return (items as readonly Json[]).map((item, index) => {
    // nftFile gives every command a line of its own, after the opening one
    const line = index + 2
    const [outer, inner] = only(item, line)
    if (!['add', 'create', 'insert', 'replace', 'delete', 'flush', 'rename'].includes(outer))
      return { command: null, type: outer, body: body(inner, line), line }
    const [type, value] = only(inner, line)
    return { command: outer, type, body: body(value, line), line }
  })
}

function only(value: Json | undefined, line: number): readonly [string, Json] {
  const entries = Object.entries(asObject(value) ?? {})
  if (entries.length !== 1) throw new SyntaxFault(line, 'expected an object with one field')
  return entries[0] as [string, Json]
}

function body(value: Json, line: number): JsonObject {
  const object = asObject(value)
  if (!object) throw new SyntaxFault(line, 'expected an object')
  return object
}

const printHex = (value: bigint): string => `0x${value.toString(16)}`

/** A set without a name, as nft prints it: sorted, and a plain value where there is only one. */
export const anonymous = (values: readonly Json[]): Json => {
  const sorted = [...values].sort((a, b) => byText(canonicalJson(a), canonicalJson(b)))
  return sorted.length === 1 ? (sorted[0] as Json) : { set: sorted }
}

/**
 * An expression in the form in which nft lists it: counters without their counts, numbers written in hexadecimal as numbers (but as `0x` and
 * all digits where a raw field of a packet is matched), addresses as RFC 5952 says, anonymous sets sorted.
 */
export function canonicalExpression(value: Json): Json {
  if (typeof value === 'string') return canonicalText(value)
  if (Array.isArray(value)) return value.map(canonicalExpression)
  const object = asObject(value)
  if (!object) return value
  if ('counter' in object && asObject(object.counter)?.packets !== undefined) return { counter: null }
  if ('set' in object && Array.isArray(object.set)) return anonymous(object.set.map(canonicalExpression))
  const match = asObject(object.match)
  const bits = rawBits(match?.left)
  if (match && bits !== null)
    return { match: { op: match.op ?? '==', left: canonicalExpression(match.left as Json), right: rawValue(match.right as Json, bits) } }
  return Object.fromEntries(Object.entries(object).map(([name, inner]) => [name, canonicalExpression(inner)]))
}

/** Most texts are words, which are not worth the question whether they are addresses. */
function canonicalText(text: string): Json {
  if (/^0x[0-9a-f]+$/i.test(text)) return plainNumber(text)
  return /^[0-9a-f.:]+$/i.test(text) ? (parseAddress(text)?.text ?? text) : text
}

function plainNumber(text: string): Json {
  const value = BigInt(text)
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : printHex(value)
}

/** Length in bits of a raw payload expression; null for any other. */
function rawBits(left: Json | undefined): number | null {
  const payload = asObject(asObject(left)?.payload)
  return typeof payload?.base === 'string' && typeof payload.len === 'number' ? payload.len : null
}

function rawValue(right: Json, bits: number): Json {
  if ((typeof right === 'number' && Number.isSafeInteger(right)) || (typeof right === 'string' && /^0x[0-9a-f]+$/i.test(right))) {
    return `0x${BigInt(right)
      .toString(16)
      .padStart(Math.ceil(bits / 4), '0')}`
  }
  const set = asObject(right)?.set
  return Array.isArray(set) ? anonymous((set as readonly Json[]).map((value) => rawValue(value, bits))) : canonicalExpression(right)
}
