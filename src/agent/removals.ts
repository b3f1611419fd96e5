import { printPrefix } from '../model/address.js'
import { canonicalJson } from '../model/bundle.js'
import type { Change } from '../model/change.js'
import { type Problem, problem } from '../model/problem.js'
import type { Entry } from '../syntax/languages.js'
import { type NftEntry, nftables } from '../syntax/nftables.js'
import type { Bundle } from './bundle.js'
import { connectionsKey, translatedBy } from './conntrack.js'
import { SUBSYSTEMS } from './entries.js'
import { intruders } from './intruders.js'
import { type Observation, split } from './reconcile.js'

/** A subsystem with no more entries than this may lose them all. */
const FEW = 10

/** The part of index.json that is read here. */
interface Index {
  readonly assignments?: readonly { readonly egressIP?: string; readonly node?: string }[]
  readonly nodes?: Readonly<Record<string, string>>
}

/** Addresses that the rendering of this very bundle places on other nodes; none where index.json is absent or of another rendering. */
export function elsewhere(text: string | null, { manifest }: Bundle): ReadonlySet<string> {
  let index: Index
  try {
    index = JSON.parse(text ?? '{}') as Index
  } catch {
    return new Set()
  }
  if (index.nodes?.[manifest.node] !== manifest.digest || !Array.isArray(index.assignments)) return new Set()
  return new Set(index.assignments.flatMap(({ egressIP, node }) => (egressIP !== undefined && node !== manifest.node ? egressIP : [])))
}

/**
 * A problem for each subsystem of which a run would remove more than the percentage. What comes back in the same place does not count: with
 * another port, table or interface it is another entry (a port number, an ifindex or a MAC changed), and nothing is lost; what waits
 * for its port or interface will come back too. Nor does what belongs to an address that went to another node, or a route of a table of its
 * own, which goes with the rules that lead there, or what others put into a table of ours. `awaited` are the entries that wait.
 */
export function tooManyRemovals(
  changes: readonly Change<Entry>[],
  observed: Observation,
  awaited: readonly Entry[],
  moved: ReadonlySet<string>,
  maxRemove: number,
): readonly Problem[] {
  const pods = podsOf(changes, moved)
  const coming = [...awaited, ...changes.flatMap(({ op, entry }) => (entry && (op === 'add' || isRule(entry)) ? entry : []))]
  const losing = new Set(changes.flatMap(({ op, subsystem }) => (op === 'delete' ? subsystem : [])))
  return SUBSYSTEMS.flatMap((name) => {
    if (!losing.has(name)) return []
    const { own } = split('base', observed[name])
    const foreign = intruders(own)
    const held = own.length - foreign.size
    const places = new Map<string, number>()
    for (const place of coming.map(placeOf)) places.set(place, (places.get(place) ?? 0) + 1)
    const comesBack = (entry: Entry): boolean => {
      const left = places.get(placeOf(entry)) ?? 0
      places.set(placeOf(entry), left - 1)
      return left > 0
    }
    const removed = changes.filter(
      ({ subsystem, op, from }) =>
        subsystem === name && op === 'delete' && from && !foreign.has(from) && !isExempt(from, moved, pods) && !comesBack(from),
    ).length
    if (held <= FEW || removed * 100 <= held * maxRemove) return []
    return [
      problem('TooManyRemovals', {
        message: `the run would remove ${removed} of ${held} ${name}, more than ${maxRemove} percent; nothing was changed`,
      }),
    ]
  })
}

/** Pods that lose an egress IP which went to another node: their rules go with it. */
const podsOf = (changes: readonly Change<Entry>[], moved: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(
    changes.flatMap(({ op, from }) => {
      const of = op === 'delete' && from ? translatedBy(from) : undefined
      return of && 'pod' in of && moved.has(of.egressIP.text) ? of.pod.text : []
    }),
  )

function isExempt(entry: Entry, moved: ReadonlySet<string>, pods: ReadonlySet<string>): boolean {
  if ('address' in entry) return moved.has(entry.address.address.text)
  if ('fwmark' in entry) return pods.has(entry.src.address.text)
  if ('metric' in entry) return entry.table !== 'main'
  const of = translatedBy(entry)
  return of !== undefined && moved.has(of.egressIP.text)
}

/** What of an entry stays the same when a port, a table, an interface or a MAC of the host is another one. */
function placeOf(entry: Entry): string {
  if ('cookie' in entry) return `flow ${entry.bridge} ${entry.table} ${entry.priority}`
  if ('flag' in entry) return `${entry.flag} ${entry.bridge}`
  if ('address' in entry) return `address ${entry.address.address.text}`
  if ('lladdr' in entry) return `neighbor ${entry.dst.text}`
  if ('fwmark' in entry) return `rule ${entry.priority} ${entry.src.address.text}`
  if ('metric' in entry) return `route ${entry.dst ? printPrefix(entry.dst) : entry.dev}`
  const of = translatedBy(entry)
  if (isRule(entry)) return `rule ${entry.chain} ${canonicalJson(entry.expr)}`
  return of ? `translation ${connectionsKey(of)}` : nftables.key(entry)
}

/** A rule of nft has no place of its own: its number is another one when somebody puts a rule before it. */
const isRule = (entry: Entry): entry is NftEntry & { readonly kind: 'rule' } => 'kind' in entry && entry.kind === 'rule'
