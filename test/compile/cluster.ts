import { type Address, type Prefix, parseAddress, parsePrefix } from '../../src/model/address.js'
import { type Cluster, readCluster } from '../../src/model/cluster.js'
import type { Inputs } from '../../src/model/inputs.js'
import type { SourceObject } from '../../src/model/source.js'
import type { Speaker } from '../../src/model/speaker.js'
import type { ClusterNamespace, ClusterNode, ClusterPod, Gateway, Topology, UserDefinedNetwork } from '../../src/model/topology.js'

export const address = (text: string): Address => {
  const read = parseAddress(text)
  if (!read) throw new Error(`${text} is not an address`)
  return read
}

export const prefix = (text: string): Prefix => {
  const read = parsePrefix(text)
  if (!read) throw new Error(`${text} is not a prefix`)
  return read
}

const source = (kind: string, name: string): SourceObject => ({
  apiVersion: 'v1',
  kind,
  name,
  namespace: null,
  role: 'topology',
  value: {},
  at: () => ({ file: 'nodes.yaml', line: 1, column: 1 }),
})

export const gateway = (over: Partial<Gateway> = {}): Gateway => ({
  mode: 'shared',
  bridge: 'br-ex',
  mac: '02:00:00:00:00:0a',
  addresses: [],
  nextHops: [],
  vlan: 0,
  ...over,
})

/** A node with these primary addresses, on its gateway bridge too. */
export function node(name: string, primary: readonly string[], over: Partial<ClusterNode> = {}): ClusterNode {
  const prefixes = primary.map(prefix)
  return {
    name,
    labels: {},
    ready: true,
    invalid: null,
    primary: prefixes,
    hostPrefixes: prefixes,
    internalIPs: prefixes.map((each) => each.address),
    heldEgressIPs: [],
    gateway: gateway({ addresses: prefixes }),
    cloud: null,
    podSubnets: new Map(),
    masqueradeSubnets: [],
    networkIds: new Map(),
    source: source('Node', name),
    ...over,
  }
}

export const network = (name: string, id: number | null, role = 'Primary', over: Partial<UserDefinedNetwork> = {}): UserDefinedNetwork => ({
  network: `cluster_udn_${name}`,
  for: `ClusterUserDefinedNetwork/${name}`,
  id,
  topology: 'Layer3',
  role,
  namespaces: [],
  subnets: [],
  overlay: true,
  advertised: false,
  source: { file: 'networks.yaml', line: 1, column: 1 },
  ...over,
})

export const namespace = (name: string): ClusterNamespace => ({ name, labels: { name } })

/** A running pod with these addresses on its network. */
export const pod = (name: string, addresses: readonly string[], over: Partial<ClusterPod> = {}): ClusterPod => ({
  namespace: 'red',
  name,
  labels: {},
  node: 'node-a',
  hostNetwork: false,
  phase: 'Running',
  addresses: addresses.map(address),
  network: 'default',
  ...over,
})

/** An object that selects the namespaces of this name, with these addresses on nodes. */
export const speaker = (name: string, selected: string, addresses: readonly string[], over: Partial<Speaker> = {}): Speaker => ({
  name,
  created: null,
  namespaceSelector: { matchLabels: { name: selected } },
  podSelector: {},
  addresses,
  ...over,
})

export function inputs(
  nodes: readonly ClusterNode[],
  networks: readonly UserDefinedNetwork[] = [],
  over: Partial<Cluster> = {},
  platform: string | null = null,
  around: Partial<Topology> = {},
): Inputs {
  const subnets = { pod: [], service: [], join: [], transit: [], masquerade: ['169.254.0.0/17', 'fd69::/112'].map(prefix) }
  const facts = {
    platform,
    podSubnets: [],
    serviceSubnets: [],
    gatewayModes: [],
    masqueradeSubnets: [],
    mtu: null,
    genevePort: null,
    release: null,
    userDefinedNetworks: false,
    defaultNetworkAdvertised: false,
    defaultNetworkOverlay: true,
    reachabilityTimeout: null,
    placedByOvnkube: null,
    takesNodeSelector: null,
  }
  const { cluster: defaults } = readCluster(null, facts, subnets)
  const cluster: Cluster = { ...defaults, placement: 'enforced', placementReason: 'Cluster.spec.placement', subnets, ...over }
  return {
    intent: { objects: [], invalid: [], foreign: [], removed: [], gone: [] },
    topology: {
      nodes,
      namespaces: [],
      pods: [],
      networks,
      facts,
      networkOperator: null,
      probes: [],
      hosts: [],
      ignored: new Map(),
      ...around,
    },
    cluster,
    lock: null,
    current: new Map(),
    digest: '',
    problems: [],
    unreadable: false,
  }
}
