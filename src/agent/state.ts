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

/**
 * The state folder: `applied.json` is the bundle that was applied last and the one before it, `journal.json` the one that a pass is
 * about to apply, or was when it was killed. A reboot empties the folder, as it empties the host of what it describes.
 */
export interface State {
  readonly applied: Known | null
  readonly predecessor: Known | null
  /** Left by a pass that did not end. */
  readonly interrupted: Interrupted | null
}

/** What a pass was about to do. `connections`: those that it was to end, in the words of the file. */
interface Interrupted extends Known {
  readonly connections?: unknown
}

export const NO_STATE: State = { applied: null, predecessor: null, interrupted: null }

const file = (stateDir: string, name: 'applied' | 'journal'): string => `${stateDir}/${name}.json`

/** Where the marks of our addresses stand. */
export const addressMarks = (stateDir: string): string => `${stateDir}/addresses.json`

/** The state; empty where there is none. Fails with HostFault when a file of it does not parse. */
export function readState(stateDir: string): State {
  const applied = read<{ applied?: Known; predecessor?: Known }>(file(stateDir, 'applied'))
  return {
    applied: applied?.applied ?? null,
    predecessor: applied?.predecessor ?? null,
    interrupted: read<Interrupted>(file(stateDir, 'journal')),
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

/** Says that the bundle is applied whole. Applying one again keeps its predecessor. */
export function closeJournal(stateDir: string, bundle: Bundle, state: State): void {
  const predecessor = state.applied?.digest === bundle.manifest.digest ? state.predecessor : state.applied
  writeAtomic(file(stateDir, 'applied'), `${JSON.stringify({ applied: describe(bundle), predecessor })}\n`)
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
