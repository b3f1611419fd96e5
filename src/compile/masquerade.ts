import {
  type Address,
  addressOf,
  compareAddresses,
  type Family,
  hardwareAddress,
  networkOf,
  nth,
  type Prefix,
  printPrefix,
  width,
} from '../model/address.js'
import type { Origin } from '../model/masquerade.js'
import type { NodeState } from '../model/node-state.js'
import { DUMMY_NEXT_HOP, HOST_MASQUERADE, NETWORK_MASQUERADE_BASE, OVN_MASQUERADE } from '../model/numbers.js'
import { type Position, type Problem, problem } from '../model/problem.js'
import type { ClusterNode, UserDefinedNetwork } from '../model/topology.js'

type MasqueradeNeighbor = NodeState['neighbors'][number]

/** One masquerade address that a node needs: its offset in the subnet, and the last one of the block that it belongs to. */
interface Need {
  readonly offset: number
  readonly last: number
  readonly for: string
  /** The network that a problem is about; null for the default one. */
  readonly network: string | null
  readonly source: Position | null
  /** The subject of the sentence that says it does not fit. */
  readonly subject: string
}

/** Offset of a network's gateway router; its management port has the next one (seed 002). */
const gatewayRouter = (id: number): number => NETWORK_MASQUERADE_BASE + 2 * id - 1

/**
 * The neighbors that keep the kernel from asking the wire for masquerade addresses (seed 002): per subnet the OVN masquerade address and the
 * dummy next hop, and the gateway router's address of every primary user-defined network that has an id. What does not fit the subnet is left
 * out, with a problem: of the network, or for the default one of what `originOf` says the subnet comes from.
 */
export function masqueradeNeighbors(
  node: string,
  bridge: string,
  subnets: readonly Prefix[],
  networks: readonly UserDefinedNetwork[],
  originOf: (subnet: Prefix) => Origin | null = () => null,
): { readonly neighbors: readonly MasqueradeNeighbor[]; readonly problems: readonly Problem[] } {
  const neighbors: MasqueradeNeighbor[] = []
  const problems: Problem[] = []
  const needs: readonly Need[] = [
    ...[OVN_MASQUERADE, DUMMY_NEXT_HOP].map((offset) => ({
      offset,
      last: DUMMY_NEXT_HOP,
      for: `Node/${node}`,
      network: null,
      source: null,
      subject: 'The default network',
    })),
    ...networks.flatMap((network) => (network.id === null ? [] : [needOf(network, network.id)])),
  ]
  for (const subnet of subnets) {
    for (const need of needs) {
      const address = fits(subnet, need.last) ? nthOf(subnet, need.offset) : null
      if (address) neighbors.push({ address, mac: macOf(address), interface: bridge, for: need.for })
      else problems.push(tooSmall(subnet, need, originOf))
    }
  }
  return { neighbors: neighbors.sort((a, b) => compareAddresses(a.address, b.address)), problems }
}

const needOf = (network: UserDefinedNetwork, id: number): Need => ({
  offset: gatewayRouter(id),
  last: gatewayRouter(id) + 1,
  for: network.for,
  network: network.for,
  source: network.source,
  subject: `Network ${network.network} (id ${id})`,
})

/**
 * The permanent neighbors on the management port: the gateway of the node's pods. The router port has one hardware address, made from its
 * IPv4 address where it has one.
 */
export function managementNeighbors(node: ClusterNode, managementPort: string | null): readonly MasqueradeNeighbor[] {
  const gateways = ([4, 6] as const).flatMap((family) => firstPodAddress(node, family) ?? [])
  const [named] = gateways
  if (managementPort === null || !named) return []
  const mac = hardwareAddress(named)
  return gateways.map((address) => ({ address, mac, interface: managementPort, for: `Node/${node.name}` }))
}

/** The gateway of the node's pods of the default network, behind the management port: the first address of their subnet. */
export function firstPodAddress(node: ClusterNode, family: Family): Address | null {
  const subnet = (node.podSubnets.get('default') ?? []).find(({ address }) => address.family === family)
  return (subnet && nth(subnet, 1)) ?? null
}

/** Number of host bits that a subnet needs to have this offset; in IPv4 the last address is the broadcast address. */
const bitsFor = (family: Family, offset: number): number => (offset + (family === 4 ? 1 : 0)).toString(2).length

const fits = (subnet: Prefix, offset: number): boolean =>
  bitsFor(subnet.address.family, offset) <= width(subnet.address.family) - subnet.length

/** The masquerade address of this offset of the default network; null where the subnet is too small for the network. */
export const masqueradeAddress = (subnet: Prefix, offset: number): Address | null =>
  fits(subnet, DUMMY_NEXT_HOP) ? nthOf(subnet, offset) : null

/** The host masquerade address of each subnet, on the bridge: its connected route covers the subnet (seed 002). */
export const hostMasquerade = (node: string, bridge: string, subnets: readonly Prefix[]): NodeState['masqueradeAddresses'] =>
  subnets.flatMap((subnet) => {
    const address = masqueradeAddress(subnet, HOST_MASQUERADE)
    return address ? [{ address: { address, length: subnet.length }, interface: bridge, for: `Node/${node}` }] : []
  })

/** The addresses of a subnet that were asked for: most nodes have one and the same subnet. */
const KNOWN = new WeakMap<Prefix, Map<number, Address>>()

function nthOf(subnet: Prefix, offset: number): Address {
  const known = KNOWN.get(subnet) ?? new Map<number, Address>()
  KNOWN.set(subnet, known)
  const address = known.get(offset) ?? addressOf(subnet.address.family, networkOf(subnet).address.value + BigInt(offset))
  known.set(offset, address)
  return address
}

const MACS = new WeakMap<Address, string>()

function macOf(address: Address): string {
  const mac = MACS.get(address) ?? hardwareAddress(address)
  MACS.set(address, mac)
  return mac
}

function tooSmall(subnet: Prefix, need: Need, originOf: (subnet: Prefix) => Origin | null): Problem {
  const family = subnet.address.family
  const largest = width(family) - bitsFor(family, need.last)
  const flag = family === 4 ? '--gateway-v4-masquerade-subnet' : '--gateway-v6-masquerade-subnet'
  const said = originOf(subnet)
  const origin = need.network === null ? said : { object: need.network, source: need.source }
  const assumed = said ? '' : ', the default, as no input says another'
  return problem('MasqueradeSubnetTooSmall', {
    ...(said ? {} : { severity: 'warning' }),
    object: origin?.object ?? null,
    source: origin?.source ?? null,
    message: `${need.subject} needs the masquerade address number ${need.last} of ${printPrefix(networkOf(subnet))}${assumed}, which is too small for it.`,
    remedy: `Let the masquerade subnet be at least a /${largest}, for example ${family === 4 ? '169.254.0.0/17' : 'fd69::/112'}: ${flag} of ovnkube, and Cluster.spec.subnets.masquerade.`,
  })
}
