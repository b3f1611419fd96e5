import type { Prefix } from '../model/address.js'
import { aggregate } from '../model/aggregate.js'
import type { Inputs } from '../model/inputs.js'
import { certainAddresses } from './egressip.js'

/**
 * The addresses of all nodes of the cluster, in as few prefixes as hold exactly them. An egress IP that a node lists among its InternalIPs
 * is none of them, wherever it is now: a move must not change what all nodes hold.
 */
export function clusterAddresses({ intent, topology }: Pick<Inputs, 'intent' | 'topology'>): readonly Prefix[] {
  const egressIPs = new Set<string>()
  for (const { addresses, status } of [...intent.objects, ...intent.gone, ...intent.foreign]) {
    for (const { address } of addresses) if (address) egressIPs.add(address.text)
    for (const text of status.keys()) egressIPs.add(text)
  }
  return aggregate(
    topology.nodes.flatMap((node) => {
      const held = new Set(node.heldEgressIPs.map(({ text }) => text))
      return [...certainAddresses(node), ...node.internalIPs.filter(({ text }) => !egressIPs.has(text) && !held.has(text))]
    }),
  )
}
