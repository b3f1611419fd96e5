import type { EgressChain, Translation } from '../host/iptables.js'
import { type OvnkubeNat, translationOf } from '../host/ovnkube.js'
import { canonicalJson } from '../model/bundle.js'
import { isEqual } from '../model/equal.js'
import type { Json } from '../syntax/nft-json.js'
import { type NftEntry, nftables } from '../syntax/nftables.js'
import type { Finding } from './finding.js'

/** What of ovnkube-node translates pods on a host: its nft table, and the chains of releases up to v1.3.0. */
export interface Translating {
  readonly nat: OvnkubeNat
  readonly chains: readonly EgressChain[]
}

/** Every egress IP that something on the host gives to pods. */
export const translationsOn = ({ nat, chains }: Translating): readonly Translation[] => [
  ...nat.translations,
  ...chains.flatMap(({ translations }) => translations),
]

const SNAT = 'egress-ip-snat'
const FILTER = 'egress-ip-sec-filter'
const CONNMARK = 'egress-ip-connmark'

/** Through what a translation stands where it does. */
const placeOf = ({ pod, dev }: Translation): string => `${pod.text} through ${dev}`

const keyOf = (of: Translation): string => `${placeOf(of)} as ${of.egressIP.text}`

/** How a translation is called here, by the key of its element in a bundle. */
export const translationNames = (asked: readonly NftEntry[]): ReadonlyMap<string, string> =>
  new Map(
    asked.flatMap((entry): readonly (readonly [string, string])[] => {
      const found = entry.kind === 'element' ? translationOf(entry.value, entry.to) : undefined
      return found ? [[nftables.key(entry), keyOf(found)]] : []
    }),
  )

type Wanted = Translation & { readonly for: string | null }

/**
 * Compares the translations that the bundle asks for with those of ovnkube-node, in whichever form it has them: where its maps are there, they
 * are what counts, and a chain of iptables was left behind by the release before. `asked` is the table of the bundle, with device names.
 */
export function natFindings(asked: readonly NftEntry[], { nat, chains }: Translating): readonly Finding[] {
  const wanted = asked.flatMap((entry): readonly Wanted[] => {
    const found = entry.kind === 'element' ? translationOf(entry.value, entry.to) : undefined
    return found && entry.kind === 'element' ? [{ ...found, for: entry.comment }] : []
  })
  const old = chains.flatMap(({ translations }) => translations)
  if (nat.maps.length === 0) {
    const none = chains.length > 0 ? 'no rule of the chain translates the pod' : 'the host has no map and no chain that translates pods'
    return [...translationFindings(wanted, old, none), ...chainFindings(asked, wanted, chains)]
  }
  return [
    ...translationFindings(wanted, nat.translations, 'no element of the map translates the pod'),
    ...leftBehind(wanted, old),
    ...ruleFindings(asked, wanted, nat),
  ]
}

const isSame = (a: Translation, b: Translation): boolean => placeOf(a) === placeOf(b) && a.egressIP.text === b.egressIP.text

function translationFindings(wanted: readonly Wanted[], live: readonly Translation[], none: string): readonly Finding[] {
  const there = new Map<string, Translation>()
  // Of several rules of a chain for one pod the first counts; a map has one element.
  for (const each of live) if (!there.has(placeOf(each))) there.set(placeOf(each), each)
  const missing = wanted.flatMap((each): readonly Finding[] => {
    const found = there.get(placeOf(each))
    const finding = { subsystem: 'nftables', key: keyOf(each), for: each.for } as const
    if (!found) return [{ ...finding, what: 'missing', says: none }]
    return isSame(found, each) ? [] : [{ ...finding, what: 'different', says: `the pod leaves with ${found.egressIP.text}` }]
  })
  const places = new Map(wanted.map((each) => [placeOf(each), each]))
  const held = new Set(wanted.map(({ egressIP }) => egressIP.text))
  const stale = live.flatMap((each): readonly Finding[] => {
    const place = places.get(placeOf(each))
    if (place && (isSame(place, each) || there.get(placeOf(each)) === each)) return []
    const says = held.has(each.egressIP.text)
      ? 'the bundle has no such pod for the egress IP'
      : 'the node translates to an address that it does not hold'
    return [{ subsystem: 'nftables', what: 'stale', key: keyOf(each), says, for: null }]
  })
  return [...missing, ...stale]
}

/** Nothing removes the chain after an upgrade; what it says of pods that moved on is wrong. */
const leftBehind = (wanted: readonly Wanted[], old: readonly Translation[]): readonly Finding[] =>
  old
    .filter((each) => !wanted.some((other) => isSame(each, other)))
    .map((each) => ({
      subsystem: 'nftables',
      what: 'stale',
      key: keyOf(each),
      says: 'a release up to v1.3.0 left this rule of iptables behind',
      for: null,
    }))

/** What the chain of iptables needs beside its rules, in the families in which pods are translated. */
function chainFindings(asked: readonly NftEntry[], wanted: readonly Wanted[], chains: readonly EgressChain[]): readonly Finding[] {
  const local = asked.some((entry) => entry.kind === 'chain' && entry.name === CONNMARK)
  return chains
    .filter(({ family, translations }) => translations.length > 0 && wanted.some(({ pod }) => pod.family === family))
    .flatMap(({ family, isReached, keepsMark }): readonly Finding[] => {
      const missing = (key: string, says: string): Finding => ({
        subsystem: 'nftables',
        what: 'missing',
        key: `${key} (IPv${family})`,
        says,
        for: null,
      })
      return [
        ...(isReached ? [] : [missing('jump from POSTROUTING', 'no packet comes to the chain, so no pod is translated')]),
        ...(local && !keepsMark
          ? [missing('CONNMARK in PREROUTING', 'replies to pods that meet a node lose the mark of their connection')]
          : []),
      ]
    })
}

/** What the maps need beside their elements: rules that use them, the filter of what they do not know, and the marks of local gateway mode. */
function ruleFindings(asked: readonly NftEntry[], wanted: readonly Wanted[], { rules }: OvnkubeNat): readonly Finding[] {
  if (wanted.length === 0) return []
  const missing = (key: string, says: string): Finding => ({ subsystem: 'nftables', what: 'missing', key, says, for: null })
  const of = (chain: string) => rules.filter((rule) => rule.chain === chain).map(({ expr }) => expr)
  const unused = ([4, 6] as const)
    .filter((family) => wanted.some(({ pod }) => pod.family === family))
    .map((family) => `${SNAT}-v${family}`)
    .filter((map) => !of(SNAT).some((expr) => canonicalJson(expr).includes(`"@${map}"`)))
    .map((map) => missing(`rule with @${map}`, 'no rule uses the map, so no pod is translated'))
  const holds = (chain: string, statements: readonly Json[]) =>
    of(chain).some((expr) => statements.every((statement) => expr.some((each) => isEqual(each, statement))))
  const lacking = [FILTER, CONNMARK].flatMap((chain) =>
    asked.flatMap((entry) => (entry.kind === 'rule' && entry.chain === chain && !holds(chain, entry.expr) ? entry : [])),
  )
  return [
    ...unused,
    ...lacking.map(({ chain, index, comment }) => missing(`rule ${index + 1} of ${chain}`, `not there: ${comment ?? chain}`)),
  ]
}
