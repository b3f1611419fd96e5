import { join } from 'node:path'
import { hostAddresses } from '../../src/host/addresses.js'
import { hostNeighbors } from '../../src/host/neighbors.js'
import { hostNftables } from '../../src/host/nftables.js'
import { hostOpenflow } from '../../src/host/openflow.js'
import { describeWith } from '../requires.js'
import { execOn, machine } from './machine.js'
import { addresses, BRIDGE, neighbors, nftables, openflow } from './samples.js'
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

  contract('openflow', openflow, async () => {
    const host = machine('flows', { ovs: true })
    const { ovs } = host
    if (!ovs) throw new Error('no Open vSwitch')
    ovs.ofctl('add-flow', BRIDGE, 'cookie=0xdeff105,table=1,priority=10,dl_dst=02:00:00:00:00:01,actions=LOCAL')
    // The middle of this cookie looks like ours.
    ovs.ofctl('add-flow', BRIDGE, 'cookie=0x1e6e70001,table=7,priority=10,tcp,tp_dst=80,actions=drop')
    const all = () => ovs.ofctl('dump-flows', BRIDGE, '--no-stats', '--no-names').split('\n')
    return {
      subsystem: hostOpenflow(execOn(host), ovs.rundir, [BRIDGE]),
      foreign: async () =>
        all()
          .filter((line) => !/cookie=0x(305|e6e7[0-9a-f]{4}),/.test(line))
          .join('\n'),
      plant: async (entry) => {
        const match = entry.match.map(([field, value]) => (value === '' ? field : `${field}=${value}`)).join(',')
        ovs.ofctl('add-flow', BRIDGE, `cookie=0xdeff105,table=${entry.table},priority=${entry.priority},${match},actions=${entry.actions}`)
      },
      close: host.close,
    }
  })
})
