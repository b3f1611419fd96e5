import { hex128, parseAddress } from '../model/address.js'
import type { Artefact } from '../model/bundle.js'
import { type Entry, languageOf } from '../syntax/languages.js'
import { nftComment } from '../syntax/nftables.js'
import type { EntryReference } from './explanation.js'

/** Node to its rendered files. */
export type Bundles = ReadonlyMap<string, readonly Artefact[]>

type Rendered = EntryReference & { readonly for: string | null; readonly text: string }

/** The object that an entry says it comes from: the name before the reason in a comment. */
const originOf = (entry: Entry): string | null =>
  'for' in entry
    ? entry.for
    : 'comment' in entry && entry.comment !== null
      ? (/^[A-Za-z]+\/\S*?(?=:?( |$))/.exec(entry.comment)?.[0] ?? null)
      : null

/** The entries of one file that holds any of the words, or of any file where no word is given. */
function read(node: string, { path, text }: Artefact, words: readonly string[] | null): readonly Rendered[] {
  const written = languageOf(path)
  if (!written || (words && !words.some((word) => text.includes(word)))) return []
  const { subsystem, language } = written
  return language.parse(text).map((entry) => ({
    node,
    artefact: path,
    subsystem,
    key: language.key(entry),
    for: originOf(entry),
    text: language.print([entry]),
  }))
}

const referenceOf = ({ node, artefact, subsystem, key }: Rendered): EntryReference => ({ node, artefact, subsystem, key })

/** Every entry of the bundle of a node, in the order of its files. */
export const entriesOfNode = (bundles: Bundles, node: string): readonly (EntryReference & { readonly for: string | null })[] =>
  (bundles.get(node) ?? []).flatMap((artefact) => read(node, artefact, null).map((entry) => ({ ...referenceOf(entry), for: entry.for })))

/**
 * The entries that an address of an object has made: those that name the address, and, on the nodes that have one, those that name the object
 * and none of its other addresses, such as the rules of its pods. By node, then in the order of its files.
 */
export function entriesOfAddress(bundles: Bundles, object: string, egressIP: string, others: readonly string[]): readonly EntryReference[] {
  const origins = [`EgressIP/${object}`, nftComment(`EgressIP/${object}`)]
  const names = spellings(egressIP)
  const siblings = others.flatMap(spellings)
  return [...bundles.keys()].sort().flatMap((node) => {
    const found = (bundles.get(node) ?? []).flatMap((artefact) => read(node, artefact, [...names, ...origins]))
    const naming = new Set(found.filter(({ text }) => mentions(text, names)))
    if (naming.size === 0) return []
    return found
      .filter((entry) => naming.has(entry) || (entry.for !== null && origins.includes(entry.for) && !mentions(entry.text, siblings)))
      .map(referenceOf)
  })
}

/** How rendered text names an address: as RFC 5952, or as a raw 128-bit field. */
function spellings(text: string): readonly string[] {
  const address = parseAddress(text)
  return address?.family === 6 ? [address.text, hex128(address)] : address ? [address.text] : []
}

/** Whether a text has one of the words, not as part of a longer address. */
const mentions = (text: string, words: readonly string[]): boolean =>
  words.some((word) => new RegExp(`(?<![0-9a-f.:])${word.replaceAll('.', '\\.')}(?![0-9a-f:]|\\.[0-9])`).test(text))
