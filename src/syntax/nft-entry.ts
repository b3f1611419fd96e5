import { SyntaxFault } from './language.js'
import { asObject, canonicalExpression, type Json, type JsonObject } from './nft-json.js'
import { byText } from './text.js'

interface InTable {
  readonly family: string
  readonly table: string
}

/**
 * One object of an nft table in the words of libnftables-json(5), in one canonical form for what is asked and for what nft prints back.
 * A rule has no name: `index` is its place in its chain. `dev` of a base chain is null where it is not known, because `nft -j list`
 * does not print it: the reader of a host fills it in from the native listing.
 */
export type NftEntry = InTable &
  (
    | { readonly kind: 'table' /** Such as `dormant`; no table of ours has one. */; readonly flags?: Json }
    | { readonly kind: 'chain'; readonly name: string; readonly hook: NftHook | null }
    | {
        readonly kind: 'set'
        readonly name: string
        readonly type: Json
        readonly map: Json | null
        readonly flags: readonly string[]
        readonly options: JsonObject
      }
    | {
        readonly kind: 'element'
        readonly set: string
        readonly map: boolean
        readonly value: Json
        readonly to: Json | null
        readonly comment: string | null
      }
    | {
        readonly kind: 'rule'
        readonly chain: string
        readonly index: number
        readonly expr: readonly Json[]
        readonly comment: string | null
      }
    | { readonly kind: 'other'; readonly type: string; readonly name: string; readonly body: JsonObject }
  )

/** What makes a chain a base chain. `prio` is a number, as nft prints it: `filter` is 0. */
interface NftHook {
  readonly type: string
  readonly hook: string
  readonly prio: number
  readonly policy: string
  readonly dev: string | null
}

/** What depends on the rest of a text. */
export interface Around {
  /** The place of the next rule of a chain. */
  readonly nextIndex: (chain: string) => number
  /** The element that a JSON value is, by what it stands in. */
  readonly elementOf: (place: string, written: Json, make: () => NftEntry) => NftEntry
}

/** The entries of one object of `nft -j list`, or of the object that an `add` command adds; a set brings its elements. */
export function entriesOf(type: string, body: JsonObject, { nextIndex, elementOf }: Around, line: number): readonly NftEntry[] {
  const fail = (message: string): never => {
    throw new SyntaxFault(line, message)
  }
  const word = (field: string): string => {
    const found = body[field]
    return typeof found === 'string' && found !== '' ? found : fail(`${type} without ${field}`)
  }
  const comment = typeof body.comment === 'string' ? body.comment : null
  const family = word('family')
  if (type === 'table') return [{ kind: 'table', family, table: word('name'), ...(body.flags !== undefined && { flags: body.flags }) }]
  const table = word('table')
  if (type === 'chain')
    return [{ kind: 'chain', family, table, name: word('name'), hook: body.hook === undefined ? null : hookOf(body, fail) }]
  if (type === 'rule') {
    if (!Array.isArray(body.expr)) return fail('rule without expr')
    const chain = word('chain')
    return [
      {
        kind: 'rule',
        family,
        table,
        chain,
        index: nextIndex(`${family} ${table} ${chain}`),
        expr: body.expr.map(canonicalExpression),
        comment,
      },
    ]
  }
  const name = word('name')
  const elements = (map: boolean): readonly NftEntry[] =>
    (Array.isArray(body.elem) ? (body.elem as readonly Json[]) : []).map((element) =>
      elementOf(`${family} ${table} ${name} ${map}`, element, () => elementIn(element, map)),
    )
  const elementIn = (element: Json, map: boolean): NftEntry => {
    const [written, to] =
      map && Array.isArray(element) ? [element[0] as Json, canonicalExpression(element[1] as Json)] : [element as Json, null]
    const inner = asObject(asObject(written)?.elem)
    const value = canonicalExpression(inner ? (inner.val as Json) : written)
    return {
      kind: 'element',
      family,
      table,
      set: name,
      map,
      value,
      to,
      comment: typeof inner?.comment === 'string' ? inner.comment : null,
    }
  }
  if (type === 'element') return elements(Array.isArray(body.elem) && body.elem.some((element) => Array.isArray(element)))
  if (type === 'set' || type === 'map') {
    const { family: _f, table: _t, name: _n, handle: _h, elem: _e, comment: _c, type: written, map, flags, ...options } = body
    const sorted = [flags ?? []].flat().map(String).sort(byText)
    const of = Array.isArray(written) && written.length === 1 ? (written[0] as Json) : (written as Json)
    return [
      { kind: 'set', family, table, name, type: of, map: (map ?? null) as Json | null, flags: sorted, options },
      ...elements(type === 'map'),
    ]
  }
  const { family: _f, table: _t, name: _n, handle: _h, ...rest } = body
  return [{ kind: 'other', family, table, type, name, body: rest }]
}

function hookOf(body: JsonObject, fail: (message: string) => never): NftHook {
  if (typeof body.prio !== 'number') return fail('a base chain needs a numeric prio')
  const devices = body.dev === undefined ? [] : [body.dev].flat().map(String).sort(byText)
  return {
    type: String(body.type),
    hook: String(body.hook),
    prio: body.prio,
    policy: typeof body.policy === 'string' ? body.policy : 'accept',
    dev: devices.length === 0 ? null : devices.join(','),
  }
}
