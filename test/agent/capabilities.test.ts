import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cable } from '../lab/netns.js'
import { describeWith } from '../requires.js'
import { BRIDGE, writeBundle } from './bundles.js'
import { agentWords, type Node, openNode } from './node.js'

/** nobody */
const USER = 65534
const CARD = 'ens9'

describeWith(
  ['root', 'linux', 'ip', 'nft', 'ovs', 'conntrack', 'setpriv'],
  'a user with CAP_NET_ADMIN and CAP_NET_RAW, and no other right',
  () => {
    let node: Node
    beforeAll(() => {
      node = openNode('rights')
      cable({ namespace: node.namespace, device: CARD }, { namespace: node.namespace, device: 'wire9' })
      node.namespace.exec('ip', ['addr', 'add', '198.51.100.11/24', 'dev', CARD])
      node.namespace.exec('sysctl', ['-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'])
      const pods = ['10.244.1.3', '10.244.2.3']
      writeBundle(node.bundle, { flows: 3, mode: 'local', secondary: [{ network: '198.51.100.0/24', egressIP: '198.51.100.50', pods }] })
      mkdirSync(node.stateDir)
      chownSync(node.stateDir, USER, USER)
      chmodSync(node.folder, 0o755)
      chmodSync(node.ovs.rundir, 0o755)
      for (const name of readdirSync(node.ovs.rundir)) chmodSync(join(node.ovs.rundir, name), 0o666)
    })
    afterAll(() => node?.close())

    function agent(command: string, phase: string) {
      const rights = [
        '--reuid',
        String(USER),
        '--regid',
        String(USER),
        '--clear-groups',
        '--no-new-privs',
        '--bounding-set=-all,+net_admin,+net_raw',
      ]
      const kept = ['--inh-caps=-all,+net_admin,+net_raw', '--ambient-caps=-all,+net_admin,+net_raw']
      const words = [...agentWords(command, node), '--phase', phase]
      const { status, stdout, stderr } = node.namespace.exec('setpriv', [...rights, ...kept, process.execPath, ...words, '-o', 'json'], {
        env: { OVS_RUNDIR: node.ovs.rundir },
        mayFail: true,
      })
      return { status, stderr, changes: stdout === '' ? [] : (JSON.parse(stdout) as { changes: readonly { subsystem: string }[] }).changes }
    }

    it.each(['startup', 'steady', 'shutdown'])('is enough for an agent in phase %s', (phase) => {
      const first = agent('apply', phase)
      expect({ ...first, changes: [] }).toEqual({ status: 0, stderr: '', changes: [] })
      const subsystems = new Set(first.changes.map(({ subsystem }) => subsystem))
      if (phase === 'startup') expect([...subsystems].sort()).toEqual(['addresses', 'neighbors', 'nftables', 'openflow', 'routes', 'rules'])
      else expect(subsystems.size).toBeGreaterThan(0)
      expect(agent('diff', phase)).toEqual({ status: 0, stderr: '', changes: [] })
      expect(node.namespace.exec('ip', ['addr', 'show', 'dev', BRIDGE]).stdout).toContain('192.0.2.50')
    })
  },
)
