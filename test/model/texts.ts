import type { Inputs } from '../../src/model/inputs.js'
import { readInputs } from '../../src/model/inputs.js'
import type { Lock } from '../../src/model/lock.js'
import type { Role, SourceFile } from '../../src/model/source.js'

/** A node as text. `annotations` are merged over sound ones; null takes one away. */
export function node(name: string, annotations: Readonly<Record<string, string | null>> = {}, ready = 'True'): string {
  const all: Record<string, string | null> = {
    'k8s.ovn.org/node-primary-ifaddr': '{"ipv4":"192.0.2.11/24"}',
    'k8s.ovn.org/host-cidrs': '["192.0.2.11/24"]',
    'k8s.ovn.org/l3-gateway-config': gateway(name),
    ...annotations,
  }
  const lines = Object.entries(all).flatMap(([key, value]) => (value === null ? [] : [`    ${key}: ${JSON.stringify(value)}\n`]))
  return `apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels:
    k8s.ovn.org/egress-assignable: ""
  annotations:
${lines.join('')}status:
  addresses:
  - {type: InternalIP, address: 192.0.2.11}
  - {type: Hostname, address: ${name}}
  conditions:
  - {type: MemoryPressure, status: "False"}
  - {type: Ready, status: "${ready}"}
`
}

export const gateway = (node: string, fields: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    default: {
      mode: 'shared',
      'bridge-id': 'br-ex',
      'interface-id': `br-ex_${node}`,
      'mac-address': '00:00:5e:00:53:01',
      'ip-addresses': ['192.0.2.11/24'],
      'next-hops': ['192.0.2.1'],
      'node-port-enable': 'true',
      'vlan-id': '0',
      ...fields,
    },
  })

interface EgressIPText {
  readonly status?: Readonly<Record<string, string>>
  readonly mark?: string
  readonly created?: string
}

/** An EgressIP as text. */
export function egressIP(name: string, addresses: readonly string[], { status, mark, created }: EgressIPText = {}): string {
  const items = Object.entries(status ?? {}).map(([address, on]) => `\n  - {egressIP: "${address}", node: ${on}}`)
  return `apiVersion: k8s.ovn.org/v1
kind: EgressIP
metadata:
  name: ${name}
${created === undefined ? '' : `  creationTimestamp: "${created}"\n`}${mark === undefined ? '' : `  annotations: {k8s.ovn.org/egressip-mark: "${mark}"}\n`}spec:
  egressIPs: [${addresses.map((address) => JSON.stringify(address)).join(', ')}]
  namespaceSelector: {matchLabels: {env: prod}}
${status === undefined ? '' : `status:\n  items:${items.length === 0 ? ' []' : items.join('')}\n`}`
}

/** Documents of one role, as a file named after it. */
export const file = (role: Role, ...documents: readonly string[]): SourceFile => ({
  file: `${role}.yaml`,
  text: documents.join('---\n'),
  role,
})

export const read = (files: readonly SourceFile[], lock: Lock | null = null): Inputs => readInputs(files, lock)

/** Problems as `Code object line:column`. */
export const found = (inputs: Pick<Inputs, 'problems'>): readonly string[] =>
  inputs.problems.map(({ code, object, source }) => `${code} ${object} ${source?.line}:${source?.column}`)

export const lock = (objects: Lock['objects']): Lock => ({ apiVersion: 'egretta.dev/v1alpha1', kind: 'Lock', objects })

/** Nested maps as nested records. */
export const plain = (current: Inputs['current']): Readonly<Record<string, Readonly<Record<string, string>>>> =>
  Object.fromEntries([...current].map(([object, held]) => [object, Object.fromEntries(held)]))
