import { type Address, compareAddresses, hostPrefix, type Prefix } from '../model/address.js'
import type { Cluster } from '../model/cluster.js'
import type { ExternalBridge, NodeRoute } from '../model/node-state.js'
import { DUMMY_NEXT_HOP, HOST_ETP_LOCAL_MASQUERADE, HOST_MASQUERADE, OVN_MASQUERADE } from '../model/numbers.js'
import { isBefore } from '../model/release.js'
import type { GatewayNode } from './bridge.js'
import { firstPodAddress, masqueradeAddress } from './masquerade.js'

/** The management port of ovnkube where the cluster does not name it. */
const MANAGEMENT_PORT = 'ovn-k8s-mp0'

/**
 * The routes of the main table by which a host reaches services and masquerade addresses. Since release 4.10 services are behind the dummy
 * next hop of the bridge in both gateway modes; before, behind the management port in local mode and the physical next hop in shared mode.
 */
export function mainRoutes(
  { release, mtu, managementPort }: Cluster,
  node: GatewayNode,
  bridge: string,
  { mode, serviceSubnets, masqueradeSubnets, nodeAddresses, extraAddresses }: ExternalBridge,
): readonly NodeRoute[] {
  const origin = `Node/${node.name}`
  const older = isBefore(release, '4.10')
  // InternalIPs can list egress IPs, which the host must not speak with.
  const own = new Set([...nodeAddresses, ...extraAddresses].map(({ text }) => text))
  const internalIPs = node.internalIPs.filter(({ text }) => own.has(text))
  const routes = ([4, 6] as const).flatMap((family): readonly NodeRoute[] => {
    const masquerade = masqueradeSubnets.find(({ address }) => address.family === family)
    const at = (offset: number): Address | null => (masquerade ? masqueradeAddress(masquerade, offset) : null)
    const services = serviceSubnets.filter(({ address }) => address.family === family)
    const via = (gateway: Address | null, rest: Pick<NodeRoute, 'interface' | 'source' | 'mtu'>): readonly NodeRoute[] =>
      gateway ? services.map((destination) => ({ destination, gateway, ...rest, for: origin })) : []
    const router = firstPodAddress(node, family)
    if (older && mode === 'local') return via(router, { interface: managementPort ?? MANAGEMENT_PORT, source: null, mtu: null })
    if (older) return via(nextHop(node, family), { interface: bridge, source: null, mtu })
    const [ovn, host, etp] = [OVN_MASQUERADE, HOST_MASQUERADE, HOST_ETP_LOCAL_MASQUERADE].map(at) as [Found, Found, Found]
    const internal = [...internalIPs, ...nodeAddresses].find((address) => address.family === family) ?? null
    const toOvn = (destination: Prefix): NodeRoute => ({
      destination,
      gateway: null,
      interface: bridge,
      source: internal,
      mtu: null,
      for: origin,
    })
    const toEtp = (destination: Prefix): readonly NodeRoute[] =>
      managementPort && router ? [{ destination, gateway: router, interface: managementPort, source: null, mtu: null, for: origin }] : []
    return [
      ...via(at(DUMMY_NEXT_HOP), { interface: bridge, source: host, mtu }),
      ...(ovn ? [toOvn(hostPrefix(ovn))] : []),
      ...(etp ? toEtp(hostPrefix(etp)) : []),
    ]
  })
  return routes.sort(
    (a, b) => compareAddresses(a.destination.address, b.destination.address) || a.destination.length - b.destination.length,
  )
}

type Found = Address | null

const nextHop = ({ gateway }: GatewayNode, family: 4 | 6): Address | null =>
  gateway.nextHops.find((address) => address.family === family) ?? null
