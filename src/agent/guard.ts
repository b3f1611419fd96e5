import { type Address, parseAddress } from '../model/address.js'
import { GUARD_TABLE, SECONDARY_GUARD_TABLE } from '../model/numbers.js'
import { diff } from '../plan/diff.js'
import { guardFlows, guardTable, type Silenced, secondaryGuardTable } from '../syntax/guard.js'
import { type NftEntry, nftables } from '../syntax/nftables.js'
import { type Flow, openflow, portSymbols } from '../syntax/openflow.js'

/** What a guard silences, and on which devices (names or symbols). */
export interface Guarded {
  readonly silenced: readonly Silenced[]
  readonly devices: readonly string[]
}

/** The shutdown guard of a bundle. */
export interface BundleGuard {
  /** On the wire of the bridge: one device. */
  readonly primary: Guarded
  /** On secondary interfaces; without devices where the node holds no egress IP on any. */
  readonly secondary: Guarded
  /** A version of nft whose form of the rules the bundle has. */
  readonly nftVersion: string
}

/** The tables of a guard. */
export const guardTables = ({ primary, secondary, nftVersion }: BundleGuard): readonly NftEntry[] => [
  ...primary.devices.flatMap((device) => guardTable(primary.silenced, device, nftVersion)),
  ...(secondary.devices.length > 0 ? secondaryGuardTable(secondary.silenced, secondary.devices, nftVersion) : []),
]

/** The guard that nft entries are; null when they say anything but what the guard of its addresses and devices says. */
export function readGuard(entries: readonly NftEntry[]): BundleGuard | null {
  const guard: BundleGuard = {
    primary: guardedBy(entries, GUARD_TABLE),
    secondary: guardedBy(entries, SECONDARY_GUARD_TABLE),
    nftVersion: JSON.stringify(entries).includes('"taddr"') ? '1.0.9' : '1.0.6',
  }
  return guard.primary.devices.length === 1 && diff(nftables, entries, guardTables(guard)).changes.length === 0 ? guard : null
}

/** Whether an nft table, of family netdev, is one of the guard's. */
export const isGuardTable = (table: string): boolean => table === GUARD_TABLE || table === SECONDARY_GUARD_TABLE

/** What a table of the guard silences, and where: the addresses in its sets, the devices of its chains. */
export const guardedBy = (entries: readonly NftEntry[], table: string): Guarded => ({
  silenced: entries.flatMap((entry) => {
    if (entry.kind !== 'element' || entry.table !== table || typeof entry.value !== 'string') return []
    const address = parseAddress(entry.value)
    return address ? [{ address, for: entry.comment ?? 'silenced before' }] : []
  }),
  devices: [
    ...new Set(entries.flatMap((entry) => (entry.kind === 'chain' && entry.table === table && entry.hook?.dev ? [entry.hook.dev] : []))),
  ],
})

/** Whether flows are the guard of a bridge and nothing else: they drop announcements that come from patch ports, and nothing more. */
export function areGuardFlows(flows: readonly Flow[], node: string): boolean {
  const networks = new Set(flows.flatMap((flow) => portSymbols(flow).map(({ of }) => of)))
  const rendered = guardFlows(flows[0]?.bridge ?? '', node, announcedBy(flows), [...networks])
  return diff(openflow(''), flows, rendered).changes.length === 0
}

/** Addresses that guard flows let the node announce. */
export function announcedBy(flows: readonly Flow[]): readonly Address[] {
  const texts = flows.flatMap(({ match }) => match.flatMap(([field, value]) => (field === 'arp_spa' || field === 'nd_target' ? value : [])))
  return [...new Set(texts)].flatMap((text) => parseAddress(text) ?? [])
}
