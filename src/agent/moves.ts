import { HostFault } from '../host/exec.js'
import { readText, removeFile, writeAtomic } from '../host/files.js'
import { deviceSymbols } from '../syntax/nftables.js'
import { symbolsIn } from '../syntax/symbols.js'
import { translatedBy } from './conntrack.js'
import type { Entries } from './entries.js'

/** What of moves between nodes outlives a pass: `moves.json` in the state folder. */
export interface Moves {
  /** Addresses for which another station answered when the node was to claim them, with the time of the host's clock at which it first did. */
  readonly waiting: ReadonlyMap<string, number>
  /** Addresses that the node gave back though its bundle has them, until they are claimed or the bundle has them no more. */
  readonly released: ReadonlySet<string>
}

export const NO_MOVES: Moves = { waiting: new Map(), released: new Set() }

const file = (stateDir: string): string => `${stateDir}/moves.json`

/** Fails with HostFault when the file does not parse. */
export function readMoves(stateDir: string): Moves {
  const text = readText(file(stateDir))
  if (text === null) return NO_MOVES
  try {
    const { waiting, released } = JSON.parse(text) as { waiting: Readonly<Record<string, number>>; released: readonly string[] }
    return { waiting: new Map(Object.entries(waiting)), released: new Set(released) }
  } catch {
    throw new HostFault('CommandFailed', `${file(stateDir)} cannot be read`, 'Somebody else wrote it; remove it, then run again.')
  }
}

/** Writes only what is new: most passes move nothing. */
export function writeMoves(stateDir: string, { waiting, released }: Moves): void {
  const now = { waiting: Object.fromEntries([...waiting].sort()), released: [...released].sort() }
  const text = waiting.size + released.size === 0 ? null : `${JSON.stringify(now)}\n`
  if (text === readText(file(stateDir))) return
  if (text === null) removeFile(file(stateDir))
  else writeAtomic(file(stateDir), text)
}

/**
 * The entries of a bundle without what makes pods leave with one of the addresses: the addresses themselves, the translations to them, and the
 * rules of the pods that lose theirs. The filters stay, so such a pod leaves with no other address meanwhile.
 */
export function withhold(entries: Entries, addresses: ReadonlySet<string>): Entries {
  if (addresses.size === 0) return entries
  const isWithheld = (entry: Entries['nftables'][number] | Entries['openflow'][number]): boolean =>
    addresses.has(translatedBy(entry)?.egressIP.text ?? '')
  // A pod can have an egress IP on each of several interfaces: its rules are told apart by the device.
  const lost = new Set(
    entries.nftables.filter(isWithheld).flatMap((entry) => {
      const of = translatedBy(entry)
      return of && 'pod' in of ? deviceSymbols(entry).map(({ text }) => `${of.pod.text} ${text}`) : []
    }),
  )
  return {
    ...entries,
    nftables: entries.nftables.filter((entry) => !isWithheld(entry)),
    openflow: entries.openflow.filter((entry) => !isWithheld(entry)),
    addresses: entries.addresses.filter(({ address }) => !addresses.has(address.address.text)),
    rules: entries.rules.filter(({ src, table }) => !symbolsIn(table).some(({ of }) => lost.has(`${src.address.text} ${of}`))),
  }
}
