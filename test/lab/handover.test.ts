import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { faults, handOver, type Report } from './handover.js'
import { buildNetwork, type LabNode, type Network, nodeFacts } from './network.js'
import { agent, apply, copyExample, holdings, MOVING, NETWORK_PREFIX, NODES, NODES_FILE, type Project } from './project.js'

describeWith(['linux', 'root', 'ip', 'nft', 'ovs', 'arping', 'ndptool', 'tcpdump'], 'two live nodes', () => {
  let project: Project
  let network: Network
  let from: LabNode
  let to: LabNode

  beforeAll(() => {
    project = copyExample()
    project.egretta('synth')
    project.edit()
    project.egretta('synth', '--out', 'moved')
    network = buildNetwork(nodeFacts(NODES_FILE, NODES), [NETWORK_PREFIX])
    ;[from, to] = network.nodes as [LabNode, LabNode]
  })

  afterAll(() => {
    network?.close()
    project?.close()
  })

  const old = (node: LabNode): string => project.bundle('out', node.name)
  const moved = (node: LabNode): string => project.bundle('moved', node.name)

  it('take their bundles, and have nothing to do the second time', () => {
    for (const node of [from, to]) {
      expect(apply(node, old(node)).length).toBeGreaterThan(0)
      const before = holdings(node)
      expect(apply(node, old(node))).toEqual([])
      expect(holdings(node)).toBe(before)
    }
    expect(from.namespace.exec('ip', ['addr', 'show', 'dev', from.bridge]).stdout).toContain('192.0.2.50/32')
  })

  it('keep what is not ours, in every phase', () => {
    const { namespace, ovs, bridge } = from
    namespace.exec('nft', ['add', 'table', 'inet', 'site'])
    namespace.exec('nft', ['add', 'chain', 'inet', 'site', 'input', '{ type filter hook input priority 0; policy accept; }'])
    namespace.exec('nft', ['add', 'rule', 'inet', 'site', 'input', 'tcp', 'dport', '9', 'drop'])
    ovs.ofctl('add-flow', bridge, 'cookie=0xabc,table=7,priority=9,arp,actions=drop')
    namespace.exec('ip', ['addr', 'add', '192.0.2.77/32', 'dev', bridge])
    namespace.exec('ip', ['neigh', 'add', '192.0.2.78', 'lladdr', '00:00:5e:00:53:78', 'dev', bridge, 'nud', 'permanent'])
    const foreign = (): string[] => [
      namespace.exec('nft', ['list', 'table', 'inet', 'site']).stdout,
      ovs.ofctl('dump-flows', bridge, '--no-stats').replace(/^.*cookie=0x(e6e7....|305),.*\n/gm, ''),
      namespace.exec('ip', ['addr', 'show', 'to', '192.0.2.77', 'dev', bridge]).stdout,
      namespace.exec('ip', ['neigh', 'show', '192.0.2.78', 'dev', bridge]).stdout,
    ]
    const before = foreign()
    for (const phase of ['startup', 'shutdown', 'steady']) {
      apply(from, old(from), '--phase', phase)
      expect(foreign(), phase).toEqual(before)
    }
    apply(from, moved(from))
    expect(foreign()).toEqual(before)
    apply(from, old(from))
  })

  it('hand addresses over: with the guard the old node is silent, without it is not', async () => {
    const run = async (guarded: boolean): Promise<Report> => {
      apply(to, old(to))
      apply(from, old(from))
      return await handOver(
        network,
        {
          addresses: MOVING,
          from,
          to,
          guard: guarded ? () => agent(from, 'apply', old(from), '--phase', 'shutdown') : null,
          take: () => apply(to, moved(to), '--claim-after', '0'),
          release: () => apply(from, moved(from)),
        },
        [1, 3, 1],
      )
    }
    const unguarded = await run(false)
    const guarded = await run(true)
    expect(faults(unguarded, guarded)).toEqual([])
    for (const { address, sinceGuard, after } of guarded.addresses) {
      expect(sinceGuard, address).toMatchObject({ oldAnswers: 0, oldClaims: 0 })
      expect(after.newAnswers, address).toBeGreaterThan(after.questions * 0.8)
    }
    for (const { address, during, after } of unguarded.addresses) {
      expect(during.oldAnswers, address).toBeGreaterThan(during.questions * 0.8)
      expect(during.oldClaims, address).toBeGreaterThan(0)
      expect(after.oldAnswers, address).toBe(0)
    }
    expect(from.namespace.exec('nft', ['list', 'tables']).stdout).not.toContain('egressip')
  })
})
