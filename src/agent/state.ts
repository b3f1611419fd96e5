import { HostFault } from '../host/exec.js'
import { makeFolder, readText, removeFile, writeAtomic } from '../host/files.js'
import { type Address, compareAddresses, parseAddress } from '../model/address.js'
import { type Bundle, bridgesOf, egressAddresses, OVN_BRIDGE } from './bundle.js'

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
  readonly interrupted: Known | null
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
    interrupted: read<Known>(file(stateDir, 'journal')),
  }
}

/** Says, durably and before the first change, which bundle a pass is about to apply. Of a pass that did not end before it, nothing is forgotten. */
export function openJournal(stateDir: string, bundle: Bundle, { interrupted }: State): void {
  makeFolder(stateDir)
  const [now, before] = [describe(bundle), known({ ...NO_STATE, interrupted })]
  const all = (field: 'addresses' | 'bridges') => [...new Set([...now[field], ...before.flatMap((each) => each[field])])]
  const entry: Known = { digest: now.digest, addresses: all('addresses'), bridges: all('bridges') }
  writeAtomic(file(stateDir, 'journal'), `${JSON.stringify(entry)}\n`)
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
