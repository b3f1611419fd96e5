import type { Prefix } from '../model/address.js'
import { aggregateNetworks } from '../model/aggregate.js'
import type { Inputs } from '../model/inputs.js'
import { networksOf } from './prefixes.js'

/**
 * The pod subnets of the default network in the whole cluster: as it is configured; of a family for which no input says it, exactly the
 * subnets of the nodes. Without them nothing would keep packets of pods that OVN has not translated yet off the wire.
 */
export function podSubnets({ cluster, topology }: Pick<Inputs, 'cluster' | 'topology'>): readonly Prefix[] {
  const configured = networksOf(cluster.subnets.pod)
  const families = new Set(configured.map(({ address }) => address.family))
  const ofNodes = topology.nodes
    .flatMap((node) => node.podSubnets.get('default') ?? [])
    .filter(({ address }) => !families.has(address.family))
  return networksOf([...configured, ...aggregateNetworks(ofNodes)])
}
