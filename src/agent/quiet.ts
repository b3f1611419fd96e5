import { isMissing, linkOf } from '../host/symbols.js'
import type { Address } from '../model/address.js'
import type { NftEntry } from '../syntax/nftables.js'
import { symbolsIn } from '../syntax/symbols.js'
import { type Bundle, bridgesOf } from './bundle.js'
import { guardTables } from './guard.js'
import { type AddressKnowledge, doubtfulAddresses, type HostView, ownAddresses } from './view.js'

/** The device that every namespace has: what stands on it is answered for on any other. */
const LOOPBACK = 'lo'

/** Devices whose addresses the guard of the primary interface silences. */
export const primaryDevices = (bundle: Bundle): ReadonlySet<string> =>
  new Set([...bridgesOf(bundle), ...(bundle.guard?.primary.devices ?? []), LOOPBACK])

/** Those of the devices that are secondary interfaces, and that the guard of the bundle does not name already, by their network. */
export function furtherDevices(bundle: Bundle, view: HostView, devices: readonly string[]): readonly string[] {
  const primary = primaryDevices(bundle)
  const named = symbolsIn(...(bundle.guard?.secondary.devices ?? [])).map((symbol) => linkOf(view, symbol))
  const covered = new Set(named.flatMap((link) => (isMissing(link) ? [] : link.name)))
  return devices.filter((dev) => !primary.has(dev) && !covered.has(dev))
}

/**
 * The guard of addresses that the node gives back while it stays: of these alone, everywhere, and never of an address that is or could be the
 * node's own. `devices` are those on which they stand. Empty where the bundle has no guard.
 */
export function quietTables(
  bundle: Bundle,
  view: HostView,
  knowledge: AddressKnowledge,
  addresses: readonly Address[],
  devices: readonly string[],
): readonly NftEntry[] {
  if (!bundle.guard) return []
  const never = new Set([...ownAddresses(view, knowledge), ...doubtfulAddresses(view, knowledge)])
  const silenced = addresses.filter(({ text }) => !never.has(text)).map((address) => ({ address, for: `Node/${view.node}: given back` }))
  if (silenced.length === 0) return []
  const { primary, secondary, nftVersion } = bundle.guard
  return guardTables({
    primary: { ...primary, silenced },
    secondary: { devices: [...secondary.devices, ...furtherDevices(bundle, view, devices)], silenced },
    nftVersion,
  })
}
