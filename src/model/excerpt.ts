import { isObject, type JsonObject } from './json.js'

/**
 * What egretta reads of an object of a kind that clusters have by the hundred thousand, at the same paths: of a pod what `readPod` asks
 * for and when it was made, with sorted keys. The rest is not kept: it takes no part in the digest, and two pods that differ in it alone
 * are equal. Objects of other kinds stay whole.
 */
export function excerptOf(kind: string, apiVersion: string, value: JsonObject): JsonObject {
  if (kind !== 'Pod' || apiVersion !== 'v1') return value
  const { metadata, spec, status } = value
  return {
    apiVersion: value.apiVersion,
    kind: value.kind,
    metadata: of(metadata, ({ annotations, creationTimestamp, labels, name, namespace }) => ({
      annotations: of(annotations, networks),
      creationTimestamp,
      labels,
      name,
      namespace,
    })),
    spec: of(spec, ({ hostNetwork, nodeName }) => ({ hostNetwork, nodeName })),
    status: of(status, ({ phase, podIP, podIPs }) => ({ phase, podIP, podIPs })),
  }
}

/** The annotation of a pod that names its networks and its addresses on them. */
export const POD_NETWORKS = 'k8s.ovn.org/pod-networks'

const networks = (annotations: JsonObject): JsonObject => ({ [POD_NETWORKS]: annotations[POD_NETWORKS] })

/** What is no mapping stays as it is, to be complained about. */
const of = (value: unknown, part: (value: JsonObject) => JsonObject): unknown => (isObject(value) ? part(value) : value)
