import { type ClusterNode, type ClusterPod, SECOND_CARD } from './inputs.js'
import { bridge, cable, createNamespace, type Namespace } from './netns.js'
import { buildNetwork, CLIENT, type LabNode, type Network } from './network.js'
import { serve } from './traffic.js'

/** The station on the secondary segment. Only a default route leads to `far`: a node's main table has that on the other network. */
export const SERVER = {
  near: { ipv4: '198.51.100.200', ipv6: '2001:db8:2::200' },
  far: { ipv4: '203.0.113.7', ipv6: '2001:db8:9::7' },
}

/** Nodes with two network cards, pods behind them, and a station on each side that says which source it saw. */
export interface SecondaryLab extends Network {
  readonly server: Namespace
  readonly pods: ReadonlyMap<string, Namespace>
  /** Makes the pods' packets come to this node: what OVN does for the node that has the egress IP. */
  route(node: LabNode): void
  /** Gives a node a new card on the secondary segment, after its own was removed. */
  plug(node: LabNode): void
}

/**
 * The network of `buildNetwork`, and on every node a second card and the pods. A pod is joined to each node by a cable of its own, which
 * stands for the way through OVN to the management port of that node.
 *
 *     client ── primary segment ── ens3 ─┐              ┌─ pod-web ── to-node-a (pod web)
 *                                        ├── (node a) ──┤
 *     server ── secondary segment ─ eth1 ┘              └─ pod-api ── to-node-a (pod api)
 */
export async function buildSecondary(
  facts: readonly ClusterNode[],
  pods: readonly ClusterPod[],
  networks: readonly string[] = [],
): Promise<SecondaryLab> {
  const network = buildNetwork(facts, networks)
  const segment = createNamespace('segment2')
  const server = createNamespace('server')
  cable({ namespace: segment, device: 'server' }, { namespace: server, device: SECOND_CARD })
  addAddresses(server, SECOND_CARD, [`${SERVER.near.ipv4}/24`, `${SERVER.near.ipv6}/64`, `${SERVER.far.ipv4}/32`, `${SERVER.far.ipv6}/128`])
  bridge(segment, 'br1', ['server'])
  const plug = ({ name, namespace, mac }: LabNode): void => {
    const device = name.slice(-15)
    cable({ namespace: segment, device }, { namespace, device: SECOND_CARD, mac: secondMac(mac) })
    segment.exec('ip', ['link', 'set', device, 'master', 'br1'])
    addAddresses(namespace, SECOND_CARD, facts.find((each) => each.name === name)?.secondary ?? [])
  }
  for (const node of network.nodes) {
    plug(node)
    makeRouter(node)
  }
  const namespaces = new Map(pods.map((pod) => [pod.name, buildPod(pod, network.nodes)]))
  await serve(
    server,
    Object.values(SERVER).flatMap(({ ipv4, ipv6 }) => [ipv4, ipv6]),
  )
  await serve(network.client, [CLIENT.ipv4, CLIENT.ipv6])
  const lab: SecondaryLab = {
    ...network,
    server,
    pods: namespaces,
    namespaces: [...network.namespaces, segment, server, ...namespaces.values()],
    route: (node) => {
      for (const pod of namespaces.values()) {
        for (const family of ['-4', '-6'])
          pod.exec('ip', [family, 'route', 'replace', 'default', 'via', 'inet6', 'fe80::1', 'dev', `to-${node.name}`])
      }
    },
    plug,
    close: () => {
      for (const namespace of [segment, server, ...namespaces.values()]) namespace.close()
      network.close()
    },
  }
  const [first] = lab.nodes
  if (first) lab.route(first)
  return lab
}

/** MAC of the second card of a node. */
export const secondMac = (mac: string): string => mac.replace(/^00:/, '02:')

const addAddresses = (namespace: Namespace, device: string, addresses: readonly string[]): void => {
  for (const address of addresses)
    namespace.exec('ip', ['addr', 'add', address, 'dev', device, ...(address.includes(':') ? ['nodad'] : [])])
}

/** What a node's operating system has beside egretta: it forwards, and its default route leads out of the primary card. */
function makeRouter({ namespace, bridge: primary }: LabNode): void {
  namespace.exec('sysctl', ['-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'])
  namespace.exec('ip', ['route', 'add', 'default', 'via', CLIENT.ipv4, 'dev', primary])
  namespace.exec('ip', ['-6', 'route', 'add', 'default', 'via', CLIENT.ipv6, 'dev', primary])
}

function buildPod({ name, addresses }: ClusterPod, nodes: readonly LabNode[]): Namespace {
  const pod = createNamespace(name)
  // Else the first packets wait for a second until the pod's link-local address is known to be unique.
  pod.exec('sysctl', ['-qw', 'net.ipv6.conf.default.dad_transmits=0'])
  for (const { name: nodeName, namespace } of nodes) {
    const [inside, outside] = [`to-${nodeName}`, `pod-${name}`]
    cable({ namespace: pod, device: inside }, { namespace, device: outside })
    namespace.exec('ip', ['addr', 'add', 'fe80::1/64', 'dev', outside, 'nodad'])
    addAddresses(
      pod,
      inside,
      addresses.map((address) => `${address}/${address.includes(':') ? 128 : 32}`),
    )
    for (const address of addresses) namespace.exec('ip', ['route', 'add', address, 'dev', outside])
  }
  return pod
}

/** What marks the packets of pods: userspace Open vSwitch does not carry pkt_mark into the kernel, so nft does it here. */
export function markPods({ namespace, bridge: primary }: LabNode, local: boolean): void {
  const toNodes = local ? ['ip daddr 192.0.2.0/24 meta mark set 0x3f0', 'ip6 daddr 2001:db8:1::/64 meta mark set 0x3f0'] : []
  const masquerade = local
    ? `chain masquerades { type nat hook postrouting priority 101; oifname "${primary}" iifname "pod-*" masquerade; }`
    : ''
  namespace.exec('nft', ['-f', '-'], {
    input: `table inet lab {
      chain marks { type filter hook prerouting priority -160; iifname "pod-*" meta mark set 0x3f1; ${toNodes.map((rule) => `iifname "pod-*" ${rule};`).join(' ')} }
      ${masquerade}
    }`,
  })
}
