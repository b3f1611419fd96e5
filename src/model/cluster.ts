import { type Prefix, parsePrefix } from './address.js'
import type { ClusterFacts } from './cluster-facts.js'
import { CLUSTER_SCHEMA } from './cluster-schema.js'
import type { Subnets } from './cluster-subnets.js'
import { isObject, type JsonObject, listAt, objectAt, type Path, printPath, record, textAt, withoutNulls } from './json.js'
import type { GatewayMode } from './node-annotations.js'
import type { ConntrackPolicy } from './node-state.js'
import { DEFAULT_MTU, FIRST_CONNTRACK_ZONE, GENEVE_PORT, ROUTE_TABLE_BASE } from './numbers.js'
import { type Problem, problem, type Severity } from './problem.js'
import { type Said, said } from './said.js'
import { schemaCheck } from './schema.js'
import { type SourceObject, subject } from './source.js'

export type PlacementMode = 'enforced' | 'advisory'
export type Ownership = 'manage' | 'verify' | 'off'
export type SubsystemName = 'openflow' | 'nftables' | 'neighbors' | 'addresses' | 'rules' | 'routes'

export interface NodeOptions {
  readonly bridge?: string
  readonly uplink?: string
  readonly guardDevice?: string
}

/** Own kind `Cluster` (egretta.dev/v1alpha1), parsed, with every default filled in. Schema: `schema/cluster.json`. */
export interface Cluster {
  readonly placement: PlacementMode
  /** Why: `Cluster.spec.placement`, or the object that shows who decides. */
  readonly placementReason: string
  readonly ownership: Readonly<Partial<Record<SubsystemName, Ownership>>>
  readonly bridge: string | null
  readonly uplink: string | null
  readonly guardDevice: string | null
  readonly subnets: Subnets
  readonly nodes: Readonly<Record<string, NodeOptions>>
  readonly unreachable: readonly string[]
  readonly policy: Readonly<Record<string, Severity | 'off'>>
  /** What configures the gateway mode: Cluster.spec, the Network operator, the ConfigMap. The first is used (`gatewayModeOf`). */
  readonly gatewayModes: readonly Said<GatewayMode>[]
  /** What Cluster.spec.subnets.masquerade itself says; it goes before what nodes say (`masqueradeSubnetOf`). */
  readonly masqueradeSubnets: readonly Said<Prefix>[]
  /** Whether ovnkube runs with network segmentation. Unless said: whether the inputs show user-defined networks. */
  readonly networkSegmentation: boolean
  /** Whether pods of the default network leave the node with their own addresses (ovnkube's --disable-snat-multiple-gws). */
  readonly disableSnatMultipleGateways: boolean
  /** MTU of pods, in bytes. */
  readonly mtu: number
  /** Whether nodes in local gateway mode measure replies to pods against the MTU (ovnkube's --disable-pkt-mtu-check says no). */
  readonly checkPacketLength: boolean
  readonly genevePort: number
  /** First of the conntrack zones of OVN-Kubernetes; the others follow it. */
  readonly conntrackZone: number
  /** Tables of secondary interfaces: this plus the index of the interface. */
  readonly routeTable: number
  readonly conntrack: ConntrackPolicy
  /** OpenShift release of the cluster, such as `4.9` or `4.14.3`; null when not said (`isBefore`). */
  readonly release: string | null
  /** The management port of ovnkube on the nodes; null where nodes have none. */
  readonly managementPort: string | null
  /** Oldest nft on the nodes. Below 1.0.9 the guard matches the raw target address (facts: `icmpv6 taddr` came with 1.0.9). */
  readonly nftVersion: string
  /** The Cluster object; null where the inputs have none. */
  readonly source: SourceObject | null
}

const DEFAULT_SUBNETS = {
  pod: [],
  service: [],
  join: ['100.64.0.0/16', 'fd98::/64'],
  transit: ['100.88.0.0/16', 'fd97::/64'],
  masquerade: ['169.254.169.0/29', 'fd69::/125'],
} as const

/** Oldest nft that the rendered rules must load on unless the Cluster object says otherwise. */
const DEFAULT_NFT_VERSION = '1.0.6'
/** ovnkube's management port, where ovnkube runs. */
const MANAGEMENT_PORT = 'ovn-k8s-mp0'
const MASQUERADE: Path = ['subnets', 'masquerade']

type SubnetKind = keyof Subnets

const check = schemaCheck(CLUSTER_SCHEMA)

/**
 * The Cluster object with every default filled in: from its own spec, then from the facts and subnets that the cluster configures, then
 * egretta's defaults. `object` is null where there is none. A wrong field is InvalidObject and its default is used; an
 * unknown one is UnknownField.
 */
export function readCluster(
  object: SourceObject | null,
  facts: ClusterFacts,
  configured: Subnets,
): { cluster: Cluster; problems: readonly Problem[] } {
  const problems: Problem[] = []
  const spec = object ? validSpec(object, problems) : {}
  const text = (key: string): string | null => textAt(spec, [key])
  const number = (key: string): number | undefined => spec[key] as number | undefined
  const flag = (key: string): boolean | undefined => spec[key] as boolean | undefined
  const mode = spec.gatewayMode as GatewayMode | undefined
  const subnets = (kind: SubnetKind): readonly Prefix[] =>
    byFamily(prefixes(listAt(spec, ['subnets', kind])), configured[kind], prefixes(DEFAULT_SUBNETS[kind]))
  const masqueradeSubnets = object
    ? listAt(spec, MASQUERADE).flatMap((item, at) => prefixes([item]).map((prefix) => said(prefix, object, ['spec', ...MASQUERADE, at])))
    : []
  const placement = spec.placement as PlacementMode | undefined
  const cluster: Cluster = {
    placement: placement ?? (facts.placedByOvnkube === null ? 'enforced' : 'advisory'),
    placementReason: placement !== undefined ? 'Cluster.spec.placement says so' : reason(facts),
    ownership: objectAt(spec, ['ownership']) as Cluster['ownership'],
    bridge: text('bridge'),
    uplink: text('uplink'),
    guardDevice: text('guardDevice'),
    subnets: {
      pod: subnets('pod'),
      service: subnets('service'),
      join: subnets('join'),
      transit: subnets('transit'),
      masquerade: subnets('masquerade'),
    },
    nodes: record(Object.entries(objectAt(spec, ['nodes'])) as [string, NodeOptions][]),
    unreachable: [...new Set(listAt(spec, ['unreachable']) as string[])].sort(),
    policy: record(Object.entries(objectAt(spec, ['policy'])) as [string, Severity | 'off'][]),
    gatewayModes: [...(object && mode ? [said(mode, object, ['spec', 'gatewayMode'])] : []), ...facts.gatewayModes],
    masqueradeSubnets,
    networkSegmentation: flag('networkSegmentation') ?? facts.userDefinedNetworks,
    disableSnatMultipleGateways: flag('disableSnatMultipleGateways') ?? false,
    mtu: number('mtu') ?? facts.mtu ?? DEFAULT_MTU,
    checkPacketLength: flag('checkPacketLength') ?? true,
    genevePort: number('genevePort') ?? facts.genevePort ?? GENEVE_PORT,
    conntrackZone: number('conntrackZone') ?? FIRST_CONNTRACK_ZONE,
    routeTable: number('routeTable') ?? ROUTE_TABLE_BASE,
    conntrack: (spec.conntrack as ConntrackPolicy | undefined) ?? 'flush',
    release: text('release') ?? facts.release,
    managementPort: text('managementPort') ?? (facts.placedByOvnkube === null ? null : MANAGEMENT_PORT),
    nftVersion: text('nftVersion') ?? DEFAULT_NFT_VERSION,
    source: object,
  }
  return { cluster, problems: [...problems, ...furtherMasquerade(masqueradeSubnets)] }
}

/** A node has one masquerade subnet per family: a further one that Cluster.spec names would be taken by nobody. */
const furtherMasquerade = (subnets: readonly Said<Prefix>[]): readonly Problem[] =>
  subnets.flatMap(({ value, object, field, source }, at) => {
    const first = subnets.findIndex((other) => other.value.address.family === value.address.family)
    if (first === at) return []
    const message = `${object}: ${field} is a second IPv${value.address.family} masquerade subnet; nodes have one, and ${subnets[first]?.field} is used.`
    return [problem('InvalidObject', { object, message, remedy: 'Leave the subnet that the nodes have, and remove the other.', source })]
  })

/** What the Cluster object says of nodes that the topology does not have, as a misspelt name is: it changes nothing. */
export function strayNodes(object: SourceObject | null, { unreachable, nodes }: Cluster, there: ReadonlySet<string>): readonly Problem[] {
  if (!object || there.size === 0) return []
  const stray = (name: string, path: Path): readonly Problem[] =>
    there.has(name)
      ? []
      : [
          problem('UnknownNode', {
            severity: 'warning',
            object: subject(object),
            message: `${subject(object)}: the topology has no node ${name}, which ${printPath(path.slice(0, 2))} names.`,
            remedy: 'Correct the name, or remove it.',
            source: object.at(path, true),
          }),
        ]
  const written = listAt(object.value, ['spec', 'unreachable'])
  return [
    ...unreachable.flatMap((name) => stray(name, ['spec', 'unreachable', written.indexOf(name)])),
    ...Object.keys(nodes).flatMap((name) => stray(name, ['spec', 'nodes', name])),
  ]
}

const reason = (facts: ClusterFacts): string =>
  facts.placedByOvnkube === null ? 'no input shows that ovnkube decides' : `${facts.placedByOvnkube} shows that ovnkube decides`

const prefixes = (texts: readonly unknown[]): readonly Prefix[] => texts.flatMap((text) => parsePrefix(String(text)) ?? [])

/** For each family the first list that names it. */
function byFamily(...lists: readonly (readonly Prefix[])[]): readonly Prefix[] {
  return ([4, 6] as const).flatMap(
    (family) => lists.map((list) => list.filter((prefix) => prefix.address.family === family)).find((list) => list.length > 0) ?? [],
  )
}

/** The spec without what the schema refuses. Null counts as absent, as in Kubernetes. */
function validSpec(object: SourceObject, problems: Problem[]): JsonObject {
  const value = withoutNulls(object.value) as JsonObject
  const wrong: Path[] = []
  for (const { kind, path, message } of check(value)) {
    const unknown = kind === 'unknown'
    problems.push(
      problem(unknown ? 'UnknownField' : 'InvalidObject', {
        object: subject(object),
        message: `${subject(object)}: ${printPath(path)} ${message}.`,
        source: object.at(path, unknown),
        ...(unknown ? {} : { remedy: 'Correct the field; its default is used until then.' }),
      }),
    )
    wrong.push(path)
  }
  const spec = wrong.some((path) => path.length < 2)
    ? {}
    : without(
        value.spec,
        [],
        wrong.map((path) => path.slice(1)),
      )
  return isObject(spec) ? spec : {}
}

/** Leaves out the fields that hold what stands at the paths: a list with one wrong item goes as a whole. */
function without(value: unknown, here: Path, paths: readonly Path[]): unknown {
  if (!isObject(value)) return value
  const kept = Object.entries(value).flatMap(([key, inner]) => {
    const path = [...here, key]
    const below = paths.filter((wrong) => path.every((step, at) => wrong[at] === step))
    if (below.some((wrong) => wrong.length === path.length || typeof wrong[path.length] === 'number')) return []
    return [[key, below.length > 0 ? without(inner, path, below) : inner] as const]
  })
  return Object.fromEntries(kept)
}
