import { egressIPs, namespaceObjects } from './egressips.js'
import { benchNodes, nodeObject } from './nodes.js'
import { podObject } from './pods.js'
import { randomOf } from './random.js'

export interface Size {
  readonly objects: number
  readonly nodes: number
  readonly pods: number
}

/** The objects of one cluster by the file they stand in, as kubectl would print them. */
export interface BenchCluster {
  readonly intent: readonly object[]
  readonly nodes: readonly object[]
  readonly namespaces: readonly object[]
  readonly egressIPs: readonly object[]
  readonly pods: readonly object[]
}

/** A bare-metal, dual-stack cluster, the same for the same seed. Up to 5,000 nodes and 120 pods for each. */
export function benchCluster({ objects, nodes: count, pods }: Size, lean = false, seed = 1): BenchCluster {
  const random = randomOf(seed)
  const nodes = benchNodes(count)
  const intents = egressIPs(objects, nodes, random)
  const namespaces = namespaceObjects(objects)
  const size = { nodes: count, namespaces: namespaces.length }
  return {
    intent: intents.map(({ wanted }) => wanted),
    nodes: nodes.map((node, index) => nodeObject(node, index, random)),
    namespaces,
    egressIPs: intents.flatMap(({ live }) => live ?? []),
    pods: Array.from({ length: pods }, (_, index) => podObject(index, size, lean, random)),
  }
}
