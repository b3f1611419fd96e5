import type { Translated } from '../host/conntrack.js'
import { parseAddress } from '../model/address.js'
import type { Change } from '../model/change.js'
import { FIRST_MARK, LAST_MARK } from '../model/numbers.js'
import type { Entry } from '../syntax/languages.js'
import { asObject } from '../syntax/nft-json.js'
import type { Entries } from './entries.js'

/** A text that is the same for the same connections alone. */
export const connectionsKey = (of: Translated): string =>
  'pod' in of ? `${of.pod.text} ${of.egressIP.text}` : `${of.bridge} ${of.zone} ${of.egressIP.text}`

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
  const kept = new Set(by([...desired.nftables, ...desired.openflow]).map(connectionsKey))
  return [...new Map(stale.map((each) => [connectionsKey(each), each])).values()].filter((each) => !kept.has(connectionsKey(each)))
}

/** The bridge and the mark of a flow that gives packets with the mark of an EgressIP its address. */
const marked = (entry: Entry): readonly string[] =>
  'cookie' in entry && translatedBy(entry) ? [`${entry.bridge} ${entry.match.find(([field]) => field === 'pkt_mark')?.[1]}`] : []

/** The connections that an entry gives an egress IP to: an element of a map, or a flow that matches the mark of an EgressIP. */
export function translatedBy(entry: Entry): Translated | undefined {
  if ('kind' in entry) {
    const concat = entry.kind === 'element' && entry.map ? asObject(entry.value)?.concat : undefined
    const [pod, egressIP] = [Array.isArray(concat) ? concat[0] : undefined, entry.kind === 'element' ? entry.to : undefined].map((text) =>
      typeof text === 'string' ? parseAddress(text) : undefined,
    )
    return pod && egressIP && { egressIP, pod }
  }
  if (!('cookie' in entry)) return undefined
  const mark = Number(entry.match.find(([field]) => field === 'pkt_mark')?.[1])
  if (!(mark >= FIRST_MARK && mark <= LAST_MARK)) return undefined
  const egressIP = parseAddress(/\bnat\(src=([^),]+)\)/.exec(entry.actions)?.[1] ?? '')
  const zone = /\bzone=(\d+)/.exec(entry.actions)?.[1]
  return egressIP && zone !== undefined ? { egressIP, bridge: entry.bridge, zone: Number(zone) } : undefined
}
