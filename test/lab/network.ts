import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { nth, parsePrefix } from '../../src/model/address.js'
import { atExit } from './clean-up.js'
import { bridge, cable, createNamespace, type Namespace, offloadsOff } from './netns.js'
import { addBridge, addPatch, type OpenVSwitch, startOvs } from './ovs.js'

/** The network card of a node: where the guard's hooks are. */
export const CARD = 'ens3'
/** The client's card. */
export const CLIENT_CARD = 'eth0'
/** The management port of the nodes. Its usual name would show the agent that ovnkube-node is at work here. */
export const MANAGEMENT_PORT = 'mgmt0'
/** The client is a neighbor of the nodes: an upstream router, a firewall. */
export const CLIENT = { ipv4: '192.0.2.100', ipv6: '2001:db8:1::100', mac: '00:00:5e:00:53:64' }

/** What a Node object says of the host: annotations k8s.ovn.org/l3-gateway-config and node-subnets. */
export interface NodeFacts {
  readonly name: string
  readonly bridge: string
  readonly mac: string
  /** With prefix length. */
  readonly addresses: readonly string[]
  /** Addresses of the management port, with prefix length; none: the node has none. */
  readonly management: readonly string[]
}

/** A node that stands: its namespace, its Open vSwitch, and where its agent keeps its state. */
export interface LabNode extends NodeFacts {
  readonly namespace: Namespace
  readonly ovs: OpenVSwitch
  readonly stateDir: string
}

export interface Network {
  /** Folder of the run, in the temporary directory. */
  readonly dir: string
  readonly client: Namespace
  readonly nodes: readonly LabNode[]
  /** All namespaces of the run. */
  readonly namespaces: readonly Namespace[]
  /** Takes everything down. Again is fine. */
  close(): void
}

/** The facts of the nodes in a file that holds a List of Node objects, in the order of `names`. */
export function nodeFacts(file: string, names: readonly string[]): readonly NodeFacts[] {
  const { items } = load(readFileSync(file, 'utf8')) as {
    items: { metadata: { name: string; annotations: Record<string, string> } }[]
  }
  return names.map((name) => {
    const annotations = items.find((item) => item.metadata.name === name)?.metadata.annotations
    const [gateway, subnets] = ['k8s.ovn.org/l3-gateway-config', 'k8s.ovn.org/node-subnets'].map((key) => annotations?.[key])
    if (gateway === undefined || subnets === undefined) throw new Error(`${file} has no node ${name} with a gateway and pods`)
    const { 'bridge-id': bridge, 'mac-address': mac, 'ip-addresses': addresses } = JSON.parse(gateway).default
    return { name, bridge, mac, addresses, management: JSON.parse(subnets).default.map(managementAddress) }
  })
}

/** The management port has the second address of a pod subnet of the node. */
function managementAddress(subnet: string): string {
  const prefix = parsePrefix(subnet)
  const second = prefix && nth(prefix, 2)
  if (!second) throw new Error(`${subnet} is no pod subnet`)
  return `${second.text}/${prefix.length}`
}

/**
 * One segment with the nodes and a client on it. `networks` are the prefixes of user-defined networks in patch port names.
 *
 *     client eth0 ── bridge br0 ── ens3 ── bridge brul ── ul0 ═ ul1 ── breth0 (LOCAL: the node's addresses) ── br-int
 *                    (segment)     └───────────────── one node ─────────────────────────────────────────────────┘
 *
 * The Linux bridge between ens3 and breth0 is what makes the guard's hook on ens3 work here: the userspace data path reads frames
 * through AF_PACKET, which taps a device before its hook. With the kernel's data path ens3 is the port itself.
 */
export function buildNetwork(facts: readonly NodeFacts[], networks: readonly string[] = []): Network {
  const dir = mkdtempSync(join(tmpdir(), 'egretta-'))
  const removeDir = (): void => rmSync(dir, { recursive: true, force: true })
  const forget = atExit(removeDir)
  const segment = createNamespace('segment')
  const client = createNamespace('client')
  cable({ namespace: segment, device: 'client' }, { namespace: client, device: CLIENT_CARD, mac: CLIENT.mac })
  client.exec('ip', ['addr', 'add', `${CLIENT.ipv4}/24`, 'dev', CLIENT_CARD])
  client.exec('ip', ['addr', 'add', `${CLIENT.ipv6}/64`, 'dev', CLIENT_CARD, 'nodad'])
  const nodes = facts.map((node) => buildNode(node, segment, join(dir, node.name), networks))
  bridge(segment, 'br0', ['client', ...facts.map(cableName)])
  const namespaces = [segment, client, ...nodes.map((node) => node.namespace)]
  return {
    dir,
    client,
    nodes,
    namespaces,
    close: () => {
      for (const namespace of namespaces) namespace.close()
      forget()
      removeDir()
    },
  }
}

/** An interface name has at most 15 characters. */
const cableName = (node: NodeFacts): string => node.name.slice(-15)

function buildNode(node: NodeFacts, segment: Namespace, dir: string, networks: readonly string[]): LabNode {
  const namespace = createNamespace(node.name)
  cable({ namespace: segment, device: cableName(node) }, { namespace, device: CARD })
  const ovs = startOvs(namespace, dir)
  addBridge(namespace, ovs, 'br-int')
  cable({ namespace, device: 'ul0' }, { namespace, device: 'ul1' })
  bridge(namespace, 'brul', [CARD, 'ul0'])
  buildBridge(node, namespace, ovs, networks)
  // The kernel would answer for every address of the node on these devices too: one node would show three MACs.
  for (const device of ['brul', 'ul0', 'ul1', CARD]) {
    namespace.exec('ip', ['link', 'set', device, 'arp', 'off'])
    namespace.exec('sysctl', ['-qw', `net.ipv6.conf.${device}.disable_ipv6=1`])
  }
  setUpBridge(node, namespace)
  if (node.management.length > 0) cable({ namespace, device: MANAGEMENT_PORT }, { namespace, device: 'mgmt1' })
  for (const address of node.management) {
    namespace.exec('ip', ['addr', 'add', address, 'dev', MANAGEMENT_PORT, ...(address.includes(':') ? ['nodad'] : [])])
  }
  return { ...node, namespace, ovs, stateDir: join(dir, 'state') }
}

/** The external bridge of a node, without its addresses. */
export function buildBridge(node: NodeFacts, namespace: Namespace, ovs: OpenVSwitch, networks: readonly string[] = []): void {
  addBridge(namespace, ovs, node.bridge, node.mac)
  for (const prefix of ['', ...networks]) addPatch(ovs, node.bridge, `${prefix}${node.name}`)
  ovs.vsctl('add-port', node.bridge, 'ul1')
}

/** Gives a node's own addresses to its bridge, as the network configuration of its operating system does. */
export function setUpBridge(node: NodeFacts, namespace: Namespace): void {
  namespace.exec('ip', ['link', 'set', node.bridge, 'up'])
  offloadsOff(namespace, node.bridge)
  for (const address of node.addresses) {
    namespace.exec('ip', ['addr', 'replace', address, 'dev', node.bridge, ...(address.includes(':') ? ['nodad'] : [])])
  }
}
