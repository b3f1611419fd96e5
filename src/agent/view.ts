import { isSingle } from '../host/addresses.js'
import type { Exec } from '../host/exec.js'
import { type LiveAddress, readLinks } from '../host/links.js'
import { isProbeTable, readTables } from '../host/nftables.js'
import { isServed } from '../host/openflow.js'
import { type Bridge, readBridges } from '../host/ovsdb.js'
import { preferredSources, readChosenSources, readRoutes } from '../host/routes.js'
import type { HostNames } from '../host/symbols.js'
import { type Address, compareAddresses, type Family } from '../model/address.js'
import { OVNKUBE_ADDRESS_PROTOCOL } from '../model/numbers.js'
import type { Silenced } from '../syntax/guard.js'
import type { Guarded } from './guard.js'

/** What the agent must know of the host beside its own entries. */
export interface HostView extends HostNames {
  readonly addresses: readonly LiveAddress[]
  readonly preferredSources: readonly Address[]
  readonly chosenSources: readonly Address[]
  /** Signs of ovnkube-node beside its flows, in words. */
  readonly ovnkube: readonly string[]
  /** Names of nft tables that a probe left when it was killed. */
  readonly probes: readonly string[]
}

/**
 * The bridges of Open vSwitch whose ovs-vswitchd answers; null when Open vSwitch does not run. One that does not answer counts as not
 * there, so that nothing waits for it.
 */
export async function viewBridges(rundir: string): Promise<readonly Bridge[] | null> {
  const listed = await readBridges(rundir)
  const served = await Promise.all((listed ?? []).map(async (bridge) => ((await isServed(rundir, bridge.name)) ? [bridge] : [])))
  return listed && served.flat()
}

/** Looks at the host; nothing is changed. */
export async function viewHost(exec: Exec, node: string, bridges: HostNames['bridges'], readsNft: boolean): Promise<HostView> {
  const [links, routes, chosenSources, tables] = await Promise.all([
    readLinks(exec),
    readRoutes(exec),
    readChosenSources(exec),
    readsNft ? readTables(exec) : [],
  ])
  const ovnkube = [
    ...(tables.some(({ family, name }) => family === 'inet' && name === 'ovn-kubernetes') ? ['nft table inet ovn-kubernetes'] : []),
    ...(links.some(({ name }) => name === 'ovn-k8s-mp0') ? ['network device ovn-k8s-mp0'] : []),
  ]
  const probes = tables.flatMap(({ family, name }) => (isProbeTable(family, name) ? name : []))
  const addresses = links.flatMap((link) => link.addresses)
  return { node, links, routes, bridges, addresses, preferredSources: preferredSources(routes), chosenSources, ovnkube, probes }
}

/** What says which addresses of a host are egress IPs. */
export interface AddressKnowledge {
  /** Texts of the addresses with our own mark. */
  readonly marked: ReadonlySet<string>
  /** Egress IPs that the bundle, or one before it, names. */
  readonly known: readonly Address[]
  /** Addresses that the flows of the bundle let the node announce: its own. */
  readonly announced: readonly Address[]
  /** What the guard on the host silences on the wire of the bridge. */
  readonly silenced: readonly Silenced[]
  /** What it silences on secondary interfaces. */
  readonly secondary: Guarded
}

/**
 * Addresses that are surely the node's own, whatever a bundle says of them: the bundle lets the node announce it, a route prefers it as
 * its source, its life ends (DHCP, router advertisements), or it stands with a prefix shorter than an egress IP ever has.
 */
export function ownAddresses(view: HostView, { announced }: AddressKnowledge): ReadonlySet<string> {
  const live = view.addresses.filter(({ address, scope, dynamic }) => scope !== 'link' && (dynamic || !isSingle(address)))
  return texts([...announced, ...view.preferredSources, ...live.map(({ address }) => address.address)])
}

/**
 * Addresses that could be the node's own, because without them the host would have none of that family, or because the host speaks to the
 * internet with them and egretta did not add them. They are never silenced, and nothing else hangs on it.
 */
export function doubtfulAddresses(view: HostView, knowledge: AddressKnowledge): ReadonlySet<string> {
  const own = ownAddresses(view, knowledge)
  const egress = texts(knowledge.known.filter(({ text }) => !own.has(text)))
  const global = view.addresses.filter(({ address, scope }) => scope === 'global' && !knowledge.marked.has(address.address.text))
  const has = (family: Family) => global.some(({ address: { address } }) => address.family === family && !egress.has(address.text))
  const chosen = texts(view.chosenSources)
  return texts(global.map(({ address }) => address.address).filter(({ family, text }) => !has(family) || chosen.has(text)))
}

/** Addresses that the guard silences and that stay when it goes: neither ours to delete nor held by the node. */
export function leftSpeaking(view: HostView, knowledge: AddressKnowledge, held: ReadonlySet<string>): readonly LiveAddress[] {
  const { marked, silenced, secondary } = knowledge
  const guarded = texts([...silenced, ...secondary.silenced].map(({ address }) => address))
  return view.addresses.filter(
    ({ address: { address } }) => guarded.has(address.text) && !marked.has(address.text) && !held.has(address.text),
  )
}

/** Egress IPs on the host, on whatever device: those with our mark or ovnkube's, and those that a bundle names. Sorted. */
export function egressOnHost(view: HostView, { marked, known }: AddressKnowledge): readonly LiveAddress[] {
  const named = texts(known)
  const found = view.addresses.filter(
    ({ address: prefix, protocol }) =>
      isSingle(prefix) && (marked.has(prefix.address.text) || protocol === OVNKUBE_ADDRESS_PROTOCOL || named.has(prefix.address.text)),
  )
  return found.sort((a, b) => compareAddresses(a.address.address, b.address.address))
}

const texts = (addresses: readonly Address[]): ReadonlySet<string> => new Set(addresses.map(({ text }) => text))
