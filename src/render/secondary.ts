import { compareAddresses, type Prefix, printPrefix } from '../model/address.js'
import type { NodeState } from '../model/node-state.js'
import type { EgressPod } from '../syntax/egress-nat.js'
import { deviceOf } from '../syntax/symbols.js'

/** An egress IP on a secondary interface, with the network that says which. */
interface SecondaryAddress {
  readonly network: Prefix
  readonly egressIP: NodeState['secondary'][number]['egressIPs'][number]
}

/** The secondary egress IPs of a node in the order of their objects, then addresses. */
export const secondaryAddresses = ({ secondary }: Pick<NodeState, 'secondary'>): readonly SecondaryAddress[] =>
  secondary
    .flatMap(({ network, egressIPs }) => egressIPs.map((egressIP) => ({ network, egressIP })))
    .sort(({ egressIP: a }, { egressIP: b }) => (a.for === b.for ? compareAddresses(a.address, b.address) : a.for < b.for ? -1 : 1))

/**
 * The pods that leave through secondary interfaces. One that several objects select has one way out: that of the first object by name, so
 * that its rule and its translation agree.
 */
export function egressPods(state: Pick<NodeState, 'secondary'>): readonly EgressPod[] {
  const first = new Map<string, EgressPod>()
  for (const { network, egressIP } of secondaryAddresses(state)) {
    const device = deviceOf(network)
    for (const pod of egressIP.pods) {
      if (!first.has(pod.text)) first.set(pod.text, { pod, device, address: egressIP.address, for: egressIP.for })
    }
  }
  return [...first.values()]
}

/** The networks of secondary interfaces on which a node holds egress IPs, each once with the first of their objects. */
export const secondaryNetworks = (state: Pick<NodeState, 'secondary'>): readonly { readonly network: Prefix; readonly for: string }[] => {
  const first = new Map<string, { readonly network: Prefix; readonly for: string }>()
  for (const { network, egressIP } of secondaryAddresses(state)) {
    const key = printPrefix(network)
    if (!first.has(key)) first.set(key, { network, for: egressIP.for })
  }
  return [...first.values()]
}
