import { isSingle } from '../host/addresses.js'
import type { Observed, Subsystem } from '../host/subsystem.js'
import { compareAddresses } from '../model/address.js'
import { sha256 } from '../model/bundle.js'
import type { Change } from '../model/change.js'
import type { Ownership, SubsystemName } from '../model/cluster.js'
import { addresses, type HostAddress } from '../syntax/addresses.js'
import type { Entry } from '../syntax/languages.js'
import type { Bundle } from './bundle.js'
import { SUBSYSTEMS } from './entries.js'
import { ownershipOf } from './lifecycle.js'
import { type Goal, type Host, type Observation, type PartPlan, planPart } from './reconcile.js'

/** What one pass saw of a subsystem. */
export interface SeenSubsystem {
  readonly ownership: Ownership
  /** How many entries are asked for, without those that wait. */
  readonly entries: number
  /** Key of the first entry that differed before the pass; null where none did. */
  readonly differed: string | null
  /** What it refused; null when nothing. */
  readonly error: string | null
  /** Of tens of thousands of entries they take a tenth of a second, so a pass that changed nothing need not ask for them. */
  readonly digests: () => Digests
}

export interface Digests {
  /** Of what is asked for, without what waits. */
  readonly desired: string
  /** Of what the host holds after the pass: `desired` where nothing differs; null where it was not read. */
  readonly observed: string | null
}

/** What one pass saw. A subsystem that is off is left out. */
export interface Seen {
  readonly subsystems: Readonly<Partial<Record<SubsystemName, SeenSubsystem>>>
  /** Egress IPs that the host holds after the pass, in the order of addresses; null where they were not read. */
  readonly held: readonly { readonly address: string; readonly interface: string }[] | null
}

export interface Recorder {
  /** The host, of which everything that is read and refused is kept. */
  readonly host: Host
  /**
   * What was seen so far on the way to the goals. `changes` are those that were made, or that differ where a subsystem is only verified;
   * `converged` is whether nothing failed and nothing differs any more.
   */
  seen(bundle: Bundle, goals: readonly Goal[], changes: readonly Change<Entry>[], converged: boolean): Seen
}

interface Sighting {
  readonly first: Observed<Entry> | null
  readonly last: Observed<Entry> | null
  readonly error: string | null
}

const NOT_SEEN: Sighting = { first: null, last: null, error: null }

/** Watches a pass without taking part in it. */
export function recorded(host: Host): Recorder {
  const records = new Map<SubsystemName, Sighting>()
  const recordOf = (name: SubsystemName): Sighting => records.get(name) ?? NOT_SEEN
  const recording = (name: SubsystemName): Subsystem<Entry> => {
    const { language, observe, apply } = host[name]
    const orNote = async <T>(act: () => Promise<T>): Promise<T> => {
      try {
        return await act()
      } catch (error) {
        records.set(name, { ...recordOf(name), error: error instanceof Error ? error.message : String(error) })
        throw error
      }
    }
    return {
      language,
      apply: (changes) => orNote(() => apply(changes)),
      observe: () =>
        orNote(async () => {
          const found = await observe()
          records.set(name, { ...recordOf(name), first: recordOf(name).first ?? found, last: found })
          return found
        }),
    }
  }
  const subsystems = Object.fromEntries(SUBSYSTEMS.map((name) => [name, recording(name)])) as {
    readonly [N in SubsystemName]: Subsystem<Entry>
  }
  return {
    host: { ...subsystems, conntrack: host.conntrack },
    seen: (bundle, goals, changes, converged) => seenBy(host, recordOf, bundle, goals, changes, converged),
  }
}

function seenBy(
  host: Host,
  recordOf: (name: SubsystemName) => Sighting,
  bundle: Bundle,
  goals: readonly Goal[],
  changes: readonly Change<Entry>[],
  converged: boolean,
): Seen {
  const subsystems: { [N in SubsystemName]?: SeenSubsystem } = {}
  let held: Seen['held'] = null
  for (const name of SUBSYSTEMS) {
    const ownership = ownershipOf(bundle, name)
    if (ownership === 'off') continue
    const { first, last, error } = recordOf(name)
    const about = goals.filter((goal) => goal.subsystems.includes(name))
    const wanted = about.flatMap(({ entries }): readonly Entry[] => entries[name])
    const made = changes.filter(({ subsystem }) => subsystem === name)
    // A pass that converged says itself what differed; of any other the entries are compared again.
    const before = converged ? { changes: made, conflicts: [] } : together(about, host, name, first)
    const left = converged ? NO_PLAN : together(about, host, name, last)
    const differed = [...before.changes, ...before.conflicts][0]?.key ?? null
    const digests = (): Digests => {
      const texts = new Map(wanted.map((entry) => [host[name].language.key(entry), textOf(entry)]))
      const desired = digest(texts)
      return { desired, observed: last === null ? null : isEmpty(left) ? desired : digest(asObserved(texts, left)) }
    }
    subsystems[name] = { ownership, entries: wanted.length, differed, error, digests }
    if (name === 'addresses' && last) held = heldBy(wanted as readonly HostAddress[], left)
  }
  return { subsystems, held }
}

const NO_PLAN: PartPlan = { changes: [], conflicts: [] }
const isEmpty = ({ changes, conflicts }: PartPlan): boolean => changes.length === 0 && conflicts.length === 0

/** What would still have to be done to one subsystem for all goals. */
function together(goals: readonly Goal[], host: Host, name: SubsystemName, observed: Observed<Entry> | null): PartPlan {
  if (observed === null) return NO_PLAN
  const observation: Observation = { [name]: observed }
  const plans = goals.map((goal) => planPart(host, { ...goal, subsystems: [name] }, observation))
  return { changes: plans.flatMap(({ changes }) => changes), conflicts: plans.flatMap(({ conflicts }) => conflicts) }
}

/** Texts by key as the host has them. What means the same counts as written in the same way: hosts rewrite what they are given. */
function asObserved(desired: ReadonlyMap<string, string>, { changes, conflicts }: PartPlan): ReadonlyMap<string, string> {
  const texts = new Map(desired)
  for (const { key, from } of changes) {
    if (from) texts.set(key, textOf(from))
    else texts.delete(key)
  }
  for (const { key, foreign } of conflicts) texts.set(key, textOf(foreign))
  return texts
}

/** Short enough to be read and compared by eye. */
const DIGITS = 16

/** A digest of entries in whatever order. */
const digest = (texts: ReadonlyMap<string, string>): string =>
  sha256(
    [...texts]
      .map(([key, text]) => `${key}\t${text}\n`)
      .sort()
      .join(''),
  ).slice(0, DIGITS)

/** All of an entry but whom it is for. */
const textOf = (entry: Entry): string =>
  JSON.stringify(entry, (name, value: unknown) => (name === 'for' ? undefined : typeof value === 'bigint' ? value.toString(16) : value))

function heldBy(wanted: readonly HostAddress[], { changes }: PartPlan): NonNullable<Seen['held']> {
  const missing = new Set(changes.flatMap(({ op, key }) => (op === 'add' ? [key] : [])))
  const staying = changes.flatMap(({ op, from }) => (op === 'delete' && from ? [from as HostAddress] : []))
  return [...wanted.filter((entry) => !missing.has(addresses.key(entry))), ...staying]
    .filter(({ address }) => isSingle(address))
    .sort((a, b) => compareAddresses(a.address.address, b.address.address) || (a.dev < b.dev ? -1 : 1))
    .map(({ address, dev }) => ({ address: address.address.text, interface: dev }))
}
