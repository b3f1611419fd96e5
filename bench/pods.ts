import { namespaceName } from './egressips.js'
import { podV4, podV6, uid } from './nodes.js'
import type { Random } from './random.js'

const APPS = ['web', 'api', 'worker', 'batch']
const digits = (random: Random, count: number): string => Array.from({ length: count }, () => random.below(36).toString(36)).join('')

/**
 * A pod in the shape that kubectl prints, with one plain container. Five of a hundred share the host's network, five are finished. A `lean`
 * one has only what egretta reads, as in a trimmed snapshot: then the parser has the least to do beside the rest of the plan.
 */
export function podObject(
  index: number,
  size: { readonly nodes: number; readonly namespaces: number },
  lean: boolean,
  random: Random,
): object {
  const node = index % size.nodes
  const number = 2 + Math.floor(index / size.nodes)
  const app = APPS[random.below(APPS.length)] as string
  const hash = digits(random, 9)
  const name = `${app}-${hash}-${digits(random, 5)}`
  const namespace = namespaceName(index % size.namespaces)
  const hostNetwork = random.chance(0.05)
  const phase = random.chance(0.05) ? 'Succeeded' : 'Running'
  const ips = [podV4(node, number), podV6(node, number)]
  const nodeName = `node-${String(node).padStart(4, '0')}`
  const networks = {
    default: {
      ip_addresses: [`${ips[0]}/25`, `${ips[1]}/64`],
      mac_address: '0a:58:ac:10:00:02',
      gateway_ips: [podV4(node, 1), podV6(node, 1)],
      role: 'primary',
    },
  }
  const labels = { app, 'app.kubernetes.io/part-of': namespace, 'pod-template-hash': hash }
  if (lean) {
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { labels, name, namespace },
      spec: { nodeName, ...(hostNetwork ? { hostNetwork } : {}) },
      status: { phase, podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) },
    }
  }
  const image = `registry.example.com/${namespace}/${app}:1.4.2`
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      annotations: { 'k8s.ovn.org/pod-networks': JSON.stringify(networks) },
      creationTimestamp: '2026-07-20T07:31:12Z',
      labels,
      name,
      namespace,
      ownerReferences: [{ apiVersion: 'apps/v1', controller: true, kind: 'ReplicaSet', name: `${app}-${hash}`, uid: uid(random) }],
      resourceVersion: String(1_000_000 + index),
      uid: uid(random),
    },
    spec: {
      containers: [
        { args: [':8080'], image, name: app, ports: [{ containerPort: 8080 }], resources: { requests: { cpu: '100m', memory: '256Mi' } } },
      ],
      ...(hostNetwork ? { hostNetwork } : {}),
      nodeName,
      serviceAccountName: app,
    },
    status: {
      conditions: ['Ready', 'PodScheduled'].map((type) => ({ lastTransitionTime: '2026-07-20T07:31:20Z', status: 'True', type })),
      containerStatuses: [{ image, name: app, ready: true, restartCount: 0 }],
      phase,
      podIP: ips[0],
      podIPs: ips.map((ip) => ({ ip })),
      startTime: '2026-07-20T07:31:12Z',
    },
  }
}
