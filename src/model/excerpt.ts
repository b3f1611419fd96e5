import { isObject, type JsonObject } from './json.js'

/**
 * What egretta reads of an object of a kind that clusters have by the hundred thousand, at the same paths: of a pod what `readPod` asks
 * for, with sorted keys. The rest is not kept: it takes no part in the digest, and two pods that differ in it alone are equal. Objects of other kinds stay whole.
 */
export function excerptOf(kind: string, apiVersion: string, value: JsonObject): JsonObject {
  if (kind !== 'Pod' || apiVersion !== 'v1') return value
  const { metadata, spec, status } = value
  return {
    ...(pick(value, ['apiVersion', 'kind']) as JsonObject),
    metadata: isObject(metadata)
      ? { annotations: pick(metadata.annotations, [POD_NETWORKS]), ...(pick(metadata, METADATA) as JsonObject) }
      : metadata,
    spec: pick(spec, ['hostNetwork', 'nodeName']),
    status: pick(status, ['phase', 'podIP', 'podIPs']),
  }
}

const METADATA = ['labels', 'name', 'namespace']

/** The annotation of a pod that names its networks and its addresses on them. */
export const POD_NETWORKS = 'k8s.ovn.org/pod-networks'

/** The value with these keys only; what is no mapping stays as it is, to be complained about. */
function pick(value: unknown, keys: readonly string[]): unknown {
  if (!isObject(value)) return value
  const picked: Record<string, unknown> = {}
  for (const key of keys) if (Object.hasOwn(value, key)) picked[key] = value[key]
  return picked
}
