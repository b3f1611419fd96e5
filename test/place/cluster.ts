import type { Placement, PlacementOptions } from '../../src/model/assignment.js'
import { type Inputs, readInputs } from '../../src/model/inputs.js'
import type { Lock } from '../../src/model/lock.js'
import { NO_OPTIONS, place } from '../../src/place/place.js'

/** A Kubernetes object as JSON. */
export type Document = Readonly<Record<string, unknown>>

interface NodeSpec {
  /** Primary addresses with prefix length, one per family. */
  readonly primary?: readonly string[]
  /** Further host-cidrs. */
  readonly others?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly ready?: 'True' | 'False' | 'Unknown' | null
  readonly nextHops?: readonly string[]
  /** bridge-egress-ips */
  readonly holds?: readonly string[]
  readonly cloud?: { readonly networks: Readonly<Record<string, string>>; readonly capacity: Readonly<Record<string, number>> }
  /** Further annotations, or others in place of those made from the fields above; undefined leaves one out. */
  readonly annotations?: Readonly<Record<string, string | undefined>>
}

/** A node of the egress pool, as a cluster prints it. */
export function node(name: string, spec: NodeSpec = {}): Document {
  const primary = spec.primary ?? [`192.0.2.${10 + name.charCodeAt(name.length - 1) - 97}/24`]
  const byFamily = Object.fromEntries(primary.map((text) => [text.includes(':') ? 'ipv6' : 'ipv4', text]))
  const gateway = {
    mode: 'shared',
    'bridge-id': 'br-ex',
    'interface-id': `br-ex_${name}`,
    'mac-address': '02:00:5e:00:53:01',
    'ip-addresses': primary,
    'next-hops': spec.nextHops ?? [],
  }
  const cloud = spec.cloud && [{ interface: 'nic0', ifaddr: spec.cloud.networks, capacity: spec.cloud.capacity }]
  const ready = spec.ready === undefined ? 'True' : spec.ready
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: spec.labels ?? { 'k8s.ovn.org/egress-assignable': '' },
      annotations: {
        'k8s.ovn.org/node-primary-ifaddr': JSON.stringify(byFamily),
        'k8s.ovn.org/host-cidrs': JSON.stringify([...primary, ...(spec.others ?? [])]),
        'k8s.ovn.org/l3-gateway-config': JSON.stringify({ default: gateway }),
        ...(spec.holds && { 'k8s.ovn.org/bridge-egress-ips': JSON.stringify(spec.holds) }),
        ...(cloud && { 'cloud.network.openshift.io/egress-ipconfig': JSON.stringify(cloud) }),
        ...spec.annotations,
      },
    },
    status: {
      addresses: primary.map((text) => ({ type: 'InternalIP', address: text.split('/')[0] })),
      conditions: ready === null ? [] : [{ type: 'Ready', status: ready }],
    },
  }
}

interface EgressIPSpec {
  /** Seconds since 2026 at which the object was made. */
  readonly age?: number
  /** Address to node. */
  readonly status?: Readonly<Record<string, string>>
  readonly mark?: string
  readonly nodes?: Document
  readonly namespaces?: Document
  readonly pods?: Document
}

/** An EgressIP for the namespaces labelled `team: <name>`. */
export function egressIP(name: string, addresses: readonly string[], spec: EgressIPSpec = {}): Document {
  const created = spec.age === undefined ? {} : { creationTimestamp: new Date(Date.UTC(2026, 0, 1) + spec.age * 1000).toISOString() }
  return {
    apiVersion: 'k8s.ovn.org/v1',
    kind: 'EgressIP',
    metadata: { name, ...created, ...(spec.mark !== undefined && { annotations: { 'k8s.ovn.org/egressip-mark': spec.mark } }) },
    spec: {
      egressIPs: addresses,
      namespaceSelector: spec.namespaces ?? { matchLabels: { team: name } },
      ...(spec.pods && { podSelector: spec.pods }),
      ...(spec.nodes && { egressNodeSelector: spec.nodes }),
    },
    ...(spec.status && { status: { items: Object.entries(spec.status).map(([egressIP, node]) => ({ egressIP, node })) } }),
  }
}

export const namespace = (name: string, labels: Readonly<Record<string, string>> = {}): Document => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
})

export const pod = (namespace: string, name: string, labels: Readonly<Record<string, string>> = {}): Document => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name, labels },
  spec: { nodeName: 'alder', containers: [{ name: 'main', image: 'example/main:1' }] },
  status: { phase: 'Running', podIP: '10.128.0.9', podIPs: [{ ip: '10.128.0.9' }] },
})

export const cluster = (spec: Document): Document => ({
  apiVersion: 'egretta.dev/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'cluster' },
  spec,
})

export const platform = (type: string): Document => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'Infrastructure',
  metadata: { name: 'cluster' },
  status: { platformStatus: { type } },
})

const listOf = (items: readonly Document[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 1)

/** The inputs of a dump of a live cluster. */
export const dumpOf = (documents: readonly Document[]): Inputs =>
  readInputs([{ file: 'dump.json', text: listOf(documents), role: 'both' }], null)

/** The inputs of a project: what is wanted, what is there, and the lock. */
export const projectOf = (intent: readonly Document[], topology: readonly Document[], lock: Lock | null = null): Inputs =>
  readInputs(
    [
      { file: 'intent.json', text: listOf(intent), role: 'intent' },
      { file: 'topology.json', text: listOf(topology), role: 'topology' },
    ],
    lock,
  )

export const placed = (documents: readonly Document[], options: Partial<PlacementOptions> = {}): Placement =>
  place(dumpOf(documents), { ...NO_OPTIONS, ...options })

/** Address to node, of what is assigned. */
export const nodesOf = ({ assignments }: Placement): Readonly<Record<string, string | null>> =>
  Object.fromEntries(assignments.filter(({ change }) => change !== 'remove').map(({ egressIP, node }) => [egressIP, node]))

/** Address to what becomes of it. */
export const changesOf = ({ assignments }: Placement): Readonly<Record<string, string>> =>
  Object.fromEntries(assignments.map(({ egressIP, change }) => [egressIP, change]))

/** Address to reason, of what is not assigned. */
export const reasonsOf = ({ unassigned }: Placement): Readonly<Record<string, string>> =>
  Object.fromEntries(unassigned.map(({ egressIP, reason }) => [egressIP, reason]))

/** Severity, code and object of every problem, sorted, without what is said of selectors. */
export const problemsOf = ({ problems }: Placement): readonly string[] =>
  problems
    .filter(({ code }) => code !== 'SelectorMatchesNoNamespace')
    .map(({ severity, code, object }) => `${severity} ${code} ${object}`)
    .sort()
