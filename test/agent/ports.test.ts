import { afterAll, beforeAll, expect, it } from 'vitest'
import { OWN_COOKIE } from '../../src/model/numbers.js'
import { flow, openflow } from '../../src/syntax/openflow.js'
import { addPatch } from '../lab/ovs.js'
import { describeWith } from '../requires.js'
import { artefacts, BRIDGE, NODE, withFile, writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

/** Two networks of the node, whose names need no other spelling in patch ports. */
const BLUE = 'blue'
const portOf = (network: string): string => `patch-${BRIDGE}_${network}_${NODE}-to-br-int`

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'a flow to a network whose port is gone', () => {
  let node: Node
  beforeAll(() => {
    node = openNode('ports')
    const base = { bridge: BRIDGE, table: 9, cookie: OWN_COOKIE + 1n }
    const flows = [
      flow({ ...base, priority: 5, match: 'ip,nw_dst=10.1.0.0/16', actions: `output:patch(${BLUE})` }),
      flow({ ...base, priority: 4, match: 'ip,nw_dst=10.2.0.0/16', actions: 'drop' }),
    ]
    const file = { path: `openflow.${BRIDGE}.flows`, text: openflow(BRIDGE).print(flows), phases: ['steady'] as const }
    writeBundle(node.bundle, {}, withFile(artefacts(), file))
  })
  afterAll(() => node?.close())

  const flows = () => node.ovs.ofctl('dump-flows', BRIDGE, 'table=9', '--no-stats', '--no-names')
  const number = (network: string) => node.ovs.vsctl('get', 'interface', portOf(network), 'ofport').trim()
  const removePatch = (network: string) => {
    node.ovs.vsctl('del-port', BRIDGE, portOf(network), '--', 'del-port', 'br-int', `patch-br-int-to-${BRIDGE}_${network}_${NODE}`)
  }

  it('goes, so that it never sends to the network that is given the number, and comes back with the port', async () => {
    addPatch(node.ovs, BRIDGE, `${BLUE}_${NODE}`)
    expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 0, problems: [] })
    const old = number(BLUE)
    expect(flows()).toContain(`nw_dst=10.1.0.0/16 actions=output:${old}`)
    removePatch(BLUE)
    addPatch(node.ovs, BRIDGE, `green_${NODE}`)
    node.ovs.vsctl('set', 'interface', portOf('green'), `ofport_request=${old}`)
    expect(number('green')).toBe(old)
    expect(flows()).toContain(`output:${old}`)
    const report = summary(await node.agent('apply'))
    expect(report).toMatchObject({ exitCode: 4, problems: [], pending: [`openflow: bridge ${BRIDGE} has no port ${portOf(BLUE)}`] })
    expect(report.changes).toEqual([expect.stringContaining('delete openflow')])
    expect(flows()).not.toContain('output:')
    expect(flows()).toContain('nw_dst=10.2.0.0/16 actions=drop')
    addPatch(node.ovs, BRIDGE, `${BLUE}_${NODE}`)
    expect((await node.agent('apply')).exitCode).toBe(0)
    expect(flows()).toContain(`nw_dst=10.1.0.0/16 actions=output:${number(BLUE)}`)
    expect(number(BLUE)).not.toBe(old)
  })
})
