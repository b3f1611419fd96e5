import { type Address, type Family, type Prefix, parsePrefix, width } from '../model/address.js'
import type { Artefact } from '../model/bundle.js'
import type { Ownership, SubsystemName } from '../model/cluster.js'
import type { HostInterface } from '../model/host-facts.js'
import type { Path } from '../model/json.js'
import { EGRESS_RULE_PRIORITY, MARK_RULE_PRIORITY, ROUTE_TABLE_BASE } from '../model/numbers.js'
import type { Problem, ProblemCode, Severity } from '../model/problem.js'
import type { HostAddress } from '../syntax/addresses.js'
import { type Entry, languageOf } from '../syntax/languages.js'
import type { Neighbor } from '../syntax/neighbors.js'
import type { NftEntry } from '../syntax/nftables.js'
import type { HostRoute } from '../syntax/routes.js'
import type { HostRule } from '../syntax/rules.js'
import { symbolsIn } from '../syntax/symbols.js'

/** What a node is to hold asks of its host. */
export interface Needs {
  /** Networks of secondary interfaces, with the egress IPs on each. */
  readonly networks: readonly { readonly network: Prefix; readonly egressIPs: readonly Address[] }[]
  /** Pods that are routed by a table of a secondary interface. */
  readonly pods: readonly Address[]
  /** Families with a rule for marked packets (local gateway mode). */
  readonly marked: readonly Family[]
  /** Every egress IP of the node, on the bridge too. */
  readonly egressIPs: readonly Address[]
  /** Device through which pods enter the host; null where the node does not name one. */
  readonly managementPort: string | null
  /** Tables of secondary interfaces: this plus the index of the interface. */
  readonly tableBase: number
  /** Oldest nft that takes the tables: the hook egress came with 1.0.1, `icmpv6 taddr` with 1.0.9. */
  readonly nftVersion: string
  /** Whether egretta makes rules and routes here; else those of somebody else are in nobody's way. */
  readonly makes: { readonly rules: boolean; readonly routes: boolean }
  /** Whether egretta looks at these at all; else their programs are not asked for. */
  readonly reads: { readonly nftables: boolean; readonly openflow: boolean }
  /** Whether conntrack entries are deleted when an egress IP moves or goes. */
  readonly flushes: boolean
}

/** A secondary interface with a network of the node on it. */
export interface UsedInterface {
  readonly network: Prefix
  readonly link: HostInterface
}

/** Says a problem of the host; `path` is where the spec of its facts says it. */
export type Say = (
  code: ProblemCode,
  about: { readonly message: string; readonly remedy: string; readonly path: Path; readonly severity?: Severity },
) => Problem

/** Entries of a node by subsystem, as its bundle has them: with symbols. */
export interface NodeEntries {
  readonly openflow: readonly { readonly bridge: string }[]
  readonly nftables: readonly NftEntry[]
  readonly neighbors: readonly Neighbor[]
  readonly addresses: readonly HostAddress[]
  readonly rules: readonly HostRule[]
  readonly routes: readonly HostRoute[]
}

/** What the cluster says of all its nodes. */
export interface NeedsPolicy {
  readonly ownership: Readonly<Partial<Record<SubsystemName, Ownership>>>
}

/** What the entries ask of a host. */
export function needsOf(entries: NodeEntries, { ownership }: NeedsPolicy): Needs {
  const manages = (name: SubsystemName): boolean => (ownership[name] ?? 'manage') === 'manage'
  const reads = (name: SubsystemName): boolean => ownership[name] !== 'off'
  const single = entries.addresses.filter(({ address }) => address.length === width(address.address.family))
  const networks = new Map<string, { readonly network: Prefix; readonly egressIPs: Address[] }>()
  for (const { address, dev } of single) {
    const network = parsePrefix(symbolsIn(dev).find(({ name }) => name === 'network')?.of ?? '')
    if (!network) continue
    const found = networks.get(dev) ?? { network, egressIPs: [] }
    networks.set(dev, found)
    found.egressIPs.push(address.address)
  }
  const bridges = new Set(entries.openflow.map(({ bridge }) => bridge))
  const devices = [...entries.neighbors, ...entries.routes]
    .map(({ dev }) => dev)
    .filter((dev) => !bridges.has(dev) && symbolsIn(dev).length === 0)
  const egressRules = entries.rules.filter(({ priority }) => priority === EGRESS_RULE_PRIORITY)
  const base = /^(\d+)\+ifindex\(/.exec(egressRules[0]?.table ?? '')?.[1]
  return {
    networks: [...networks.values()],
    pods: egressRules.map(({ src }) => src.address),
    marked: entries.rules.filter(({ priority }) => priority === MARK_RULE_PRIORITY).map(({ src }) => src.address.family),
    egressIPs: single.map(({ address }) => address.address),
    managementPort: devices.sort()[0] ?? null,
    tableBase: base === undefined ? ROUTE_TABLE_BASE : Number(base),
    nftVersion: JSON.stringify(entries.nftables).includes('"taddr"') ? '1.0.9' : '1.0.1',
    makes: { rules: manages('rules'), routes: manages('routes') },
    reads: { nftables: reads('nftables'), openflow: reads('openflow') && entries.openflow.length > 0 },
    flushes: egressRules.length > 0 && manages('nftables'),
  }
}

/** What the rendered files of a node ask of its host. */
export function needsOfFiles(files: readonly Artefact[], policy: NeedsPolicy): Needs {
  const read = files.flatMap(({ path, text }) => {
    const written = languageOf(path)
    return written ? [{ subsystem: written.subsystem, entries: written.language.parse(text) }] : []
  })
  const of = <E>(name: SubsystemName) =>
    read.flatMap(({ subsystem, entries }): readonly Entry[] => (subsystem === name ? entries : [])) as unknown as readonly E[]
  return needsOf(
    {
      openflow: of('openflow'),
      nftables: of('nftables'),
      neighbors: of('neighbors'),
      addresses: of('addresses'),
      rules: of('rules'),
      routes: of('routes'),
    },
    policy,
  )
}
