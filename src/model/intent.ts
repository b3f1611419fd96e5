import { type Catalog, distinctContent, duplicates } from './catalog.js'
import { type EgressIPIntent, type Live, NOTHING_LIVE, readEgressIP, readLive, stateInIntent, textsOf } from './egressip.js'
import type { Lock } from './lock.js'
import type { Position, Problem } from './problem.js'
import type { SourceObject } from './source.js'

export type { EgressIPIntent } from './egressip.js'

/** The intent of all objects. `invalid` are objects whose schema is wrong or whose name stands twice: none of their addresses is placed. */
export interface Intent {
  readonly objects: readonly EgressIPIntent[]
  readonly invalid: readonly {
    readonly name: string
    readonly texts: readonly string[]
    /** Where each text stands. */
    readonly places: ReadonlyMap<string, Position>
    readonly message: string
    /** Whether a problem of code InvalidObject says it of the object already. */
    readonly reported: boolean
  }[]
  /** EgressIPs that only the topology has and the lock does not: they keep their addresses and their capacity. */
  readonly foreign: readonly EgressIPIntent[]
  /** EgressIPs that only the topology has, though the lock has them too: their removal is asked for. */
  readonly gone: readonly EgressIPIntent[]
  /** Addresses that the lock or a live status of ours has and no object asks for any more. */
  readonly removed: readonly { readonly object: string; readonly egressIP: string; readonly node: string }[]
}

/** What the live objects say, by name of the EgressIP. */
export type LiveObjects = ReadonlyMap<string, Live>

/**
 * The intent of the EgressIPs of a catalog; `removed` is empty yet. An object in a file of the intent and in one of the topology
 * takes its spec from the first and the rest from the second. One that only the topology has is foreign, or gone if the
 * lock has it.
 */
export function readIntent(catalog: Catalog, lock: Lock | null): { intent: Intent; live: LiveObjects; problems: readonly Problem[] } {
  const objects: EgressIPIntent[] = []
  const foreign: EgressIPIntent[] = []
  const gone: EgressIPIntent[] = []
  const invalid = new Map<string, { places: Map<string, Position>; message: string; reported: boolean }>()
  const live = new Map<string, Live>()
  const problems: Problem[] = []
  const refuse = (candidates: readonly SourceObject[], message: string, reported: boolean) => {
    const entry = invalid.get(candidates[0]?.name ?? '') ?? { places: new Map<string, Position>(), message, reported }
    for (const object of candidates) {
      invalid.set(object.name, entry)
      for (const [text, place] of textsOf(object)) entry.places.set(text, entry.places.get(text) ?? place)
    }
  }

  for (const { object, problem } of catalog.misnamed) {
    if (object.kind.toLowerCase() !== 'egressip' || object.role === 'topology' || object.name === '') continue
    refuse([object], problem.message, true)
  }
  for (const namesakes of catalog.byKind.get('EgressIP') ?? []) {
    const name = namesakes[0]?.name ?? ''
    const inIntent = namesakes.filter(({ role }) => role === 'intent')
    const inBoth = namesakes.filter(({ role }) => role === 'both')
    const wanted = distinctContent(inIntent.length > 0 ? inIntent : inBoth)
    const there = distinctContent(namesakes.filter(({ role }) => role !== 'intent'))
    const several = [wanted, there].find((candidates) => candidates.length > 1)
    if (several) {
      problems.push(...duplicates(several))
      refuse(several, `EgressIP ${name} stands ${several.length} times with different content`, false)
      continue
    }
    const read = there[0] && readLive(there[0])
    if (read) live.set(name, read.live)
    if (read) problems.push(...read.problems)
    const [object] = wanted
    const ours = object !== undefined || (lock !== null && Object.hasOwn(lock.objects, name))
    if (object?.role === 'intent') problems.push(...stateInIntent(object))
    const source = object ?? there[0]
    if (!source || (!object && invalid.has(name))) continue
    const { intent, problems: found } = readEgressIP(source, read?.live ?? NOTHING_LIVE)
    if (object) problems.push(...found)
    if (intent) (object ? objects : ours ? gone : foreign).push(intent)
    else if (object) refuse([object], found[0]?.message ?? `EgressIP ${name} is wrong.`, true)
  }
  const sorted = [...invalid]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { places, ...why }]) => ({ name, texts: [...places.keys()].sort(), places, ...why }))
  return { intent: { objects, invalid: sorted, foreign, gone, removed: [] }, live, problems }
}
