import type { Assignment } from '../model/assignment.js'
import { type ClusterPod, podExclusion } from '../model/pod.js'
import type { Voices } from '../model/speaker.js'
import type { Topology } from '../model/topology.js'

/** What pods notice of one change, beside a new source address. */
export interface Disruption {
  readonly egressIP: string
  readonly object: string
  readonly node: string
  /** Where the address was; null: it is new. */
  readonly from: string | null
  /** How many pods use the address until now. Their established connections break when it moves: conntrack stays behind. */
  readonly pods: number
  /**
   * User-defined networks of pods that will use the address which are not on the node yet, as far as the inputs show. With dynamic
   * allocation of such networks (seed 003) traffic waits until the node has rendered them.
   */
  readonly networks: readonly string[]
}

/** Every move, and every new address whose node does not have a network of its pods yet; in the order of the assignments. */
export function disruptionsOf(
  topology: Topology,
  assignments: readonly Assignment[],
  voices: { readonly before: Voices; readonly after: Voices },
): readonly Disruption[] {
  const changed = assignments.filter((one) => one.change === 'add' || one.change === 'move')
  if (changed.length === 0) return []
  const before = usersOf(voices.before)
  const after = usersOf(voices.after)
  const isThere = rendered(topology)
  return changed.flatMap(({ egressIP, object, node, from, change, networkType }) => {
    if (node === null) return []
    const networks = new Set(after(object, egressIP).map(({ network }) => network))
    // Pods of a user-defined network do not reach a secondary network of the host at all.
    const missing = networkType === 'secondary' ? [] : [...networks].filter((network) => !isThere(network, node)).sort()
    if (change === 'add' && missing.length === 0) return []
    return [{ egressIP, object, node, from, pods: before(object, egressIP).length, networks: missing }]
  })
}

/** The pods that use an address of an object. */
function usersOf(voices: Voices): (object: string, egressIP: string) => readonly ClusterPod[] {
  const pods = new Map<string, ClusterPod[]>()
  for (const [pod, { object }] of voices) {
    const known = pods.get(object)
    if (known) known.push(pod)
    else pods.set(object, [pod])
  }
  return (object, egressIP) => (pods.get(object) ?? []).filter((pod) => voices.get(pod)?.addresses.has(egressIP))
}

/** Whether a node has a network: the default one, one with a subnet there, or one of which a pod runs there. */
function rendered({ nodes, pods }: Topology): (network: string, node: string) => boolean {
  const subnets = new Map(nodes.map(({ name, podSubnets }) => [name, podSubnets]))
  const inUse = new Set<string>()
  for (const pod of pods) if (pod.network !== 'default' && podExclusion(pod) === null) inUse.add(`${pod.node} ${pod.network}`)
  return (network, node) => network === 'default' || subnets.get(node)?.has(network) === true || inUse.has(`${node} ${network}`)
}
