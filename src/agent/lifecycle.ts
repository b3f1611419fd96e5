import { isSingle } from '../host/addresses.js'
import type { Translated } from '../host/conntrack.js'
import {
  type Pending,
  type Resolved,
  resolveAddresses,
  resolveFlows,
  resolveNeighbors,
  resolveNft,
  resolvePortFlags,
  resolveRoutes,
  resolveRules,
  unseenBridges,
} from '../host/resolve.js'
import { type Address, printPrefix } from '../model/address.js'
import type { Phase } from '../model/bundle.js'
import type { Ownership, SubsystemName } from '../model/cluster.js'
import { type Problem, problem } from '../model/problem.js'
import { addresses, type HostAddress } from '../syntax/addresses.js'
import type { Language } from '../syntax/language.js'
import type { Entry } from '../syntax/languages.js'
import { neighbors } from '../syntax/neighbors.js'
import { type NftEntry, nftables } from '../syntax/nftables.js'
import { type Flow, openflow } from '../syntax/openflow.js'
import { type PortFlag, portFlags } from '../syntax/port-flags.js'
import { once } from '../syntax/recent.js'
import { routes } from '../syntax/routes.js'
import { rules } from '../syntax/rules.js'
import { type Bundle, bridgesOf, egressAddresses, entriesFor } from './bundle.js'
import { type Entries, NO_ENTRIES, SUBSYSTEMS, type Subsystems } from './entries.js'
import { guardTables } from './guard.js'
import { withhold } from './moves.js'
import { furtherDevices, primaryDevices, quietTables } from './quiet.js'
import { type Goal, type Part, waitingKey } from './reconcile.js'
import { type AddressKnowledge, doubtfulAddresses, egressOnHost, type HostView, leftSpeaking, ownAddresses } from './view.js'

/** The passes of a phase, in their order. */
export interface Lifecycle {
  readonly goals: readonly Goal[]
  readonly pending: readonly Pending[]
  /** What is wrong with the bundle on this host. The guards do not wait for it, everything else does. */
  readonly problems: readonly Problem[]
}

/** Addresses that the node does not hold now though its bundle has them. */
export interface Withheld {
  /** Text of each address to the reason. */
  readonly reasons: ReadonlyMap<string, string>
  /** Those that the node gave back: they stay silenced. */
  readonly released: readonly Address[]
}

export const NOTHING_WITHHELD: Withheld = { reasons: new Map(), released: [] }

/**
 * What a phase asks of the host. Steady: the base, then the guards go, when what they waited for is in place. Startup: the flows that keep
 * stale announcements in, then the base; an nft guard that is there stays until steady. Shutdown: both guards, then the base.
 * `stale` are the connections that a pass which did not end was to end.
 */
export function lifecycle(
  bundle: Bundle,
  phase: Phase,
  view: HostView,
  knowledge: AddressKnowledge,
  stale: readonly Translated[],
  { reasons, released }: Withheld = NOTHING_WITHHELD,
): Lifecycle {
  const own = ownAddresses(view, knowledge)
  const named = [...new Map(egressAddresses(bundle).map((address) => [address.text, address])).values()]
  const problems: Problem[] = named
    .filter(({ text }) => own.has(text))
    .map(({ text }) =>
      problem('NodeAddress', {
        message: `the bundle treats ${text} as an egress IP, but it is an address of this node itself; it is not silenced, and nothing but guards is changed`,
      }),
    )
  const silence = phase === 'shutdown' && ownershipOf(bundle, 'nftables') !== 'off'
  if (silence && bundle.guard === null) {
    problems.push(problem('InvalidBundle', { message: 'the bundle has no guard.nftables.json, so the node cannot fall silent' }))
  }
  const doubtful = doubtfulAddresses(view, knowledge)
  for (const { family, text } of silence ? named : []) {
    if (!doubtful.has(text) || own.has(text)) continue
    const message = `${text} is not silenced: it is the only IPv${family} address of this host or the one with which it speaks, so it may be the node's own`
    problems.push(problem('NodeAddress', { message }))
  }
  if (phase === 'steady') {
    const held = new Set(entriesFor(bundle, phase, false).addresses.map(({ address }) => address.address.text))
    for (const { address, dev } of leftSpeaking(view, knowledge, held)) {
      const message = `${address.address.text} was silenced, and this node speaks for it again: it is on ${dev}, but neither in the bundle nor known as egretta's`
      const remedy = `If another node holds it, remove it: ip address delete ${printPrefix(address)} dev ${dev}`
      problems.push(problem('NotConverged', { severity: 'warning', message, remedy }))
    }
  }
  const guard = entriesFor(bundle, phase, true)
  const nft =
    silence && bundle.guard
      ? silencing(bundle, bundle.guard, view, knowledge, new Set([...own, ...doubtful]))
      : quietTables(bundle, view, knowledge, released, [])
  const parts: readonly (readonly [Part, Entries, Subsystems])[] = [
    ...(phase === 'startup' ? [] : [['guard', { ...NO_ENTRIES, nftables: nft }, ['nftables']] as const]),
    ['guard', { ...NO_ENTRIES, openflow: guard.openflow }, ['openflow']],
  ]
  const whole = entriesFor(bundle, phase, false)
  const steady = withhold(whole, new Set(reasons.keys()))
  // An address of the node waits for nothing; it is a problem.
  const given = steady.addresses.filter(({ address }) => !isSingle(address) || !own.has(address.address.text))
  const base = ['base', { ...steady, addresses: given }, SUBSYSTEMS] as const
  const ordered = phase === 'steady' ? [base, ...parts] : [...parts, base]
  const goals = ordered.map(([part, entries, subsystems]) => {
    const { resolved, pending, awaited } = resolveAll(entries, view)
    const waiting = new Set(pending.map(({ subsystem, key }) => waitingKey(subsystem, key)))
    const compared = subsystems.filter((name) => (bundle.manifest.ownership?.[name] ?? 'manage') !== 'off')
    return {
      goal: { part, entries: resolved, waiting, subsystems: compared, stale: part === 'base' ? stale : [], awaited },
      pending: pending.filter(({ subsystem }) => compared.includes(subsystem)),
    }
  })
  // Steady asks for no flow of the guard, so nothing of it waits; but whether the flows have gone can only be said where they can be seen.
  const unseen = phase === 'steady' && ownershipOf(bundle, 'openflow') !== 'off' ? unseenBridges(bridgesOf(bundle), view) : []
  const withheld = ownershipOf(bundle, 'addresses') === 'off' ? [] : whole.addresses.flatMap((entry) => withheldEntry(entry, reasons))
  const pending = [...goals.flatMap((each) => each.pending), ...unseen, ...withheld]
  return { goals: goals.map(({ goal }) => goal), pending, problems }
}

function withheldEntry(entry: HostAddress, reasons: Withheld['reasons']): readonly Pending[] {
  const reason = reasons.get(entry.address.address.text)
  return reason === undefined ? [] : [{ subsystem: 'addresses', key: addresses.key(entry), reason }]
}

/** What the bundle says of a subsystem; `manage` unless it says otherwise. */
export const ownershipOf = (bundle: Bundle, name: SubsystemName): Ownership => bundle.manifest.ownership?.[name] ?? 'manage'

/**
 * The guard of the bundle with what else of egress IPs is on the host, each where it stands, without the addresses that it must never name.
 * What was silenced before stays so while the node leaves: an address that has gone from the host meanwhile may still be answered for by
 * flows of OVN.
 */
function silencing(
  bundle: Bundle,
  { primary, secondary, nftVersion }: NonNullable<Bundle['guard']>,
  view: HostView,
  knowledge: AddressKnowledge,
  never: ReadonlySet<string>,
): readonly NftEntry[] {
  const wires = primaryDevices(bundle)
  const live = egressOnHost(view, knowledge).filter(({ address }) => !never.has(address.address.text))
  const onHost = (isHere: (dev: string) => boolean) =>
    live.filter(({ dev }) => isHere(dev)).map(({ address: { address } }) => ({ address, for: `Node/${view.node}: still on the host` }))
  const before = knowledge.secondary.devices.filter((dev) => view.links.some(({ name }) => name === dev))
  const others = furtherDevices(bundle, view, [...before, ...live.map(({ dev }) => dev)])
  const without = <S extends { readonly address: { readonly text: string } }>(list: readonly S[]) =>
    list.filter(({ address }) => !never.has(address.text))
  return guardTables({
    primary: { ...primary, silenced: without([...primary.silenced, ...knowledge.silenced, ...onHost((dev) => wires.has(dev))]) },
    secondary: {
      devices: [...secondary.devices, ...others],
      silenced: without([...secondary.silenced, ...knowledge.secondary.silenced, ...onHost((dev) => !wires.has(dev))]),
    },
    nftVersion,
  })
}

const isFlag = (entry: Flow | PortFlag): entry is PortFlag => 'flag' in entry

/** Both lists in one: the first itself where the other is empty. */
const both = (flows: readonly Flow[], flags: readonly PortFlag[]): Entries['openflow'] =>
  flags.length === 0 ? flows : [...flows, ...flags]

const flowsOf = once(
  (entries: Entries['openflow']) => entries.filter((entry): entry is Flow => !isFlag(entry)),
  new WeakMap<Entries['openflow'], readonly Flow[]>(),
)
const flagsOf = once((entries: Entries['openflow']) => entries.filter(isFlag), new WeakMap<Entries['openflow'], readonly PortFlag[]>())

interface AllResolved {
  readonly resolved: Entries
  readonly pending: readonly Pending[]
  /** The entries that are pending. */
  readonly awaited: readonly Entry[]
}

function resolveAll(entries: Entries, view: HostView): AllResolved {
  const pending: Pending[] = []
  const awaited: Entry[] = []
  const each = <E extends Entry>(
    resolve: (list: readonly E[], host: HostView) => Resolved<E>,
    language: Pick<Language<E>, 'key'>,
    list: readonly E[],
  ): readonly E[] => {
    const found = resolve(list, view)
    const keys = new Set(found.pending.map(({ key }) => key))
    pending.push(...found.pending)
    if (keys.size > 0) awaited.push(...list.filter((entry) => keys.has(language.key(entry))))
    return found.entries
  }
  const coming = each(resolveAddresses, addresses, entries.addresses)
  const resolved = {
    nftables: each(resolveNft, nftables, entries.nftables),
    openflow: both(
      each(resolveFlows, openflow(''), flowsOf(entries.openflow)),
      each(resolvePortFlags, portFlags(''), flagsOf(entries.openflow)),
    ),
    neighbors: each(resolveNeighbors, neighbors, entries.neighbors),
    addresses: coming,
    routes: each((list, host) => resolveRoutes(list, host, coming), routes, entries.routes),
    rules: each(resolveRules, rules, entries.rules),
  }
  return { resolved, pending, awaited }
}
