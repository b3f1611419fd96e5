import { type Address, compareAddresses, type Prefix, printPrefix } from '../model/address.js'
import type { SecondaryNetwork } from '../model/node-state.js'
import { type Audience, nameOf } from './audience.js'
import { each, type Hosted } from './egressip.js'

/**
 * The networks of secondary interfaces on which a node holds egress IPs, with the pods that leave with each. A pod leaves with one address
 * of its family: of several the first.
 */
export function secondaryNetworks(hosted: readonly Hosted[], { podsOf }: Audience): readonly SecondaryNetwork[] {
  const networks = new Map<string, { network: Prefix; egressIPs: SecondaryNetwork['egressIPs'][number][] }>()
  const speaking = new Set<string>()
  const own = (pods: readonly Address[]): readonly Address[] => {
    const free = pods.filter(({ text }) => !speaking.has(text))
    for (const { text } of free) speaking.add(text)
    // The same list where it is whole: what is made from it is made once for all nodes of the object.
    return free.length === pods.length ? pods : free
  }
  for (const { address, for: origin, hosting } of each(hosted)) {
    if (hosting?.type !== 'secondary') continue
    const key = printPrefix(hosting.network)
    const found = networks.get(key) ?? { network: hosting.network, egressIPs: [] }
    networks.set(key, found)
    found.egressIPs.push({ address, for: origin, pods: own(podsOf(nameOf(origin), address.family)) })
  }
  return [...networks.values()].sort(
    (a, b) => compareAddresses(a.network.address, b.network.address) || a.network.length - b.network.length,
  )
}
