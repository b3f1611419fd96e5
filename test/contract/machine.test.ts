import { join } from 'node:path'
import { hostAddresses } from '../../src/host/addresses.js'
import { hostNeighbors } from '../../src/host/neighbors.js'
import { hostNftables } from '../../src/host/nftables.js'
import { hostOpenflow } from '../../src/host/openflow.js'
import type { BridgePort } from '../../src/host/ovsdb.js'
import { hostRoutes } from '../../src/host/routes.js'
import { hostRules } from '../../src/host/rules.js'
import { printPrefix } from '../../src/model/address.js'
import { run } from '../lab/netns.js'
import { addBridge, addPatch } from '../lab/ovs.js'
import { describeWith } from '../requires.js'
import { execOn, machine } from './machine.js'
import { addresses, BRIDGE, DEVICE, neighbors, nftables, openflow, ports, routes, rules } from './samples.js'
import { contract } from './suite.js'

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'on a real host', () => {
  contract('addresses', addresses, async () => {
    const host = machine('addr', { ovs: false })
    const { namespace } = host
    const marks = join(host.folder, 'addresses.json')
    const listed = () => namespace.exec('ip', ['-o', 'addr', 'show']).stdout
    const ours = () => addresses.some.concat(addresses.more).map(({ address }) => `${address.address.text}/${address.length} `)
    return {
      subsystem: hostAddresses(execOn(host), marks),
      foreign: async () =>
        listed()
          .split('\n')
          .filter((line) => !ours().some((text) => line.includes(` ${text}`)))
          .join('\n')
          .replaceAll('tentative', ''),
      plant: async ({ address, dev }) => {
        namespace.exec('ip', ['addr', 'add', `${address.address.text}/${address.length}`, 'dev', dev])
      },
      close: host.close,
    }
  })

  contract('neighbors', neighbors, async () => {
    const host = machine('neigh', { ovs: false })
    const { namespace } = host
    // Learned by the kernel: no obstacle, and nobody's to protect.
    namespace.exec('ip', ['neigh', 'add', '169.254.0.1', 'lladdr', '02:00:00:00:00:99', 'dev', BRIDGE, 'nud', 'stale'])
    namespace.exec('ip', ['neigh', 'add', '192.0.2.77', 'lladdr', '02:00:00:00:00:77', 'dev', BRIDGE, 'nud', 'permanent'])
    namespace.exec('ip', ['neigh', 'add', '2001:db8::77', 'lladdr', '02:00:00:00:00:77', 'dev', BRIDGE, 'nud', 'noarp', 'protocol', '11'])
    return {
      subsystem: hostNeighbors(execOn(host)),
      foreign: async () => {
        const lines = namespace.exec('ip', ['-N', 'neigh', 'show', 'nud', 'permanent', 'nud', 'noarp']).stdout.split('\n')
        return lines.filter((line) => !line.includes('proto 230') && !line.startsWith('ff02:')).join('\n')
      },
      plant: async ({ dst, lladdr, dev }) => {
        namespace.exec('ip', ['neigh', 'replace', dst.text, 'lladdr', lladdr, 'dev', dev, 'nud', 'permanent'])
      },
      close: host.close,
    }
  })

  contract('nftables', nftables, async () => {
    const host = machine('nft', { ovs: false })
    const { namespace } = host
    namespace.exec('nft', ['add table inet ovn-kubernetes; add set inet ovn-kubernetes a { type ipv4_addr; }'])
    namespace.exec('nft', ['add element inet ovn-kubernetes a { 192.0.2.50 }; add table netdev egressip; add table ip egrettas'])
    return {
      subsystem: hostNftables(execOn(host)),
      foreign: async () =>
        ['inet ovn-kubernetes', 'netdev egressip', 'ip egrettas']
          .map((table) => namespace.exec('nft', ['-a', 'list', 'table', ...table.split(' ')]).stdout)
          .join(''),
      plant: null,
      close: host.close,
    }
  })

  contract('rules', rules, async () => {
    const host = machine('rules', { ovs: false })
    const { namespace } = host
    const ip = (line: string) => namespace.exec('ip', line.split(' '))
    ip('rule add from 10.244.1.3 priority 6000 table 1009')
    ip('rule add fwmark 0x3f0/0xff0 priority 5999 table main')
    ip('-6 rule add from fd00:10:244:1::3 iif ens3 priority 6000 table 1007')
    ip('rule add not from 10.1.0.0/16 priority 100 table main suppress_prefixlength 0')
    ip('rule add ipproto tcp dport 80 priority 101 blackhole')
    ip('rule add priority 102 goto 32766')
    const listed = (family: string) => namespace.exec('ip', [family, '-N', 'rule', 'show']).stdout.split('\n')
    return {
      subsystem: hostRules(execOn(host)),
      foreign: async () => [...listed('-4'), ...listed('-6')].filter((line) => !/proto 230$/.test(line)).join('\n'),
      plant: async ({ src, priority, table }) => {
        ip(`rule add from ${printPrefix(src)} priority ${priority} table ${table}`)
      },
      close: host.close,
    }
  })

  contract('routes', routes, async () => {
    const host = machine('routes', { ovs: false })
    const { namespace } = host
    const ip = (line: string) => namespace.exec('ip', line.split(' '))
    ip(`addr add 198.51.100.11/24 dev ${DEVICE}`)
    ip(`addr add 2001:db8:1::11/64 dev ${DEVICE} nodad`)
    ip('route add 10.96.0.0/12 nexthop via 192.0.2.1 dev br-ex nexthop via 192.0.2.2 dev br-ex')
    ip('-6 route add fd03::/48 nexthop via 2001:db8::1 dev br-ex nexthop via 2001:db8::2 dev br-ex')
    ip('route add blackhole 10.9.0.0/16')
    ip('route add unreachable 10.9.0.0/16 table 1007 metric 9')
    ip('-6 route add blackhole fd04::/48')
    ip('route add 172.30.0.0/16 tos 0x10 via 192.0.2.1')
    ip('-6 route add fd02::/112 from 2001:db8::/32 dev br-ex')
    ip('route add 172.30.0.0/16 via 192.0.2.1 metric 77')
    const listed = (family: string) => namespace.exec('ip', [family, '-N', 'route', 'show', 'table', 'all']).stdout.split('\n')
    return {
      subsystem: hostRoutes(execOn(host)),
      // Duplicate detection of link-local addresses ends some time or other, and brings a route with it.
      foreign: async () =>
        [...listed('-4'), ...listed('-6')].filter((line) => !line.includes('proto 230') && !/^2 fe80::/.test(line)).join('\n'),
      plant: async ({ dst, gateway, dev }) => {
        ip(`route add ${dst ? printPrefix(dst) : ''} via ${gateway?.text} dev ${dev}`)
      },
      close: host.close,
    }
  })

  const bridgeOf = (networks: readonly BridgePort[]) => ({ name: BRIDGE, uplink: null, datapath: 'netdev', ports: networks })

  contract('openflow', openflow, async () => {
    const host = machine('flows', { ovs: true })
    const { ovs } = host
    if (!ovs) throw new Error('no Open vSwitch')
    ovs.ofctl('add-flow', BRIDGE, 'cookie=0xdeff105,table=1,priority=10,dl_dst=02:00:00:00:00:01,actions=LOCAL')
    // The middle of this cookie looks like ours.
    ovs.ofctl('add-flow', BRIDGE, 'cookie=0x1e6e70001,table=7,priority=10,tcp,tp_dst=80,actions=drop')
    const all = () => ovs.ofctl('dump-flows', BRIDGE, '--no-stats', '--no-names').split('\n')
    return {
      subsystem: hostOpenflow(execOn(host), ovs.rundir, [bridgeOf([])], 'node-a'),
      foreign: async () =>
        all()
          .filter((line) => !/cookie=0x(305|e6e7[0-9a-f]{4}),/.test(line))
          .join('\n'),
      plant: async (entry) => {
        if ('flag' in entry) throw new Error('a flow')
        const match = entry.match.map(([field, value]) => (value === '' ? field : `${field}=${value}`)).join(',')
        ovs.ofctl('add-flow', BRIDGE, `cookie=0xdeff105,table=${entry.table},priority=${entry.priority},${match},actions=${entry.actions}`)
      },
      close: host.close,
    }
  })

  contract('flags of ports', ports, async () => {
    const host = machine('ports', { ovs: true })
    const { ovs } = host
    if (!ovs) throw new Error('no Open vSwitch')
    addBridge(host.namespace, ovs, 'br-int')
    const networks = ['node-a', 'net.blue_node-a', 'net.red_node-a'].map((owner, at) => {
      const name = addPatch(ovs, BRIDGE, owner)
      return { name, type: 'patch', ofport: at + 1 }
    })
    const desc = () => run('ovs-ofctl', ['dump-ports-desc', `unix:${ovs.rundir}/${BRIDGE}.mgmt`]).stdout
    run('ovs-ofctl', ['mod-port', `unix:${ovs.rundir}/${BRIDGE}.mgmt`, '1', 'no-flood'])
    return {
      subsystem: hostOpenflow(execOn(host), ovs.rundir, [bridgeOf(networks)], 'node-a'),
      foreign: async () => desc().split('\n 2(')[0] ?? '',
      plant: null,
      close: host.close,
    }
  })
})
