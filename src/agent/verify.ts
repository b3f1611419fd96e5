import { isSingle } from '../host/addresses.js'
import { createExec, type Exec, type ExecOptions } from '../host/exec.js'
import { readText } from '../host/files.js'
import { readEgressChains } from '../host/iptables.js'
import { hostNeighbors } from '../host/neighbors.js'
import { hostNftables } from '../host/nftables.js'
import { hostOpenflow } from '../host/openflow.js'
import { readOvnkubeNat } from '../host/ovnkube.js'
import { hostRules, IGNORES_MARKS, ignoresMarks, needsMark } from '../host/rules.js'
import type { Address } from '../model/address.js'
import type { SubsystemName } from '../model/cluster.js'
import { GUARD_TABLE, OVNKUBE_ADDRESS_PROTOCOL, SECONDARY_GUARD_TABLE } from '../model/numbers.js'
import { type Problem, problem } from '../model/problem.js'
import { openflow } from '../syntax/openflow.js'
import { rules } from '../syntax/rules.js'
import { type AddressPlace, addressFindings, isOnBridge, neighborFindings } from './address-findings.js'
import { announcedAddresses, type Bundle, bridgesOf, egressAddresses, entriesFor, loadBundle } from './bundle.js'
import { type Entries, NO_ENTRIES } from './entries.js'
import { type Finding, missingFor } from './finding.js'
import { egressFlows, flowFindings, servesEgress } from './flow-findings.js'
import { guardedBy } from './guard.js'
import { lifecycle, ownershipOf } from './lifecycle.js'
import { natFindings, translationNames, translationsOn } from './nat-findings.js'
import { faultProblem } from './reconcile.js'
import { elsewhere } from './removals.js'
import { routeFindings, ruleFindings } from './routing-findings.js'
import { type Held, heldList, type Verification } from './verification.js'
import { type HostView, viewBridges, viewHost } from './view.js'

export interface VerifyRequest {
  /** Folder of the node. */
  readonly bundle: string
  readonly node: string
  /** OVS_RUNDIR */
  readonly rundir: string
  /** Egress IPs that the annotations of the node name. */
  readonly annotated?: readonly Address[]
  /** How programs are started; in tests, where. */
  readonly exec?: ExecOptions
}

/**
 * Compares a host of ovnkube-node's with the bundle of its node: what egress IPs need there, whoever put it there and in whatever form. Nothing
 * is changed. Never throws for what the host or the bundle is like.
 */
export async function verify(request: VerifyRequest): Promise<Verification> {
  const { node } = request
  const failed = (problems: readonly Problem[]): Verification => ({ node, bundle: null, findings: [], held: [], problems, exitCode: 1 })
  try {
    const bundle = loadBundle(request.bundle)
    if (!('manifest' in bundle)) return failed(bundle)
    if (bundle.manifest.node !== node) {
      return failed([problem('WrongNode', { message: `the bundle is that of node ${bundle.manifest.node}, this is ${node}` })])
    }
    const { findings, held, problems } = await compare(request, bundle, createExec(request.exec))
    const exitCode = problems.some(({ severity }) => severity === 'error') ? 1 : findings.length > 0 ? 2 : 0
    return { node, bundle: bundle.manifest.digest, findings, held, problems, exitCode }
  } catch (error) {
    return failed([faultProblem(error)])
  }
}

async function compare(request: VerifyRequest, bundle: Bundle, exec: Exec): Promise<Pick<Verification, 'findings' | 'held' | 'problems'>> {
  const { node, rundir, annotated = [] } = request
  const compares = (name: SubsystemName) => ownershipOf(bundle, name) !== 'off'
  const orNone = <T>(name: SubsystemName, read: () => Promise<T>, none: T): Promise<T> => (compares(name) ? read() : Promise.resolve(none))
  const view = await viewHost(exec, node, await orNone('openflow', () => viewBridges(rundir), null), compares('nftables'))
  const bridges = bridgesOf(bundle)
  const flowsOn = hostOpenflow(
    exec,
    rundir,
    (view.bridges ?? []).filter(({ name }) => bridges.includes(name)),
    node,
  )
  const all = async <E>(subsystem: { observe(): Promise<{ readonly own: readonly E[]; readonly foreign: readonly E[] }> }) => {
    const { own, foreign } = await subsystem.observe()
    return [...own, ...foreign]
  }
  const [nat, chains, own, flows, neighbors, liveRules] = await Promise.all([
    orNone('nftables', () => readOvnkubeNat(exec), { maps: [], translations: [], rules: [] }),
    orNone('nftables', () => readEgressChains(exec), []),
    orNone('nftables', () => all(hostNftables(exec)), []),
    orNone('openflow', () => all(flowsOn), []),
    orNone('neighbors', () => all(hostNeighbors(exec)), []),
    orNone('rules', () => all(hostRules(exec)), []),
  ])
  const live = flows.filter((entry) => 'cookie' in entry)
  const translations = translationsOn({ nat, chains })
  const translated = [...translations.map(({ egressIP }) => egressIP), ...egressFlows(live).map(({ address }) => address)]
  const { goals, pending, problems } = lifecycle(bundle, 'steady', view, knowledgeOf(bundle), [])
  const asked = goals.find(({ part }) => part === 'base')?.entries ?? NO_ENTRIES
  const steady = entriesFor(bundle, 'steady', false)
  const names = translationNames(steady.nftables)
  const rendered = steady.openflow.filter(servesEgress)
  const waits = new Set(rendered.map(openflow('').key))
  const place: AddressPlace = {
    links: view.links,
    bridges: new Set(bridges),
    marked: new Set(egressFlows(rendered).map(({ address }) => address.text)),
    elsewhere: strangers(request, bundle, view, [...annotated, ...translated]),
  }
  const findings: readonly Finding[] = [
    ...pending.filter(({ subsystem, key }) => subsystem !== 'openflow' || waits.has(key)).map((each) => missingFor(each, names)),
    ...(compares('nftables') ? [...natFindings(asked.nftables, { nat, chains }), ...guardFindings(bundle, own)] : []),
    ...(compares('openflow')
      ? flowFindings(
          asked.openflow.filter((entry) => 'cookie' in entry),
          live,
          (address) => isOnBridge(place, { address }),
        )
      : []),
    ...(compares('neighbors') ? neighborFindings(asked.neighbors, neighbors) : []),
    ...(compares('addresses') ? addressFindings(asked.addresses, place) : []),
    ...(compares('routes') ? routeFindings(asked.routes, view.routes) : []),
    ...(compares('rules') ? [...ruleFindings(asked.rules, liveRules), ...(await markFindings(exec, asked))] : []),
  ]
  const known = new Set([...egressAddresses(bundle).map(({ text }) => text), ...place.elsewhere.keys()])
  const held: readonly Held[] = heldList([
    ...view.addresses
      .filter(({ address, scope }) => scope === 'global' && isSingle(address))
      .map(({ address: { address }, dev }) => ({ address, by: `address on ${dev}`, egressIP: known.has(address.text) })),
    ...translations.map(({ egressIP, dev }) => ({ address: egressIP, by: `translation through ${dev}`, egressIP: true })),
    ...egressFlows(live).map(({ address, bridge }) => ({ address, by: `flow of ${bridge}`, egressIP: true })),
  ])
  return { findings, held, problems }
}

/** Nothing on a host of ovnkube-node's carries a mark of egretta. */
const knowledgeOf = (bundle: Bundle) => ({
  marked: new Set<string>(),
  known: egressAddresses(bundle),
  announced: announcedAddresses(bundle),
  silenced: [],
  secondary: { silenced: [], devices: [] },
})

/** Why an address that the bundle does not have is an egress IP all the same. */
function strangers(
  { bundle: folder }: VerifyRequest,
  bundle: Bundle,
  view: HostView,
  named: readonly Address[],
): ReadonlyMap<string, string> {
  const own = new Set(egressAddresses(bundle).map(({ text }) => text))
  const tagged = view.addresses.filter(({ protocol }) => protocol === OVNKUBE_ADDRESS_PROTOCOL)
  const found: readonly (readonly [string, string])[] = [
    ...tagged.map(({ address }) => [address.address.text, 'ovnkube-node tagged it as an egress IP'] as const),
    ...named.map(({ text }) => [text, 'the node itself calls it an egress IP'] as const),
    ...[...elsewhere(readText(`${folder}/../../index.json`), bundle)].map((text) => [text, 'another node is to have it'] as const),
  ]
  return new Map(found.filter(([text]) => !own.has(text)))
}

/** A guard that was not deleted after a start keeps the node from answering for what it holds. */
function guardFindings(bundle: Bundle, own: Parameters<typeof guardedBy>[0]): readonly Finding[] {
  const held = new Set(entriesFor(bundle, 'steady', false).addresses.map(({ address }) => address.address.text))
  return [GUARD_TABLE, SECONDARY_GUARD_TABLE].flatMap((table) => {
    const silenced = guardedBy(own, table).silenced.filter(({ address }) => held.has(address.text))
    return silenced.map(
      ({ address }): Finding => ({
        subsystem: 'nftables',
        what: 'stale',
        key: `netdev ${table}`,
        says: `the guard of a shutdown is still there, and nobody is answered who asks for ${address.text}`,
        for: null,
      }),
    )
  })
}

/** The rule for marked packets of IPv4 helps nothing where the kernel does not look at marks. */
async function markFindings(exec: Exec, { rules: asked }: Entries): Promise<readonly Finding[]> {
  const rule = asked.find(needsMark)
  if (!rule || !(await ignoresMarks(exec))) return []
  return [{ subsystem: 'rules', what: 'different', key: rules.key(rule), says: IGNORES_MARKS, for: rule.for }]
}
