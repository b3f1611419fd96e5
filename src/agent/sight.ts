import { hostAddresses } from '../host/addresses.js'
import { hostConntrack } from '../host/conntrack.js'
import type { Exec } from '../host/exec.js'
import { hostNeighbors } from '../host/neighbors.js'
import { hostNftables } from '../host/nftables.js'
import { hostOpenflow } from '../host/openflow.js'
import { hostRoutes } from '../host/routes.js'
import { hostRules } from '../host/rules.js'
import { type SharedReads, shareReads } from '../host/share.js'
import type { Subsystem } from '../host/subsystem.js'
import type { Phase } from '../model/bundle.js'
import { GUARD_TABLE, OVNKUBE_COOKIE, SECONDARY_GUARD_TABLE } from '../model/numbers.js'
import { type Problem, problem } from '../model/problem.js'
import type { Entry } from '../syntax/languages.js'
import type { NftEntry } from '../syntax/nftables.js'
import { announcedAddresses, type Bundle } from './bundle.js'
import { SUBSYSTEMS, type Subsystems } from './entries.js'
import { guardedBy } from './guard.js'
import { type Lifecycle, lifecycle, NOTHING_WITHHELD, ownershipOf, type Withheld } from './lifecycle.js'
import { faultProblem, type Host } from './reconcile.js'
import { addressMarks, interruptedConnections, knownAddresses, knownBridges, NO_STATE, readState, type State } from './state.js'
import { type AddressKnowledge, type HostView, viewHost } from './view.js'

/** Where the agent looks. */
export interface Place {
  readonly node: string
  readonly phase: Phase
  readonly stateDir: string
  /** OVS_RUNDIR */
  readonly rundir: string
}

/** What a run works with. `problems`: what could not be read; the guards do not wait for it, everything else does. */
export interface Sight extends Lifecycle {
  readonly view: HostView
  readonly knowledge: AddressKnowledge
  readonly state: State
  readonly host: Host
  /** Asks the host, each thing once until the pass changes something. */
  readonly reads: Exec
}

/** `bridges` answers those of Open vSwitch; null where it is not asked. Nothing is to be done on a host of ovnkube-node's. */
export async function look(
  place: Place,
  bundle: Bundle,
  exec: Exec,
  bridges: (() => Promise<HostView['bridges']>) | null,
  withheld: Withheld = NOTHING_WITHHELD,
): Promise<Sight> {
  const { stateDir, rundir, node, phase } = place
  const problems: Problem[] = []
  const orElse = async <T>(read: () => T | Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await read()
    } catch (error) {
      problems.push(faultProblem(error))
      return otherwise
    }
  }
  const state = await orElse(() => readState(stateDir), NO_STATE)
  const readsNft = ownershipOf(bundle, 'nftables') !== 'off'
  const reads = shareReads(exec)
  const view = await viewHost(reads.exec, node, bridges && (await orElse(bridges, null)), readsNft)
  const host = hostOf(exec, reads, rundir, stateDir, view, bundle, state)
  // What a pass compares is asked for together; of a guard alone nothing waits for it. What goes wrong is said when it is asked for again.
  const ahead: Subsystems = bridges ? ['neighbors', 'routes', 'rules'] : []
  const asking = ahead.filter((name) => ownershipOf(bundle, name) !== 'off').map((name) => host[name].observe())
  const [active, { own }, nft] = await Promise.all([
    ovnkubeActive(bundle, host, view),
    orElse(() => host.addresses.observe(), { own: [], foreign: [] }),
    orElse(async () => (readsNft ? ((await host.nftables.observe()).own as readonly NftEntry[]) : []), []),
    Promise.allSettled(asking),
  ])
  const marked = new Set(own.map((entry) => ('address' in entry ? entry.address.address.text : '')))
  const knowledge = {
    marked,
    known: knownAddresses(bundle, state),
    announced: announcedAddresses(bundle),
    silenced: guardedBy(nft, GUARD_TABLE).silenced,
    secondary: guardedBy(nft, SECONDARY_GUARD_TABLE),
  }
  if (active) return { view, knowledge, state, host, reads: reads.exec, goals: [], pending: [], problems: [active] }
  const found = lifecycle(bundle, phase, view, knowledge, interruptedConnections(state), withheld)
  return { ...found, view, knowledge, state, host, reads: reads.exec, problems: [...problems, ...found.problems] }
}

/** What is read is shared until something is changed; who changes something looks for himself. */
function hostOf(exec: Exec, reads: SharedReads, rundir: string, stateDir: string, view: HostView, bundle: Bundle, state: State): Host {
  const names = new Set(knownBridges(bundle, state))
  const served = (view.bridges ?? []).filter(({ name }) => names.has(name))
  const any = <E extends Entry>(of: (exec: Exec) => Subsystem<E>): Subsystem<Entry> => {
    const [reading, writing] = [of(reads.exec), of(exec)] as unknown as readonly [Subsystem<Entry>, Subsystem<Entry>]
    const apply: Subsystem<Entry>['apply'] = (changes) =>
      changes.length === 0 ? reading.apply(changes) : writing.apply(changes).finally(reads.forget)
    return { ...reading, apply }
  }
  return {
    nftables: any(hostNftables),
    openflow: any((to) => hostOpenflow(to, rundir, served, view.node)),
    neighbors: any(hostNeighbors),
    addresses: any((to) => hostAddresses(to, addressMarks(stateDir))),
    routes: any(hostRoutes),
    rules: any(hostRules),
    conntrack: hostConntrack(exec, rundir, served, bundle.manifest.conntrack === 'keep'),
  }
}

/**
 * ovnkube-node replaces flows, addresses and tables by itself; two that manage the same would undo each other's work. Flows that cannot be
 * read are no sign; the pass that needs them says what is wrong.
 */
async function ovnkubeActive(bundle: Bundle, host: Host, { ovnkube }: HostView): Promise<Problem | null> {
  const managed = SUBSYSTEMS.filter((name) => ownershipOf(bundle, name) === 'manage')
  if (managed.length === 0) return null
  const { foreign } = await host.openflow.observe().catch((error: unknown) => {
    faultProblem(error)
    return { foreign: [] }
  })
  const flows = foreign.filter((entry) => 'cookie' in entry && entry.cookie === OVNKUBE_COOKIE).length
  const signs = [...ovnkube, ...(flows > 0 ? [`${flows} flows with cookie 0x${OVNKUBE_COOKIE.toString(16)}`] : [])]
  if (signs.length === 0) return null
  const message = `ovnkube-node is active on this host (${signs.join(', ')}), and the bundle is to manage ${managed.join(', ')}`
  return problem('OvnkubeActive', { message })
}
