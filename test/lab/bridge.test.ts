import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NETWORK_CT_MARK_BASE } from '../../src/model/numbers.js'
import { describeWith } from '../requires.js'
import { type ClusterEgress, clusterNode, networkOf, render, type Tenant } from './inputs.js'
import { buildNetwork, CLIENT, type LabNode, type Network } from './network.js'
import { converge } from './shop.js'
import { joinTenant, type TenantPorts } from './tenants.js'
import { serve, visit } from './traffic.js'

const SUBNETS = [
  { cidr: '10.20.0.0/16', hostSubnet: 24 },
  { cidr: 'fd20::/48', hostSubnet: 64 },
]
const TENANTS: readonly Tenant[] = ['blue', 'red'].map((name, index) => ({ name, id: index + 1, subnets: SUBNETS, overlay: true }))
/** Both tenants have a pod with these addresses. */
const POD = { addresses: ['10.20.11.5/24', 'fd20:0:0:11::5/64'], gateways: ['10.20.11.1', 'fd20:0:0:11::1'] }
const SOURCES = ['10.20.11.5', 'fd20:0:0:11::5']
const STATIONS = [CLIENT.ipv4, CLIENT.ipv6]
const NODE = clusterNode(
  'node-a',
  11,
  Object.fromEntries(TENANTS.map((tenant) => [networkOf(tenant), ['10.20.11.0/24', 'fd20:0:0:11::/64']])),
)
const NODE_ADDRESSES = NODE.addresses.map((address) => address.replace(/\/.*/, ''))
/** Egress IPs of the tenants on the primary network. An EgressIP never has two addresses on one node, so there is one for each family. */
const EGRESS_IPS = [
  ['192.0.2.60', '192.0.2.61'],
  ['2001:db8:1::60', '2001:db8:1::61'],
] as const

describeWith(['linux', 'root', 'ip', 'nft', 'ovs', 'conntrack'], 'pods of user-defined networks', () => {
  describe.each(['shared', 'local'] as const)('in %s gateway mode', (mode) => {
    let network: Network
    let node: LabNode
    let ports: readonly TenantPorts[]

    beforeAll(async () => {
      network = buildNetwork(
        [NODE],
        TENANTS.map((tenant) => `${networkOf(tenant)}_`),
      )
      node = network.nodes[0] as LabNode
      await serve(network.client, STATIONS)
      ports = TENANTS.map((tenant) => joinTenant(node, tenant, POD))
    })

    afterAll(() => {
      for (const { pod } of ports ?? []) pod.close()
      network?.close()
    })

    /** Has the node hold these egress IPs, and br-int mark each tenant's packets as its EgressIP says. */
    async function hold(name: string, egress: readonly ClusterEgress[], spec: object = {}): Promise<void> {
      const out = join(network.dir, name)
      render({ nodes: [NODE], mode, tenants: TENANTS, egress, spec }, out)
      await converge(node, join(out, 'nodes', node.name))
      for (const [index, { name: tenant }] of TENANTS.entries()) {
        const own = egress.find(({ namespace }) => namespace === tenant)
        ports[index]?.mark(own ? markOf(join(out, 'manifests', `EgressIP.${own.name}.yaml`)) : null)
      }
    }

    let port = 40000
    /** What a station sees of the pod of each tenant; both come from the same address and port, at the same time. */
    async function seen(family: number, protocol: 'tcp' | 'udp', flow: 'new' | 'old' = 'new'): Promise<readonly string[]> {
      // A port that was never used: a connection keeps the source that it began with.
      if (flow === 'new') port++
      return await Promise.all(ports.map(({ pod }) => visit(pod, protocol, SOURCES[family] ?? '', STATIONS[family] ?? '', port)))
    }

    const both = (family: number) => NODE_ADDRESSES[family] ?? ''
    const held = (family: number, tenants: readonly Tenant[]): readonly ClusterEgress[] =>
      tenants.map(({ name, id }) => ({
        name: `${name}-${family}`,
        addresses: [EGRESS_IPS[family as 0 | 1][id - 1] ?? ''],
        node: NODE.name,
        namespace: name,
      }))

    it('with the same addresses leave with the address of the node, and each gets the answers to its own questions', async () => {
      await hold('none', [])
      for (const family of [0, 1]) {
        for (const protocol of ['tcp', 'udp'] as const) expect(await seen(family, protocol)).toEqual([both(family), both(family)])
        const echoes = ports.map(({ pod }) => visit(pod, 'icmp', SOURCES[family] ?? '', STATIONS[family] ?? ''))
        expect(await Promise.all(echoes)).toEqual(['answered', 'answered'])
      }
    })

    it('get no answer where no flow leads the mark of their connections back to their network', async () => {
      await hold('none', [])
      const mark = NETWORK_CT_MARK_BASE + (TENANTS[1]?.id ?? 0)
      node.ovs.ofctl('del-flows', node.bridge, `table=1,ct_mark=${mark}`)
      for (const family of [0, 1]) expect(await seen(family, 'udp')).toEqual([both(family), 'no answer'])
    })

    it.each([
      ['IPv4', 0],
      ['IPv6', 1],
    ])('leave with the egress IP of their own network, over %s', async (_, family) => {
      await hold(`one-${family}`, held(family, TENANTS.slice(0, 1)))
      for (const protocol of ['tcp', 'udp'] as const)
        expect(await seen(family, protocol)).toEqual([EGRESS_IPS[family as 0 | 1][0], both(family)])
      await hold(`two-${family}`, held(family, TENANTS))
      for (const protocol of ['tcp', 'udp'] as const) expect(await seen(family, protocol)).toEqual(EGRESS_IPS[family as 0 | 1])
      // Without the flow of the mark the packet takes the way of all pods of its network.
      node.ovs.ofctl(
        'del-flows',
        node.bridge,
        `table=0,pkt_mark=${markOf(join(network.dir, `two-${family}`, 'manifests', `EgressIP.blue-${family}.yaml`))}`,
      )
      expect(await seen(family, 'tcp')).toEqual([both(family), EGRESS_IPS[family as 0 | 1][1]])
    })

    it.each([
      ['IPv4', 0],
      ['IPv6', 1],
    ])('lose it with its EgressIP, in flows that last too, over %s', async (_, family) => {
      await hold(`held-${family}`, held(family, TENANTS))
      expect(await seen(family, 'udp')).toEqual(EGRESS_IPS[family as 0 | 1])
      await hold(`left-${family}`, held(family, TENANTS.slice(1)))
      expect(await seen(family, 'udp', 'old')).toEqual([both(family), EGRESS_IPS[family as 0 | 1][1]])
    })

    it('keep it in flows that last where the cluster says so', async () => {
      const keep = { conntrack: 'keep' }
      await hold('keep', held(0, TENANTS), keep)
      expect(await seen(0, 'udp')).toEqual(EGRESS_IPS[0])
      await hold('kept', held(0, TENANTS.slice(1)), keep)
      expect(await seen(0, 'udp', 'old')).toEqual(EGRESS_IPS[0])
      expect(await seen(0, 'udp')).toEqual([both(0), EGRESS_IPS[0][1]])
    })
  })
})

function markOf(manifest: string): number {
  const { metadata } = load(readFileSync(manifest, 'utf8')) as { metadata: { annotations: Record<string, string> } }
  return Number(metadata.annotations['k8s.ovn.org/egressip-mark'])
}
