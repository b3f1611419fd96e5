import type { SourceFile } from '../../src/model/source.js'

interface NodeShape {
  readonly name: string
  /** Last byte of the node's addresses. */
  readonly host: number
  readonly annotations?: Readonly<Record<string, string>>
  readonly ready?: boolean
}

/** A Node as a dual-stack cluster prints it, in 192.0.2.0/24 and 2001:db8:1::/64. */
export function nodeObject({ name, host, annotations = {}, ready = true }: NodeShape): object {
  const addresses = [`192.0.2.${host}/24`, `2001:db8:1::${host}/64`]
  const gateway = {
    mode: 'shared',
    'bridge-id': 'br-ex',
    'interface-id': `br-ex_${name}`,
    'mac-address': `02:00:5e:10:00:${String(host).padStart(2, '0')}`,
    'ip-addresses': addresses,
    'next-hops': ['192.0.2.1', '2001:db8:1::1'],
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
        'k8s.ovn.org/node-primary-ifaddr': JSON.stringify({ ipv4: addresses[0], ipv6: addresses[1] }),
        'k8s.ovn.org/host-cidrs': JSON.stringify(addresses),
        'k8s.ovn.org/l3-gateway-config': JSON.stringify({ default: gateway }),
        'k8s.ovn.org/node-subnets': JSON.stringify({ default: [`10.128.${host}.0/24`] }),
        ...annotations,
      },
    },
    status: {
      addresses: [{ type: 'InternalIP', address: `192.0.2.${host}` }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  }
}

export const NODES = [
  { name: 'node-a', host: 11 },
  { name: 'node-b', host: 12 },
  { name: 'node-c', host: 13 },
].map(nodeObject)

export const namespaceObject = (name: string, labels: Readonly<Record<string, string>>): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
})

export const podObject = (namespace: string, name: string, ips: readonly string[], over: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels: { app: name } },
  spec: { nodeName: 'node-a', containers: [] },
  status: { phase: 'Running', podIP: ips[0], podIPs: ips.map((ip) => ({ ip })), ...over },
})

export const egressIPObject = (name: string, egressIPs: readonly string[], over: object = {}): object => ({
  apiVersion: 'k8s.ovn.org/v1',
  kind: 'EgressIP',
  metadata: { name },
  spec: { egressIPs, namespaceSelector: { matchLabels: { env: 'prod' } } },
  ...over,
})

export const clusterObject = (spec: object): object => ({
  apiVersion: 'egretta.dev/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'test' },
  spec,
})

/** One file for each object, or one for all of them. */
export const intent = (...objects: readonly object[]): readonly SourceFile[] =>
  objects.map((object, i) => ({ file: `intent/${i}.json`, text: JSON.stringify(object), role: 'intent' }))
export const topology = (...objects: readonly object[]): readonly SourceFile[] => [
  { file: 'topology/cluster.json', text: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }), role: 'topology' },
]
