import { canonicalJson } from '../model/bundle.js'
import { EGRESS_TABLE } from '../model/numbers.js'
import { egressTable, podSubnetsIn } from '../syntax/egress-nat.js'
import type { Entry } from '../syntax/languages.js'
import { type NftEntry, nftables } from '../syntax/nftables.js'
import { translatedBy } from './conntrack.js'

/**
 * Entries of our nft tables that others put there: no bundle has them, or has them once only. They go with the next pass, and are no loss
 * that could keep it from mending the leak filter.
 */
export function intruders(own: readonly Entry[]): ReadonlySet<Entry> {
  const entries = own.filter((entry): entry is NftEntry => 'kind' in entry)
  // Of local mode, which has every chain.
  const possible = new Set(egressTable('local', podSubnetsIn(entries), []).map(meaning))
  const met = new Set<string>()
  return new Set(
    entries.filter((entry) => {
      const text = meaning(entry)
      const again = met.has(text)
      met.add(text)
      return again || !(possible.has(text) || isTranslation(entry))
    }),
  )
}

const isTranslation = (entry: NftEntry): boolean =>
  entry.kind === 'element' && entry.family === 'inet' && entry.table === EGRESS_TABLE && translatedBy(entry) !== undefined

/** What an entry is, wherever it stands in its chain. */
const meaning = (entry: NftEntry): string =>
  entry.kind === 'rule' ? `${entry.family} ${entry.table} ${entry.chain} ${canonicalJson(entry.expr)}` : nftables.key(entry)
