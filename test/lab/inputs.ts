import { EgressApp } from '../../src/constructs/app.js'
import { EgressCluster } from '../../src/constructs/cluster.js'
import { clusterObject, intent, namespaceObject, podObject, topology } from '../constructs/sources.js'
import type { NodeFacts } from './network.js'

/** Pod and service networks of the lab's cluster. */
const PODS = { ipv4: '10.128.0.0/14', ipv6: 'fd01::/48' }
const SERVICES = { ipv4: '172.30.0.0/16', ipv6: 'fd02::/112' }
const MASQUERADE = { ipv4: '169.254.0.0/17', ipv6: 'fd69::/112' }
/** The network card on the secondary segment. */
export const SECOND_CARD = 'eth1'
const BRIDGE = 'breth0'

/** A node of the lab as its cluster knows it. */
export interface ClusterNode extends NodeFacts {
  /** Its addresses on the secondary segment, with prefix length. */
  readonly secondary: readonly string[]
  /** Its pod subnets, by network. */
  readonly podSubnets: Readonly<Record<string, readonly string[]>>
}

/** A pod of the default network. */
export interface ClusterPod {
  /** Its label `app`; pods of one name are told apart by a number. */
  readonly name: string
  readonly number?: number
  readonly node: string
  readonly addresses: readonly string[]
}

/** The node whose addresses end in `host`: 192.0.2.11, 198.51.100.11, pods in 10.128.11.0/24. */
export const clusterNode = (name: string, host: number, networks: ClusterNode['podSubnets'] = {}): ClusterNode => ({
  name,
  bridge: BRIDGE,
  mac: `00:00:5e:00:53:${host.toString(16).padStart(2, '0')}`,
  addresses: [`192.0.2.${host}/24`, `2001:db8:1::${host}/64`],
  management: [],
  secondary: [`198.51.100.${host}/24`, `2001:db8:2::${host}/64`],
  podSubnets: { default: [`10.128.${host}.0/24`, `fd01:0:0:${host}::/64`], ...networks },
})

/** An EgressIP: its addresses, the node that must have them, and who leaves with them. */
export interface ClusterEgress {
  readonly name: string
  readonly addresses: readonly string[]
  readonly node: string
  /** The namespace whose pods leave with it. */
  readonly namespace: string
  /** Only pods of this name. */
  readonly app?: string
}

/** A namespace on a primary user-defined network of its own; both have this name. */
export interface Tenant {
  readonly name: string
  readonly id: number
  readonly subnets: readonly { readonly cidr: string; readonly hostSubnet: number }[]
  readonly overlay: boolean
}

/** The name of a tenant's network. */
export const networkOf = ({ name }: Pick<Tenant, 'name'>): string => `cluster_udn_${name}`

/** What the cluster is like, and what is wanted of it. */
export interface Wanted {
  readonly nodes: readonly ClusterNode[]
  readonly pods?: readonly ClusterPod[]
  readonly mode: 'shared' | 'local'
  readonly egress?: readonly ClusterEgress[]
  readonly tenants?: readonly Tenant[]
  /** More of the spec of kind Cluster. */
  readonly spec?: object
}

/** Namespace of the pods. */
export const NAMESPACE = 'shop'

/** Renders what is wanted into a folder, as `egretta synth` would. Throws for problems of severity error. */
export const render = (wanted: Wanted, outdir: string): void => appOf(wanted, outdir).synth()

/** The files that `render` writes: path below the folder to text. */
export const renderedFiles = (wanted: Wanted): ReadonlyMap<string, string> => appOf(wanted, 'out').files()

function appOf(wanted: Wanted, outdir: string): EgressApp {
  const { nodes, pods = [], mode, egress = [], tenants = [], spec = {} } = wanted
  const app = new EgressApp({ outdir })
  const both = (of: { readonly ipv4: string; readonly ipv6: string }): readonly string[] => [of.ipv4, of.ipv6]
  const cluster = clusterObject({
    placement: 'enforced',
    gatewayMode: mode,
    bridge: BRIDGE,
    guardDevice: 'ens3',
    subnets: { pod: both(PODS), service: both(SERVICES), masquerade: both(MASQUERADE) },
    ...spec,
  })
  const { problems } = new EgressCluster(app, 'cluster', {
    intent: intent(cluster, ...egress.map(egressIP)),
    topology: topology(
      ...nodes.map((node) => nodeObject(node, mode)),
      namespaceObject(NAMESPACE, { team: NAMESPACE }),
      ...pods.map(pod),
      ...tenants.flatMap(tenantObjects),
    ),
  })
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ code, message }) => `${code}: ${message}`).join('\n'))
  return app
}

const egressIP = ({ name, addresses, node, namespace, app }: ClusterEgress): object => ({
  apiVersion: 'k8s.ovn.org/v1',
  kind: 'EgressIP',
  metadata: { name },
  spec: {
    egressIPs: addresses,
    namespaceSelector: { matchLabels: { team: namespace } },
    ...(app !== undefined && { podSelector: { matchLabels: { app } } }),
    egressNodeSelector: { matchLabels: { 'kubernetes.io/hostname': node } },
  },
})

function tenantObjects(tenant: Tenant): readonly object[] {
  const { name, id, subnets, overlay } = tenant
  return [
    namespaceObject(name, { team: name, 'k8s.ovn.org/primary-user-defined-network': '' }),
    {
      apiVersion: 'k8s.ovn.org/v1',
      kind: 'ClusterUserDefinedNetwork',
      metadata: { name },
      spec: {
        namespaceSelector: { matchLabels: { team: name } },
        network: { topology: 'Layer3', layer3: { role: 'Primary', subnets }, ...(!overlay && { transport: 'NoOverlay' }) },
      },
    },
    {
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: { name, namespace: name, annotations: { 'k8s.ovn.org/network-id': String(id) } },
      spec: { config: JSON.stringify({ name: networkOf(tenant), role: 'primary', topology: 'layer3', type: 'ovn-k8s-cni-overlay' }) },
    },
  ]
}

const pod = ({ name, number = 1, node, addresses }: ClusterPod): object => ({
  ...podObject(NAMESPACE, `${name}-${number}`, addresses),
  metadata: { name: `${name}-${number}`, namespace: NAMESPACE, labels: { app: name } },
  spec: { nodeName: node, containers: [] },
})

function nodeObject({ name, bridge, mac, addresses, secondary, podSubnets }: ClusterNode, mode: string): object {
  const [ipv4, ipv6] = addresses
  const gateway = {
    mode,
    'bridge-id': bridge,
    'interface-id': `${bridge}_${name}`,
    'mac-address': mac,
    'ip-addresses': addresses,
    'next-hops': ['192.0.2.100', '2001:db8:1::100'],
    'node-port-enable': 'true',
    'vlan-id': '0',
  }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, 'k8s.ovn.org/egress-assignable': '' },
      annotations: {
        'k8s.ovn.org/node-primary-ifaddr': JSON.stringify({ ipv4, ipv6 }),
        'k8s.ovn.org/host-cidrs': JSON.stringify([...addresses, ...secondary]),
        'k8s.ovn.org/l3-gateway-config': JSON.stringify({ default: gateway }),
        'k8s.ovn.org/node-subnets': JSON.stringify(podSubnets),
        'k8s.ovn.org/node-masquerade-subnet': JSON.stringify(MASQUERADE),
      },
    },
    status: {
      addresses: addresses.map((address) => ({ type: 'InternalIP', address: address.replace(/\/.*/, '') })),
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  }
}
