import { type Address, addressOf, compareAddresses, lastOf, networkOf, type Prefix, printPrefix } from '../model/address.js'
import type { Hosting } from '../model/assignment.js'
import type { Inputs } from '../model/inputs.js'
import { type PrefixIndex, prefixIndex } from '../model/prefix-index.js'

/**
 * Tells why an address may not be an egress IP although no host has it, as the end of the sentence "… is reserved: it is …";
 * null when it may. Reserved are the first and the last address of a network that would host it (IPv4 up to /30; of IPv6 up to
 * /126 the first, the subnet-router anycast address of RFC 4291), every next hop, and the cluster's own subnets.
 */
export function reservations({ cluster, topology }: Inputs): (address: Address, networks: readonly Hosting[]) => string | null {
  const subnets = (['pod', 'service', 'join', 'transit', 'masquerade'] as const).map((kind) => ({
    kind,
    index: indexed([
      ...cluster.subnets[kind],
      ...(kind === 'pod' ? [...topology.facts.podSubnets, ...topology.nodes.flatMap((node) => [...node.podSubnets.values()].flat())] : []),
      ...(kind === 'service' ? topology.facts.serviceSubnets : []),
      ...(kind === 'masquerade' ? topology.nodes.flatMap((node) => node.masqueradeSubnets) : []),
    ]),
  }))
  const nextHops = new Map<string, string>()
  for (const node of [...topology.nodes].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const hop of node.gateway?.nextHops ?? []) if (!nextHops.has(hop.text)) nextHops.set(hop.text, node.name)
  }
  return (address, networks) => {
    for (const { network } of networks) {
      const edge = edgeOf(network, address)
      if (edge) return edge
    }
    const node = nextHops.get(address.text)
    if (node !== undefined) return `it is a next hop of ${node}`
    for (const { kind, index } of subnets) {
      const [subnet] = index.containing(address)
      if (subnet) return `it lies in the ${kind} subnet ${printPrefix(subnet)}`
    }
    return null
  }
}

function edgeOf(network: Prefix, address: Address): string | null {
  const { family, value } = networkOf(network).address
  if (network.length > (family === 4 ? 30 : 126)) return null
  if (compareAddresses(address, addressOf(family, value)) === 0) {
    return family === 4
      ? `it is the network address of ${printPrefix(network)}`
      : `it is the subnet-router anycast address of ${printPrefix(network)}`
  }
  return family === 4 && compareAddresses(address, lastOf(network)) === 0 ? `it is the broadcast address of ${printPrefix(network)}` : null
}

/** An index of networks, each once. */
function indexed(prefixes: readonly Prefix[]): PrefixIndex<Prefix> {
  const byText = new Map(prefixes.map(networkOf).map((prefix) => [printPrefix(prefix), prefix]))
  return prefixIndex([...byText.values()].map((prefix) => [prefix, prefix]))
}
