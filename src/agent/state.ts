import type { Translated } from '../host/conntrack.js'
import { HostFault } from '../host/exec.js'
import { makeFolder, readText, removeFile, writeAtomic } from '../host/files.js'
import { type Address, compareAddresses, parseAddress } from '../model/address.js'
import { type Bundle, bridgesOf, egressAddresses } from './bundle.js'
import { OVN_BRIDGE } from './faults.js'

/** What the agent must still know of a bundle when the next one comes. */
interface Known {
  readonly digest: string
  readonly addresses: readonly string[]
  readonly bridges: readonly string[]
}

/** A bundle that was applied, and when its bundle.json was written, in milliseconds since 1970. */
interface Past {
  readonly digest: string
  readonly written: number
}

/** How many bundles are remembered. */
const REMEMBERED = 20

/**
 * The state folder: `applied.json` is the bundle that was applied last and the one before it, `journal.json` the one that a pass is
 * about to apply, or was when it was killed. A reboot empties the folder, as it empties the host of what it describes.
 */
export interface State {
  readonly applied: Known | null
  readonly predecessor: Known | null
  /** Left by a pass that did not end. */
  readonly interrupted: Interrupted | null
  /** Bundles that were applied, each once, the last one last. */
  readonly history: readonly Past[]
}

/** What a pass was about to do. `connections`: those that it was to end, in the words of the file. */
interface Interrupted extends Known {
  readonly connections?: unknown
}

export const NO_STATE: State = { applied: null, predecessor: null, interrupted: null, history: [] }

const file = (stateDir: string, name: 'applied' | 'journal'): string => `${stateDir}/${name}.json`

/** Where the marks of our addresses stand. */
export const addressMarks = (stateDir: string): string => `${stateDir}/addresses.json`

/** The state; empty where there is none. Fails with HostFault when a file of it does not parse. */
export function readState(stateDir: string): State {
  const applied = read<{ applied?: Known; predecessor?: Known; history?: unknown }>(file(stateDir, 'applied'))
  return {
    applied: applied?.applied ?? null,
    predecessor: applied?.predecessor ?? null,
    interrupted: read<Interrupted>(file(stateDir, 'journal')),
    history: pastIn(applied?.history),
  }
}

/**
 * Says, durably and before the first change, which bundle a pass is about to apply and which connections it is to end: killed in between,
 * it leaves nothing on the host that would tell. Of a pass that did not end before it, nothing is forgotten.
 */
export function openJournal(stateDir: string, bundle: Bundle, { interrupted }: State, stale: readonly Translated[]): void {
  makeFolder(stateDir)
  const [now, before] = [describe(bundle), known({ ...NO_STATE, interrupted })]
  const all = (field: 'addresses' | 'bridges') => [...new Set([...now[field], ...before.flatMap((each) => each[field])])]
  const connections = stale.map((each) =>
    'pod' in each ? { pod: each.pod.text, egressIP: each.egressIP.text } : { ...each, egressIP: each.egressIP.text },
  )
  const entry: Interrupted = { digest: now.digest, addresses: all('addresses'), bridges: all('bridges'), connections }
  writeAtomic(file(stateDir, 'journal'), `${JSON.stringify(entry)}\n`)
}

/** Connections that a pass which did not end was to end. */
export function interruptedConnections({ interrupted }: State): readonly Translated[] {
  const written = Array.isArray(interrupted?.connections) ? (interrupted.connections as readonly unknown[]) : []
  return written.flatMap((each): readonly Translated[] => {
    const { pod, egressIP, bridge, zone } = (each ?? {}) as Readonly<Record<string, unknown>>
    const [from, to] = [pod, egressIP].map((text) => (typeof text === 'string' ? parseAddress(text) : undefined))
    if (to && from) return [{ egressIP: to, pod: from }]
    return to && typeof bridge === 'string' && Number.isSafeInteger(zone) ? [{ egressIP: to, bridge, zone: zone as number }] : []
  })
}

const pastIn = (written: unknown): readonly Past[] =>
  (Array.isArray(written) ? (written as readonly unknown[]) : []).flatMap((each) => {
    const { digest, written: at } = (each ?? {}) as Partial<Past>
    return typeof digest === 'string' && typeof at === 'number' ? [{ digest, written: at }] : []
  })

/**
 * Whether a bundle was applied before the last one, and stands in a folder that was written before that of the last one: an old copy. One
 * that was rendered again, to go back, was written now.
 */
export function isLeftBehind({ manifest: { digest } }: Bundle, written: number, { applied, history }: State): boolean {
  const last = history.find((each) => each.digest === applied?.digest)
  return last !== undefined && digest !== last.digest && written < last.written && history.some((each) => each.digest === digest)
}

/**
 * Says that the bundle is applied whole; `written` is when its bundle.json was, in milliseconds since 1970. Applying one again keeps its
 * predecessor.
 */
export function closeJournal(stateDir: string, bundle: Bundle, state: State, written: number): void {
  const now = describe(bundle)
  const predecessor = state.applied?.digest === now.digest ? state.predecessor : state.applied
  const others = state.history.filter(({ digest }) => digest !== now.digest)
  const history = [...others, { digest: now.digest, written }].slice(-REMEMBERED)
  writeAtomic(file(stateDir, 'applied'), `${JSON.stringify({ applied: now, predecessor, history })}\n`)
  removeFile(file(stateDir, 'journal'))
}

/** Egress IPs that the bundle or one before it names, sorted. */
export function knownAddresses(bundle: Bundle, state: State): readonly Address[] {
  const texts = known(state).flatMap(({ addresses }) => addresses)
  const all = [...egressAddresses(bundle), ...texts.flatMap((text) => parseAddress(text) ?? [])]
  return [...new Map(all.map((address) => [address.text, address])).values()].sort(compareAddresses)
}

/** Bridges on which the bundle or one before it has flows, sorted. */
export const knownBridges = (bundle: Bundle, state: State): readonly string[] =>
  [...new Set([...bridgesOf(bundle), ...known(state).flatMap(({ bridges }) => bridges)])].filter((name) => name !== OVN_BRIDGE).sort()

const known = ({ applied, predecessor, interrupted }: State): readonly Known[] =>
  [applied, predecessor, interrupted].filter((each): each is Known => areTexts(each?.addresses) && areTexts(each?.bridges))

const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string')

const describe = (bundle: Bundle): Known => ({
  digest: bundle.manifest.digest,
  addresses: [...new Set(egressAddresses(bundle).map(({ text }) => text))],
  bridges: bridgesOf(bundle),
})

function read<T>(path: string): T | null {
  const text = readText(path)
  if (text === null) return null
  try {
    return JSON.parse(text) as T
  } catch {
    throw new HostFault('CommandFailed', `${path} is not JSON`, 'Somebody else wrote it; remove it, then run again.')
  }
}
