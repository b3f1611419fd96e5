import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { neighbors } from '../../src/syntax/neighbors.js'
import { describeWith } from '../requires.js'
import { capture, type Heard } from './capture.js'
import { clusterNode, networkOf, render, type Tenant } from './inputs.js'
import { until } from './netns.js'
import { buildNetwork, CARD, type LabNode, type Network } from './network.js'
import { startOvs } from './ovs.js'
import { converge } from './shop.js'

const TENANTS: readonly Tenant[] = [
  { name: 'blue', id: 1, overlay: true },
  { name: 'red', id: 2, overlay: false },
].map((tenant) => ({
  ...tenant,
  subnets: [
    { cidr: `10.2${tenant.id}.0.0/16`, hostSubnet: 24 },
    { cidr: `fd2${tenant.id}::/48`, hostSubnet: 64 },
  ],
}))
const NODE = clusterNode(
  'node-a',
  11,
  Object.fromEntries(TENANTS.map((tenant) => [networkOf(tenant), [`10.2${tenant.id}.11.0/24`, `fd2${tenant.id}:0:0:11::/64`]])),
)
/** Services, in the networks of the lab; the host reaches them through the dummy next hop. */
const SERVICES = ['172.30.0.10', 'fd02::10']

const isMasquerade = (address: string): boolean => /^(169\.254\.|fd69:)/.test(address)

describeWith(['linux', 'root', 'ip', 'nft', 'ovs', 'tcpdump'], 'masquerade addresses', () => {
  let network: Network
  let node: LabNode

  beforeAll(() => {
    network = buildNetwork(
      [NODE],
      TENANTS.map((tenant) => `${networkOf(tenant)}_`),
    )
    node = network.nodes[0] as LabNode
  })

  afterAll(() => network?.close())

  const bundleOf = (mode: 'shared' | 'local', tenants: readonly Tenant[] = TENANTS): string => {
    const out = join(network.dir, `${mode}-${tenants.length}`)
    render({ nodes: [NODE], mode, tenants }, out)
    return join(out, 'nodes', node.name)
  }

  /** The masquerade addresses that a bundle has a neighbor for. */
  const known = (bundle: string): readonly string[] =>
    neighbors
      .parse(readFileSync(join(bundle, 'neighbors.json'), 'utf8'))
      .map(({ dst }) => dst.text)
      .filter(isMasquerade)

  const permanent = (): readonly string[] =>
    ['-4', '-6'].flatMap((family) =>
      JSON.parse(node.namespace.exec('ip', ['-j', family, 'neigh', 'show', 'dev', node.bridge, 'nud', 'permanent']).stdout).map(
        ({ dst }: { dst: string }) => dst,
      ),
    )

  /** What the host says about masquerade addresses on the wire while it sends to these. */
  async function said(name: string, targets: readonly string[]): Promise<readonly Heard[]> {
    const listening = await capture(node.namespace, CARD, join(network.dir, `${name}.pcap`))
    for (const target of targets) {
      // The kernel asks at once where it has to; a blocked answer is of no interest.
      node.namespace.exec('perl', ['-MSocket=:all', '-e', SEND, target])
    }
    return (await listening.stop()).filter(({ address }) => isMasquerade(address))
  }

  describe.each(['shared', 'local'] as const)('in %s gateway mode', (mode) => {
    it('are never asked for on the wire, whatever the host sends them', async () => {
      const bundle = bundleOf(mode)
      await converge(node, bundle)
      expect(known(bundle).length).toBeGreaterThanOrEqual(8)
      expect(await said(`${mode}-kept`, [...known(bundle), ...SERVICES])).toEqual([])
    })

    it('are asked for, to everybody, where the neighbor is missing', async () => {
      const bundle = bundleOf(mode)
      await converge(node, bundle)
      for (const address of known(bundle)) {
        node.namespace.exec('ip', ['neigh', 'del', address, 'dev', node.bridge])
        const questions = (await said(`${mode}-missing`, [address])).filter(({ kind }) => kind === 'question')
        expect(questions.map((heard) => heard.address)).toContain(address)
      }
    })
  })

  it('lose their neighbors with their network', async () => {
    await converge(node, bundleOf('local'))
    expect(permanent()).toEqual(expect.arrayContaining(['169.254.0.11', '169.254.0.13', 'fd69::b', 'fd69::d']))
    await converge(node, bundleOf('local', TENANTS.slice(0, 1)))
    expect(permanent()).toEqual(expect.arrayContaining(['169.254.0.11', 'fd69::b']))
    expect(permanent()).not.toContain('169.254.0.13')
    expect(permanent()).not.toContain('fd69::d')
  })

  it('have their neighbors again, and the patch ports their flag, after ovs-vswitchd restarted and the bridge came back empty', async () => {
    const bundle = bundleOf('local')
    await converge(node, bundle)
    const flags = (): readonly string[] => node.ovs.noFlood(node.bridge)
    const expected = TENANTS.map((tenant) =>
      node.ovs.vsctl('get', 'interface', `patch-${node.bridge}_${networkOf(tenant)}_${node.name}-to-br-int`, 'ofport'),
    ).sort()
    expect(flags()).toEqual(expected)
    expect(permanent()).toEqual(expect.arrayContaining([...known(bundle)]))
    node.ovs.stop()
    // The userspace data path leaves its device behind, with all that the kernel knows about it; the kernel's own does not.
    node.namespace.exec('ip', ['link', 'del', node.bridge])
    startOvs(node.namespace, node.ovs.rundir)
    await until('bridge that is back', 10, () => node.namespace.exec('ip', ['link', 'show', node.bridge], { mayFail: true }).status === 0)
    // The network configuration of the host gives the bridge its addresses again.
    node.namespace.exec('ip', ['link', 'set', node.bridge, 'up'])
    for (const address of node.addresses)
      node.namespace.exec('ip', ['addr', 'add', address, 'dev', node.bridge, ...(address.includes(':') ? ['nodad'] : [])])
    expect(flags()).toEqual([])
    expect(permanent()).toEqual([])
    await converge(node, bundle)
    expect(flags()).toEqual(expected)
    expect(permanent()).toEqual(expect.arrayContaining([...known(bundle)]))
  })
})

/** One UDP packet to an address. */
const SEND = `
  my $target = shift;
  my $family = $target =~ /:/ ? AF_INET6 : AF_INET;
  socket(my $socket, $family, SOCK_DGRAM, 0) or die "socket: $!";
  my $bytes = inet_pton($family, $target);
  send($socket, "egretta", 0, $family == AF_INET ? pack_sockaddr_in(9, $bytes) : pack_sockaddr_in6(9, $bytes)) or die "$target: $!";
`
