import { canonicalJson } from '../model/bundle.js'
import { isEqual } from '../model/equal.js'
import { type Language, SyntaxFault } from './language.js'
import { type Around, entriesOf, type NftEntry } from './nft-entry.js'
import { asObject, type Json, type JsonObject, readNft } from './nft-json.js'
import { once } from './recent.js'
import { type HostSymbol, substitute, symbolsIn } from './symbols.js'
import { byText } from './text.js'

export type { NftEntry } from './nft-entry.js'

const KINDS = ['table', 'chain', 'set', 'element', 'rule', 'other'] as const

/** nft refuses a comment of more than 128 characters; a longer one is cut. */
export const nftComment = (text: string): string => (text.length <= 128 ? text : `${text.slice(0, 125)}...`)

/** The table of an entry: `netdev ovn-kubernetes-egressip`. */
export const tableOf = (entry: NftEntry): string => `${entry.family} ${entry.table}`

/** Devices that only the host knows: of a chain's hook, or in the key of an element such as `POD . DEVICE`. */
export const deviceSymbols: (entry: NftEntry) => readonly HostSymbol[] = once((entry: NftEntry) => {
  if (entry.kind === 'chain') return symbolsIn(entry.hook?.dev ?? '')
  return entry.kind === 'element' ? symbolsIn(...joined(entry.value).filter((part) => typeof part === 'string')) : []
}, new WeakMap<NftEntry, readonly HostSymbol[]>())

const PLACED = new WeakMap<NftEntry, { readonly devices: string; readonly made: NftEntry }>()

/** The entry with the symbols of its devices replaced by names. */
export function withDevices(entry: NftEntry, devices: ReadonlyMap<string, string>): NftEntry {
  if (devices.size === 0) return entry
  const text = [...devices].join()
  const found = PLACED.get(entry)
  const made = found?.devices === text ? found.made : placed(entry, devices)
  if (found?.made !== made) PLACED.set(entry, { devices: text, made })
  return made
}

function placed(entry: NftEntry, devices: ReadonlyMap<string, string>): NftEntry {
  if (entry.kind === 'chain' && entry.hook?.dev != null)
    return { ...entry, hook: { ...entry.hook, dev: substitute(entry.hook.dev, devices) } }
  if (entry.kind !== 'element' || deviceSymbols(entry).length === 0) return entry
  const concat = joined(entry.value).map((part) => (typeof part === 'string' ? substitute(part, devices) : part))
  return { ...entry, value: { concat } }
}

/** The parts of a value that is a concatenation. */
const joined = (value: Json): readonly Json[] => {
  const parts = asObject(value)?.concat
  return Array.isArray(parts) ? (parts as readonly Json[]) : []
}

/** Asked for again and again by whoever sorts and compares. */
const key = once(spelledKey, new WeakMap<NftEntry, string>())

function spelledKey(entry: NftEntry): string {
  switch (entry.kind) {
    case 'table':
      return `table ${tableOf(entry)}`
    case 'chain':
    case 'set':
      return `${entry.kind} ${tableOf(entry)} ${entry.name}`
    case 'element':
      // Joined, and not a template, whose parts the engine would keep: there are tens of thousands.
      return [
        'element',
        entry.family,
        entry.table,
        entry.set,
        typeof entry.value === 'string' ? entry.value : canonicalJson(entry.value),
      ].join(' ')
    case 'rule':
      return `rule ${tableOf(entry)} ${entry.chain} #${entry.index + 1}`
    case 'other':
      return `${entry.type} ${tableOf(entry)} ${entry.name}`
  }
}

/** Everything but the key; a device that one of two base chains does not name is not compared. */
function same(a: NftEntry, b: NftEntry): boolean {
  // Most entries are elements, and their values are their keys.
  if (a.kind === 'element' && b.kind === 'element') return a.comment === b.comment && a.map === b.map && isEqual(a.to, b.to)
  const known = (entry: NftEntry, other: NftEntry): NftEntry =>
    entry.kind === 'chain' && entry.hook && other.kind === 'chain' && other.hook?.dev == null
      ? { ...entry, hook: { ...entry.hook, dev: null } }
      : entry
  return isEqual(known(a, b), known(b, a))
}

/** Tables by name; within one: chains, sets, elements, rules, so that what is named stands before the name; rules in their order. */
export function compareNft(a: NftEntry, b: NftEntry): number {
  if (a.table !== b.table || a.family !== b.family) return byText(tableOf(a), tableOf(b))
  if (a.kind !== b.kind) return KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind)
  if (a.kind === 'rule' && b.kind === 'rule') return byText(a.chain, b.chain) || a.index - b.index
  return byText(key(a), key(b))
}

/** The object of libnftables-json(5) that adds the entry: `{"element":{…}}`. */
export function nftObject(entry: NftEntry): JsonObject {
  const { family, table } = entry
  switch (entry.kind) {
    case 'table':
      return { table: { family, name: table } }
    case 'chain': {
      const { dev, ...hook } = entry.hook ?? { dev: null }
      return { chain: { family, table, name: entry.name, ...hook, ...(dev !== null && { dev }) } }
    }
    case 'set': {
      const flags = entry.flags.length === 0 ? {} : { flags: entry.flags }
      const body = {
        family,
        table,
        name: entry.name,
        type: entry.type,
        ...(entry.map !== null && { map: entry.map }),
        ...flags,
        ...entry.options,
      }
      return entry.map === null ? { set: body } : { map: body }
    }
    case 'element': {
      const value = entry.comment === null ? entry.value : { elem: { val: entry.value, comment: entry.comment } }
      return { element: { family, table, name: entry.set, elem: [entry.map ? [value, entry.to] : value] } }
    }
    case 'rule':
      return { rule: { family, table, chain: entry.chain, expr: entry.expr, ...(entry.comment !== null && { comment: entry.comment }) } }
    case 'other':
      return { [entry.type]: { family, table, name: entry.name, ...entry.body } }
  }
}

/**
 * The commands, each on one line, that replace the tables of the entries in one transaction: add (so that the delete cannot fail), delete,
 * then everything anew.
 */
export function replaceCommands(entries: readonly NftEntry[]): readonly string[] {
  const tables = new Map(entries.map((entry) => [tableOf(entry), { family: entry.family, table: entry.table, kind: 'table' as const }]))
  const anew = [...entries.filter((entry) => entry.kind !== 'table'), ...tables.values()].sort(compareNft)
  return anew.flatMap((entry) => {
    const object = nftObject(entry)
    const add = JSON.stringify({ add: object })
    return entry.kind === 'table' ? [add, JSON.stringify({ delete: object }), add] : [add]
  })
}

/** A file for `nft -j -f` around commands. */
export const nftFile = (commands: readonly string[]): string => `{"nftables":[\n${commands.join(',\n')}\n]}\n`

/** Reads tables, and remembers the elements of its last text: few of ten thousand change at a time. */
export function nftReader(): (text: string) => readonly NftEntry[] {
  let before: ReadonlyMap<string, NftEntry> = new Map()
  return (text) => {
    const entries = new Map<string, NftEntry>()
    const elements = new Map<string, NftEntry>()
    const indexes = new Map<string, number>()
    const around: Around = {
      nextIndex(chain) {
        const index = indexes.get(chain) ?? 0
        indexes.set(chain, index + 1)
        return index
      },
      elementOf(place, written, make) {
        const spelled = [place, JSON.stringify(written)].join(' ')
        const element = before.get(spelled) ?? make()
        elements.set(spelled, element)
        return element
      },
    }
    for (const { command, type, body, line } of readNft(text)) {
      if (type === 'metainfo') continue
      if (command === 'delete' && type === 'table') continue
      if (command !== 'add' && command !== null)
        throw new SyntaxFault(line, `the command ${command} ${type} has no place in a rendered file`)
      for (const entry of entriesOf(type, body, around, line)) entries.set(key(entry), entry)
    }
    before = elements
    return [...entries.values()]
  }
}

/**
 * `nftables.json` (a file for `nft -j -f`) and what `nft -j list table` prints. Printed as the replacement of whole tables, so a set of
 * entries must hold whole tables. Comments of tables, chains and sets are not kept: nft 1.0.6 does not print them.
 */
export const nftables: Language<NftEntry> = {
  subsystem: 'nftables',
  parse: (text) => nftReader()(text),
  print: (entries) => nftFile(replaceCommands(entries)),
  key,
  same,
}
