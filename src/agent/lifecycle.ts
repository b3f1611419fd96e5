import { type Pending, resolveAddresses, resolveFlows, resolveNeighbors, resolveNft, unseenBridges } from '../host/resolve.js'
import { printPrefix } from '../model/address.js'
import type { Phase } from '../model/bundle.js'
import type { Ownership } from '../model/cluster.js'
import { type Problem, problem } from '../model/problem.js'
import { guardTable } from '../syntax/guard.js'
import { type Bundle, bridgesOf, type Entries, egressAddresses, entriesFor, NO_ENTRIES } from './bundle.js'
import { type Goal, type Part, SUBSYSTEMS, type Subsystems, waitingKey } from './reconcile.js'
import { type AddressKnowledge, doubtfulAddresses, egressOnHost, type HostView, leftSpeaking, ownAddresses } from './view.js'

/** The passes of a phase, in their order. */
export interface Lifecycle {
  readonly goals: readonly Goal[]
  readonly pending: readonly Pending[]
  /** What is wrong with the bundle on this host. The guards do not wait for it, everything else does. */
  readonly problems: readonly Problem[]
}

/**
 * What a phase asks of the host. Steady: the base, then the guards go, when what they waited for is in place. Startup: the flows that keep
 * stale announcements in, then the base; an nft guard that is there stays until steady. Shutdown: both guards, then the base.
 */
export function lifecycle(bundle: Bundle, phase: Phase, view: HostView, knowledge: AddressKnowledge): Lifecycle {
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
  const nft = silence && bundle.guard ? silencing(bundle.guard, view, knowledge, new Set([...own, ...doubtful])) : []
  const parts: readonly (readonly [Part, Entries, Subsystems])[] = [
    ...(phase === 'startup' ? [] : [['guard', { ...NO_ENTRIES, nftables: nft }, ['nftables']] as const]),
    ['guard', { ...NO_ENTRIES, openflow: guard.openflow }, ['openflow']],
  ]
  const base = ['base', entriesFor(bundle, phase, false), SUBSYSTEMS] as const
  const ordered = phase === 'steady' ? [base, ...parts] : [...parts, base]
  const goals = ordered.map(([part, entries, subsystems]) => {
    const [resolved, pending] = resolveAll(entries, view)
    const waiting = new Set(pending.map(({ subsystem, key }) => waitingKey(subsystem, key)))
    const compared = subsystems.filter((name) => (bundle.manifest.ownership?.[name] ?? 'manage') !== 'off')
    return {
      goal: { part, entries: resolved, waiting, subsystems: compared },
      pending: pending.filter(({ subsystem }) => compared.some((name) => name === subsystem)),
    }
  })
  // Steady asks for no flow of the guard, so nothing of it waits; but whether the flows have gone can only be said where they can be seen.
  const unseen = phase === 'steady' && ownershipOf(bundle, 'openflow') !== 'off' ? unseenBridges(bridgesOf(bundle), view) : []
  return { goals: goals.map(({ goal }) => goal), pending: [...goals.flatMap(({ pending }) => pending), ...unseen], problems }
}

/** What the bundle says of a subsystem; `manage` unless it says otherwise. */
export const ownershipOf = (bundle: Bundle, name: keyof Entries): Ownership => bundle.manifest.ownership?.[name] ?? 'manage'

/**
 * The guard of the bundle with what else of egress IPs is on the host, without the addresses that it must never name. What was silenced
 * before stays so while the node leaves: an address that has gone from the host meanwhile may still be answered for by flows of OVN.
 */
function silencing(guard: NonNullable<Bundle['guard']>, view: HostView, knowledge: AddressKnowledge, never: ReadonlySet<string>) {
  const onHost = egressOnHost(view, knowledge).map((address) => ({ address, for: `Node/${view.node}: still on the host` }))
  const silenced = [...guard.silenced, ...knowledge.silenced, ...onHost].filter(({ address }) => !never.has(address.text))
  return guardTable(silenced, guard.device, guard.nftVersion)
}

function resolveAll(entries: Entries, view: HostView): readonly [Entries, readonly Pending[]] {
  const [nft, flows] = [resolveNft(entries.nftables, view), resolveFlows(entries.openflow, view)]
  const [neighbors, addresses] = [resolveNeighbors(entries.neighbors, view), resolveAddresses(entries.addresses, view)]
  return [
    { nftables: nft.entries, openflow: flows.entries, neighbors: neighbors.entries, addresses: addresses.entries },
    [nft, flows, neighbors, addresses].flatMap(({ pending }) => pending),
  ]
}
