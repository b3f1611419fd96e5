import type { Address } from '../model/address.js'
import { EGRESS_NODE_MARK, FIRST_MARK, GUARD_COOKIE, LAST_MARK } from '../model/numbers.js'
import { type Flow, openflow } from '../syntax/openflow.js'
import type { PortFlag } from '../syntax/port-flags.js'
import { translatedBy } from './conntrack.js'
import type { Finding } from './finding.js'

const { key: keyOf, same } = openflow('')

/** The rows that egress IPs need: those that translate by mark, and the one that drops what was not translated. */
const [BY_MARK, UNTRANSLATED] = [105, 103]

const markOf = ({ match }: Flow): number | null => {
  const text = match.find(([field]) => field === 'pkt_mark')?.[1]
  return text === undefined ? null : Number(text)
}

/** Whether a flow gives pods with the mark of an object its egress IP. */
const isMarked = (entry: Flow): boolean => {
  const mark = markOf(entry)
  return entry.table === 0 && entry.priority === BY_MARK && mark !== null && mark >= FIRST_MARK && mark <= LAST_MARK
}

/**
 * Whether egress IPs need a flow. Of the other rows of the bridge some are another spelling of those of OVN-Kubernetes on purpose, and serve
 * something else.
 */
export function servesEgress(entry: Flow | PortFlag): entry is Flow {
  if (!('cookie' in entry) || entry.table !== 0) return false
  const isUntranslated = entry.priority === UNTRANSLATED && entry.actions === 'drop'
  return isMarked(entry) || isUntranslated || (entry.priority === BY_MARK && markOf(entry) === EGRESS_NODE_MARK)
}

/** Egress IPs that flows give to pods, with the bridge. */
export const egressFlows = (flows: readonly Flow[]): readonly { readonly address: Address; readonly bridge: string }[] =>
  flows.filter(isMarked).flatMap((entry) => {
    const of = translatedBy(entry)
    return of ? { address: of.egressIP, bridge: entry.bridge } : []
  })

/**
 * Compares the flows that egress IPs need with those on the bridges, whosever they are. `isServed` says of an egress IP whether ovnkube-node has
 * a flow for it at all. A guard of the start-up that has not gone keeps the node from announcing anything.
 */
export function flowFindings(asked: readonly Flow[], live: readonly Flow[], isServed: (address: Address) => boolean): readonly Finding[] {
  const there = new Map(live.map((entry) => [keyOf(entry), entry]))
  const lacking = asked.filter(servesEgress).flatMap((entry): readonly Finding[] => {
    const found = there.get(keyOf(entry))
    const egressIP = translatedBy(entry)?.egressIP
    if (found ? same(found, entry) : isMarked(entry) && egressIP && !isServed(egressIP)) return []
    const finding = { subsystem: 'openflow', key: keyOf(entry), for: objectOf(entry) } as const
    return [
      found
        ? { ...finding, what: 'different', says: `its actions are ${found.actions}` }
        : { ...finding, what: 'missing', says: `there is no such flow; it should do ${entry.actions}` },
    ]
  })
  const wanted = new Set(asked.map(keyOf))
  const stale = live
    .filter((entry) => isMarked(entry) && !wanted.has(keyOf(entry)))
    .map((entry): Finding => {
      const address = translatedBy(entry)?.egressIP.text ?? 'an egress IP'
      return {
        subsystem: 'openflow',
        what: 'stale',
        key: keyOf(entry),
        says: `pods leave with ${address} by a mark that the bundle does not know here`,
        for: null,
      }
    })
  const guards = live
    .filter(({ cookie }) => cookie === GUARD_COOKIE)
    .map(
      (entry): Finding => ({
        subsystem: 'openflow',
        what: 'stale',
        key: keyOf(entry),
        says: 'the guard of the start-up is still there',
        for: null,
      }),
    )
  return [...lacking, ...stale, ...guards]
}

/** The object in the comment of a flow, in front of the sentence of its row. */
const objectOf = ({ comment }: Flow): string | null => /^\S+(?=: )/.exec(comment ?? '')?.[0] ?? null
