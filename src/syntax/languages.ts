import type { SubsystemName } from '../model/cluster.js'
import { addresses, type HostAddress } from './addresses.js'
import type { Language } from './language.js'
import { type Neighbor, neighbors } from './neighbors.js'
import { type NftEntry, nftables } from './nftables.js'
import { type Flow, openflow } from './openflow.js'
import { type PortFlag, portFlags } from './port-flags.js'
import { type HostRoute, routes } from './routes.js'
import { type HostRule, rules } from './rules.js'

/** The smallest thing that some subsystem adds or deletes. */
export type Entry = Flow | PortFlag | NftEntry | Neighbor | HostAddress | HostRule | HostRoute

/** Path of the flows of a bridge in a bundle. */
export const flowsPath = (bridge: string): string => `openflow.${bridge}.flows`
/** Path of the flags of a bridge's ports. */
export const portsPath = (bridge: string): string => `openflow.${bridge}.ports.json`
/** Path of the flows that guard a bridge at start-up and shutdown. */
export const guardFlowsPath = (bridge: string): string => `guard.${flowsPath(bridge)}`
/** The other paths of a bundle. */
export const PATHS = {
  nftables: 'nftables.json',
  guardNftables: 'guard.nftables.json',
  neighbors: 'neighbors.json',
  addresses: 'addresses.json',
  rules: 'rules.json',
  routes: 'routes.json',
} as const

/** The language in which a file of a bundle is written, and its subsystem; null for a path that no bundle has. */
export function languageOf(path: string): { readonly subsystem: SubsystemName; readonly language: Language<Entry> } | null {
  const bridge = /^(?:guard\.)?openflow\.([^/]+)\.flows$/.exec(path)?.[1]
  if (bridge !== undefined) return of(openflow(bridge))
  const ports = /^openflow\.([^/]+)\.ports\.json$/.exec(path)?.[1]
  if (ports !== undefined) return of(portFlags(ports))
  switch (path) {
    case PATHS.nftables:
    case PATHS.guardNftables:
      return of(nftables)
    case PATHS.neighbors:
      return of(neighbors)
    case PATHS.addresses:
      return of(addresses)
    case PATHS.rules:
      return of(rules)
    case PATHS.routes:
      return of(routes)
    default:
      return null
  }
}

const of = <E extends Entry>(language: Language<E>) => ({ subsystem: language.subsystem, language: language as Language<Entry> })
