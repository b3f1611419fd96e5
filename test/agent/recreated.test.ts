import { afterAll, beforeAll, expect, it } from 'vitest'
import { addBridge, addPatch } from '../lab/ovs.js'
import { describeWith } from '../requires.js'
import { BRIDGE, type Content, NODE, NODE_ADDRESSES, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

const BUNDLE: Content = {
  masquerade: ['169.254.169.1', '169.254.169.4', '169.254.0.11', 'fd69::1', 'fd69::b'],
  hostMasquerade: ['169.254.169.2/29'],
  services: [['10.96.0.0/16', '169.254.169.4']],
}

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'a bridge that was made again', () => {
  let node: Node
  beforeAll(() => {
    node = openNode('recreated')
    writeBundle(node.bundle, BUNDLE)
  })
  afterAll(() => node?.close())

  const ip = (...args: readonly string[]) => node.namespace.exec('ip', args).stdout
  const held = () => [ip('-N', 'neigh', 'show', 'dev', BRIDGE, 'nud', 'permanent').split('\n').sort(), ip('route', 'show', '10.96.0.0/16')]

  it('gets its neighbors, addresses and routes back in the next pass', async () => {
    expect((await node.agent('apply')).exitCode).toBe(0)
    const before = held()
    expect(before.join()).toContain('169.254.0.11')
    // As when ovs-vswitchd starts again: the interface of the bridge is another one, and the kernel forgot what stood on the old one.
    node.ovs.vsctl('del-br', BRIDGE)
    addBridge(node.namespace, node.ovs, BRIDGE, '02:00:00:00:00:01')
    for (const address of NODE_ADDRESSES) {
      ip(
        'addr',
        'add',
        address.includes(':') ? `${address}/64` : `${address}/24`,
        'dev',
        BRIDGE,
        ...(address.includes(':') ? ['nodad'] : []),
      )
    }
    node.ovs.vsctl('del-port', 'br-int', `patch-br-int-to-${BRIDGE}_${NODE}`)
    addPatch(node.ovs, BRIDGE, NODE)
    expect(held()).not.toEqual(before)
    const report = summary(await node.agent('apply'))
    expect(report).toMatchObject({ exitCode: 0, problems: [] })
    expect(report.changes).toContain('add neighbors 169.254.0.11 dev br-ex')
    expect(held()).toEqual(before)
    expect(ip('addr', 'show', 'dev', BRIDGE)).toContain('169.254.169.2/29')
  })

  it('loses the neighbors of a network with the network', async () => {
    writeBundle(node.bundle, { ...BUNDLE, masquerade: ['169.254.169.1', '169.254.169.4', 'fd69::1'] })
    expect(summary(await node.agent('apply')).changes).toEqual([
      'delete neighbors 169.254.0.11 dev br-ex',
      'delete neighbors fd69::b dev br-ex',
    ])
    expect(ip('neigh', 'show', 'nud', 'permanent')).not.toMatch(/169\.254\.0\.11|fd69::b/)
  })
})
