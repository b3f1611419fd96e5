import type { SubsystemName } from '../model/cluster.js'
import { addresses, type HostAddress } from './addresses.js'
import type { Language } from './language.js'
import { type Neighbor, neighbors } from './neighbors.js'
import { type NftEntry, nftables } from './nftables.js'
import { type Flow, openflow } from './openflow.js'

/** The smallest thing that some subsystem adds or deletes. */
export type Entry = Flow | NftEntry | Neighbor | HostAddress

/** Path of the flows of a bridge in a bundle. */
export const flowsPath = (bridge: string): string => `openflow.${bridge}.flows`
/** Path of the flows that guard a bridge at start-up and shutdown. */
export const guardFlowsPath = (bridge: string): string => `guard.${flowsPath(bridge)}`
/** The other paths of a bundle. */
export const PATHS = {
  nftables: 'nftables.json',
  guardNftables: 'guard.nftables.json',
  neighbors: 'neighbors.json',
  addresses: 'addresses.json',
} as const

/** The language in which a file of a bundle is written, and its subsystem; null for a path that no bundle has. */
export function languageOf(path: string): { readonly subsystem: SubsystemName; readonly language: Language<Entry> } | null {
  const bridge = /^(?:guard\.)?openflow\.([^/]+)\.flows$/.exec(path)?.[1]
  if (bridge !== undefined) return of(openflow(bridge))
  switch (path) {
    case PATHS.nftables:
    case PATHS.guardNftables:
      return of(nftables)
    case PATHS.neighbors:
      return of(neighbors)
    case PATHS.addresses:
      return of(addresses)
    default:
      return null
  }
}

const of = <E extends Entry>(language: Language<E>) => ({ subsystem: language.subsystem, language: language as Language<Entry> })
