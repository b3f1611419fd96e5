import { afterEach, beforeEach, expect, it } from 'vitest'
import { cable, createNamespace, type Namespace } from '../lab/netns.js'
import { describeWith } from '../requires.js'
import { BRIDGE, type Secondary, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

const CARD = 'eth1'
/** What a pod of each family speaks to, by way of which gateway, and the other way that the node has. */
const WAYS = [
  { pod: '10.244.1.3', peer: '203.0.113.9', egressIP: '198.51.100.50', network: '198.51.100.0/24', other: '192.0.2.1', family: 'ip' },
  {
    pod: 'fd00:10:244:1::3',
    peer: '2001:db8:9::9',
    egressIP: '2001:db8:1::50',
    network: '2001:db8:1::/64',
    other: '2001:db8::1',
    family: 'ip6',
  },
] as const

describeWith(
  ['root', 'linux', 'ip', 'nft', 'ovs', 'conntrack'],
  'an established connection with an egress IP of a secondary interface',
  () => {
    let node: Node
    let pod: Namespace
    beforeEach(() => {
      node = openNode('interface')
      pod = createNamespace('pod')
      for (const name of ['net.ipv4.ip_forward', 'net.ipv6.conf.all.forwarding']) node.namespace.exec('sysctl', ['-w', `${name}=1`])
      cable({ namespace: node.namespace, device: CARD }, { namespace: node.namespace, device: 'wire1' })
      cable({ namespace: node.namespace, device: 'pods' }, { namespace: pod, device: 'eth0' })
      ip('addr add 198.51.100.11/24 dev eth1', 'addr add 2001:db8:1::11/64 dev eth1 nodad')
      ip('addr add 10.244.1.1/24 dev pods', 'addr add fd00:10:244:1::1/64 dev pods nodad')
      for (const { pod: address, other } of WAYS) {
        const [length, gateway] = address.includes(':') ? [64, 'fd00:10:244:1::1'] : [24, '10.244.1.1']
        pod.exec('ip', ['addr', 'add', `${address}/${length}`, 'dev', 'eth0', ...(length === 64 ? ['nodad'] : [])])
        pod.exec('ip', ['route', 'add', 'default', 'via', gateway])
        ip(`route add default via ${other} dev ${BRIDGE}`, `neigh add ${other} dev ${BRIDGE} lladdr 02:00:00:00:00:99 nud permanent`)
      }
      const secondary = WAYS.map(({ network, egressIP, pod: address }): Secondary => ({ network, egressIP, pods: [address] }))
      writeBundle(node.bundle, { egress: [], masquerade: [], secondary })
      const sources = WAYS.map(({ family, egressIP }) => `${family} saddr ${egressIP} counter`).join('\n')
      node.namespace.exec('nft', ['-f', '-'], {
        input: `table netdev watch { chain out { type filter hook egress device "${BRIDGE}" priority 0\n${sources}\n}\n}`,
      })
    })
    afterEach(() => {
      pod?.close()
      node?.close()
    })

    const ip = (...lines: readonly string[]) => {
      for (const line of lines) node.namespace.exec('ip', line.split(' '))
    }
    /** Packets of one connection: always the same ports. */
    const send = () => {
      for (const { pod: source, peer } of WAYS) {
        const words = `Proto => "udp", LocalAddr => "${source}", LocalPort => 5000, PeerAddr => "${peer}", PeerPort => 9`
        pod.exec('perl', ['-MIO::Socket::IP', '-e', `$s = IO::Socket::IP->new(${words}) or die $@; $s->send("x") for 1 .. 5`])
      }
    }
    const translated = () =>
      WAYS.filter(({ family, egressIP }) =>
        node.namespace.exec('conntrack', ['-L', '-f', family === 'ip' ? 'ipv4' : 'ipv6', '-q', egressIP]).stdout.includes('sport=5000'),
      ).length
    /** Packets that left through the bridge with each egress IP. */
    const strayed = () =>
      [...node.namespace.exec('nft', ['list', 'table', 'netdev', 'watch']).stdout.matchAll(/packets (\d+)/g)].map(([, count]) =>
        Number(count),
      )

    it.each(['down', 'gone'])('leaves through no other interface when its own is %s', async (what) => {
      expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 0, problems: [] })
      send()
      expect(translated()).toBe(2)
      ip(what === 'down' ? `link set ${CARD} down` : `link del ${CARD}`)
      send()
      expect(strayed()).toEqual([0, 0])

      // Without the route that refuses them, the next packets would.
      const table = /lookup (\d+) proto 230/.exec(node.namespace.exec('ip', ['rule']).stdout)?.[1]
      const kept = translated()
      for (const family of ['-4', '-6']) ip(`${family} route del unreachable default metric 4278198272 table ${table}`)
      send()
      expect(kept).toBe(2)
      expect(strayed()).toEqual([5, 5])
    })

    it('has no address of another interface either after the pass that finds its own down, nor when it is up again', async () => {
      await node.agent('apply')
      send()
      ip(`link set ${CARD} down`)
      expect((await node.agent('apply')).exitCode).toBe(4)
      expect(translated()).toBe(0)
      send()
      expect(strayed()).toEqual([0, 0])
      // The kernel takes IPv6 addresses from an interface that goes down.
      ip(`link set ${CARD} up`, 'addr add 2001:db8:1::11/64 dev eth1 nodad', 'route add 203.0.113.0/24 via 198.51.100.1 dev eth1')
      expect((await node.agent('apply')).exitCode).toBe(0)
      send()
      expect(strayed()).toEqual([0, 0])
      expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 0, changes: [] })
    })
  },
)
