import type { SubsystemName } from '../model/cluster.js'
import type { HostAddress } from '../syntax/addresses.js'
import type { Neighbor } from '../syntax/neighbors.js'
import type { NftEntry } from '../syntax/nftables.js'
import type { Flow } from '../syntax/openflow.js'
import type { PortFlag } from '../syntax/port-flags.js'
import type { HostRoute } from '../syntax/routes.js'
import type { HostRule } from '../syntax/rules.js'

/** Entries by subsystem. */
export interface Entries {
  readonly nftables: readonly NftEntry[]
  readonly openflow: readonly (Flow | PortFlag)[]
  readonly neighbors: readonly Neighbor[]
  readonly addresses: readonly HostAddress[]
  readonly routes: readonly HostRoute[]
  readonly rules: readonly HostRule[]
}

export const NO_ENTRIES: Entries = { nftables: [], openflow: [], neighbors: [], addresses: [], routes: [], rules: [] }

export type Subsystems = readonly SubsystemName[]
/** The order of every list of changes; the order of steps is that of `STEPS`. */
export const SUBSYSTEMS: Subsystems = ['nftables', 'openflow', 'neighbors', 'addresses', 'routes', 'rules']

/** What several lists of entries hold together. */
export function together(lists: readonly Entries[]): Entries {
  const all = <N extends SubsystemName>(name: N): Entries[N] => {
    const [only, ...others] = lists.map((each) => each[name]).filter(({ length }) => length > 0)
    // Most lists come from one file, and one list is compared with itself at no cost.
    return (only && others.length > 0 ? [only, ...others].flat() : (only ?? [])) as unknown as Entries[N]
  }
  return {
    nftables: all('nftables'),
    openflow: all('openflow'),
    neighbors: all('neighbors'),
    addresses: all('addresses'),
    routes: all('routes'),
    rules: all('rules'),
  }
}
