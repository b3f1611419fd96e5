import type { Translated } from '../host/conntrack.js'
import { parseAddress } from '../model/address.js'
import type { Change } from '../model/change.js'
import { FIRST_MARK, LAST_MARK } from '../model/numbers.js'
import type { Entry } from '../syntax/languages.js'
import { asObject } from '../syntax/nft-json.js'
import type { Entries } from './entries.js'

/** A text that is the same for the same connections alone. */
export const connectionsKey = (of: Translated): string =>
  wordsKey('pod' in of ? { egressIP: of.egressIP.text, pod: of.pod.text } : { ...of, egressIP: of.egressIP.text })

/**
 * Connections that the changes, or those `before` them, leave with an egress IP which nothing of `desired` gives them. With `keeps` not those of
 * a pod that has another egress IP on the same interface, or of a mark that has another one on the same bridge. A pod whose element goes
 * loses its rule too: its connections would leave through another interface, with an address that is not of that network.
 */
export function staleConnections(
  changes: readonly Change<Entry>[],
  desired: Entries,
  before: readonly Translated[],
  keeps: boolean,
): readonly Translated[] {
  const by = (entries: readonly (Entry | null)[]) => entries.flatMap((entry) => (entry && translatedBy(entry)) ?? [])
  const marks = new Set(keeps ? desired.openflow.flatMap(marked) : [])
  const stays = ({ op, from }: Change<Entry>) => keeps && from !== null && (op === 'update' || marked(from).some((mark) => marks.has(mark)))
  const stale = [...before, ...by(changes.flatMap((change) => (stays(change) ? [] : change.from)))]
  if (stale.length === 0) return []
  const left = new Map(stale.map((each) => [connectionsKey(each), each]))
  for (const entries of [desired.nftables, desired.openflow]) {
    for (const entry of entries) {
      const words = wordsOf(entry)
      if (words) left.delete(wordsKey(words))
    }
  }
  return [...left.values()]
}

/** The bridge and the mark of a flow that gives packets with the mark of an EgressIP its address. */
const marked = (entry: Entry): readonly string[] =>
  'cookie' in entry && translatedBy(entry) ? [`${entry.bridge} ${entry.match.find(([field]) => field === 'pkt_mark')?.[1]}`] : []

/** Connections in the words of an entry, whose addresses are spelled in one way. */
type Words =
  | { readonly egressIP: string; readonly pod: string }
  | { readonly egressIP: string; readonly bridge: string; readonly zone: number }

function wordsOf(entry: Entry): Words | undefined {
  if ('kind' in entry) {
    if (entry.kind !== 'element' || !entry.map) return undefined
    const concat = asObject(entry.value)?.concat
    const pod = Array.isArray(concat) ? concat[0] : undefined
    return typeof pod === 'string' && typeof entry.to === 'string' ? { egressIP: entry.to, pod } : undefined
  }
  if (!('cookie' in entry)) return undefined
  const mark = Number(entry.match.find(([field]) => field === 'pkt_mark')?.[1])
  if (!(mark >= FIRST_MARK && mark <= LAST_MARK)) return undefined
  const egressIP = /\bnat\(src=([^),]+)\)/.exec(entry.actions)?.[1]
  const zone = /\bzone=(\d+)/.exec(entry.actions)?.[1]
  return egressIP !== undefined && zone !== undefined ? { egressIP, bridge: entry.bridge, zone: Number(zone) } : undefined
}

const wordsKey = (of: Words): string => ('pod' in of ? `${of.pod} ${of.egressIP}` : `${of.bridge} ${of.zone} ${of.egressIP}`)

/** The connections that an entry gives an egress IP to: an element of a map, or a flow that matches the mark of an EgressIP. */
export function translatedBy(entry: Entry): Translated | undefined {
  const words = wordsOf(entry)
  const egressIP = words && parseAddress(words.egressIP)
  if (!words || !egressIP) return undefined
  if (!('pod' in words)) return { ...words, egressIP }
  const pod = parseAddress(words.pod)
  return pod && { egressIP, pod }
}
