import type { V1LabelSelector } from '@kubernetes/client-node'
import { isObject, listAt, valueAt } from './json.js'

const selector = (description: string) => ({
  description,
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  properties: {
    matchLabels: {
      description: 'Labels that must be there with these values.',
      type: 'object',
      additionalProperties: { type: 'string' },
    },
    matchExpressions: {
      description: 'Requirements that must all hold.',
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: { description: 'Key of the label.', type: 'string' },
          operator: { description: 'In, NotIn, Exists or DoesNotExist.', type: 'string' },
          values: {
            description: 'Values for In and NotIn; empty for the other operators.',
            type: 'array',
            'x-kubernetes-list-type': 'atomic',
            items: { type: 'string' },
          },
        },
      },
    },
  },
})

/** What egressNodeSelector is where an object does not say it (seed 003). */
export const DEFAULT_NODE_SELECTOR = {
  matchExpressions: [{ key: 'k8s.ovn.org/egress-assignable', operator: 'Exists' }],
} satisfies V1LabelSelector

const EGRESSIP_SCHEMA = {
  description: 'Addresses that the traffic of selected pods leaves the cluster with.',
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      description: 'What is wanted.',
      type: 'object',
      required: ['egressIPs', 'namespaceSelector'],
      properties: {
        egressIPs: {
          description: 'The egress IPs, IPv4 or IPv6. Each is hosted by a node of its own.',
          type: 'array',
          items: { type: 'string' },
        },
        namespaceSelector: selector('Namespaces whose pods use the addresses. Empty: every namespace.'),
        podSelector: selector('Pods, within those namespaces, that use the addresses. Absent or empty: every pod.'),
        egressNodeSelector: {
          ...selector('Nodes that may host the addresses. Empty: every node.'),
          default: DEFAULT_NODE_SELECTOR,
        },
      },
    },
    status: {
      description: 'What is: which node hosts which address. Written by the cluster.',
      type: 'object',
      required: ['items'],
      properties: {
        items: {
          type: 'array',
          items: {
            type: 'object',
            required: ['egressIP', 'node'],
            properties: {
              egressIP: { description: 'An address of spec.egressIPs.', type: 'string' },
              node: { description: 'Name of the node that hosts it.', type: 'string' },
            },
          },
        },
      },
    },
  },
} as const

/**
 * CustomResourceDefinition of EgressIP (k8s.ovn.org/v1). As upstream, it has no status subresource; unlike releases up to
 * August 2026, it has egressNodeSelector (seed 003).
 */
export const EGRESSIP_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'egressips.k8s.ovn.org' },
  spec: {
    group: 'k8s.ovn.org',
    names: { kind: 'EgressIP', listKind: 'EgressIPList', plural: 'egressips', singular: 'egressip', shortNames: ['eip'] },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'EgressIPs', type: 'string', jsonPath: '.spec.egressIPs[*]' },
          { name: 'Assigned Node', type: 'string', jsonPath: '.status.items[*].node' },
          { name: 'Assigned EgressIPs', type: 'string', jsonPath: '.status.items[*].egressIP' },
        ],
        schema: { openAPIV3Schema: EGRESSIP_SCHEMA },
      },
    ],
  },
} as const

/**
 * Whether a CustomResourceDefinition of EgressIP keeps egressNodeSelector in a version that is served. The CRDs of releases up to
 * August 2026 drop it without a word.
 */
export function takesNodeSelector(definition: unknown): boolean {
  return listAt(definition, ['spec', 'versions']).some((version) => {
    const spec = valueAt(version, ['schema', 'openAPIV3Schema', 'properties', 'spec'])
    const open = valueAt(spec, ['x-kubernetes-preserve-unknown-fields']) === true
    return valueAt(version, ['served']) !== false && (open || isObject(valueAt(spec, ['properties', 'egressNodeSelector'])))
  })
}
