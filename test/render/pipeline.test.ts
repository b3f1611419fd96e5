import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Address, hostPrefix } from '../../src/model/address.js'
import type { ExternalBridge, NodeState } from '../../src/model/node-state.js'
import { pipelineFlows } from '../../src/render/flows.js'
import { renderFlows, renderPorts } from '../../src/render/openflow.js'
import { PIPELINE, TABLES } from '../../src/render/pipeline.js'
import { CONDITIONS, DIMENSIONS, PLACEHOLDERS } from '../../src/render/pipeline-row.js'
import { isOwn, openflow, printFlow } from '../../src/syntax/openflow.js'
import { portFlags } from '../../src/syntax/port-flags.js'
import { anyAddress, shuffled } from '../syntax/arbitrary.js'
import { addressesOf, BRIDGE, BRIDGES, DEFAULT_NETWORK, prefixesOf, userNetwork } from './bridges.js'

const stateOf = (externalBridge: ExternalBridge, node = 'node-a') => ({ node, bridge: 'br-ex', externalBridge }) as NodeState
const flowsOf = (externalBridge: ExternalBridge) => pipelineFlows(stateOf(externalBridge)).map(({ flow }) => flow)
const idsOf = (externalBridge: ExternalBridge) => new Set(pipelineFlows(stateOf(externalBridge)).map(({ row }) => row.id))
const condition = (flow: ReturnType<typeof flowsOf>[number], field: string) => flow.match.find(([name]) => name === field)?.[1]
const ofRow = (externalBridge: ExternalBridge, id: string) =>
  pipelineFlows(stateOf(externalBridge)).flatMap(({ row, flow }) => (row.id === id ? flow : []))
const bridges = Object.entries(BRIDGES)

describe('the rows of the flow table', () => {
  it('have ids of their own, in the order in which Open vSwitch tries them', () => {
    expect(new Set(PIPELINE.map(({ id }) => id)).size).toBe(PIPELINE.length)
    const order = PIPELINE.map(({ table, priority }) => table * 100000 - priority)
    expect(order).toEqual([...order].sort((a, b) => a - b))
  })

  it('are in tables whose purpose is known', () => {
    expect([...new Set(PIPELINE.map(({ table }) => String(table)))]).toEqual(Object.keys(TABLES))
  })

  it('use the placeholders, dimensions and conditions that are described, and all of them', () => {
    const used = PIPELINE.flatMap(({ match, actions }) => [...`${match} ${actions}`.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name))
    expect(new Set(used)).toEqual(new Set(Object.keys(PLACEHOLDERS)))
    expect(new Set(PIPELINE.flatMap(({ over = [] }) => over))).toEqual(new Set(Object.keys(DIMENSIONS)))
    expect(new Set(PIPELINE.flatMap(({ when = [] }) => when))).toEqual(new Set(Object.keys(CONDITIONS)))
  })

  it('ask for a tag where they take it off: Open vSwitch refuses the flow otherwise', () => {
    const stripping = PIPELINE.filter(({ actions }) => actions.includes('{strip}'))
    expect(stripping.length).toBeGreaterThan(5)
    expect(stripping.filter(({ match }) => !match.includes('{vlan}'))).toEqual([])
  })

  it('are all rendered for some bridge', () => {
    const rendered = new Set(bridges.flatMap(([, bridge]) => [...idsOf(bridge)]))
    expect(PIPELINE.filter(({ id }) => !rendered.has(id)).map(({ id }) => id)).toEqual([])
  })

  it('are all in docs/pipeline.md', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/pipeline.md'), 'utf8')
    expect(PIPELINE.filter(({ id, why }) => !page.includes(`**${id}**: ${why}.`)).map(({ id }) => id)).toEqual([])
  })
})

describe.each(bridges)('the flows of a bridge: %s', (_, bridge) => {
  const flows = flowsOf(bridge)
  const language = openflow('br-ex')

  it('are ours, canonical, and one for each match', () => {
    expect(language.parse(language.print(flows))).toEqual(flows)
    expect(new Set(flows.map(language.key)).size).toBe(flows.length)
    expect(flows.filter((flow) => !isOwn(flow))).toEqual([])
  })

  it('let nothing out of a patch port that has not the MAC of the bridge', () => {
    const leaving = flows.filter((flow) => condition(flow, 'in_port')?.startsWith('patch(') && flow.actions.includes('uplink('))
    expect(leaving.length).toBeGreaterThan(0)
    expect(leaving.filter((flow) => condition(flow, 'dl_src') !== bridge.mac)).toEqual([])
  })

  it('leave the tag alone between patch port and uplink, and have none at the port of the host', () => {
    const from = (port: string) => flows.filter((flow) => condition(flow, 'in_port')?.startsWith(port))
    const touching = (list: typeof flows, port: string) => list.filter(({ actions }) => actions.includes(port) && actions.includes('vlan'))
    expect(touching(from('patch('), 'uplink(')).toEqual([])
    const outward = from('LOCAL').filter(({ actions }) => actions.includes('uplink('))
    expect(touching(outward, 'uplink(')).toEqual(bridge.vlan === 0 ? [] : outward)
    const inward = flows.filter(({ actions }) => /(^|,)LOCAL$/.test(actions))
    expect(inward.length).toBeGreaterThan(0)
    expect(inward.filter(({ actions }) => actions.includes('pop_vlan'))).toEqual(bridge.vlan === 0 ? [] : inward)
  })

  it('are told from which object they come', () => {
    expect(flows.filter(({ comment }) => !/^(Node|ClusterUserDefinedNetwork|EgressIP)\/\S+: ./.test(comment ?? ''))).toEqual([])
  })
})

describe('the flows of a bridge', () => {
  it('are of the same rows in both families, but for neighbor discovery', () => {
    const [v4, v6] = [idsOf(BRIDGES['shared, IPv4'] as ExternalBridge), idsOf(BRIDGES['shared, IPv6'] as ExternalBridge)]
    expect([...v4].filter((id) => !v6.has(id))).toEqual([])
    expect([...v6].filter((id) => !v4.has(id)).sort()).toEqual([
      'advertisement-from-host',
      'advertisement-from-pods',
      'neighbor-advertisement',
      'router-advertisement',
      'solicitation-from-host',
      'solicitation-from-pods',
    ])
  })

  it('drop untranslated packets of pods also in a family in which the node has no address', () => {
    const dropped = ofRow({ ...BRIDGE, nodeAddresses: addressesOf('192.0.2.11') }, 'drop-untranslated')
    expect(dropped.map((flow) => condition(flow, 'ipv6_src') ?? condition(flow, 'nw_src'))).toEqual([
      '10.244.0.0/16',
      '10.245.0.0/16',
      'fd00:10:244::/48',
    ])
  })

  it('have no masquerade address of a network that the subnet has no room for', () => {
    const networks = [DEFAULT_NETWORK, userNetwork('blue', 1)]
    const small = prefixesOf('169.254.169.0/29', 'fd69::/112')
    const flows = ofRow({ ...BRIDGE, segmentation: true, networks, masqueradeSubnets: small }, 'egress-of-network')
    expect(flows.map((flow) => condition(flow, 'nw_src') ?? condition(flow, 'ipv6_src'))).toEqual(['fd69::b'])
  })

  it('count zones from the first one, and marks from the id of the network', () => {
    const bridge = { ...(BRIDGES['local, fabric'] as ExternalBridge), zone: 100 }
    expect(ofRow(bridge, 'answer-to-network').map(({ match, actions }) => [match, actions])).toEqual([
      [
        [
          ['ip', ''],
          ['ct_mark', '0x4'],
        ],
        'ct(commit,zone=101,nat),set_field:02:00:00:00:00:0a->eth_dst,output:patch(blue)',
      ],
      [
        [
          ['ipv6', ''],
          ['ct_mark', '0x4'],
        ],
        'ct(commit,zone=101,nat),set_field:02:00:00:00:00:0a->eth_dst,output:patch(blue)',
      ],
    ])
  })

  it('are those of the first of two networks where both would have one match', () => {
    const bridge = {
      ...BRIDGE,
      segmentation: true,
      networks: ['red', 'blue'].map((name, at) => userNetwork(name, at + 1, { advertised: true })),
    }
    expect(ofRow(bridge, 'ingress-to-pods').map(({ actions }) => actions)).toEqual(['output:patch(red)', 'output:patch(red)'])
  })

  it('ask for nothing where a prefix holds every address', () => {
    const [flow] = ofRow({ ...BRIDGE, hostSubnets: prefixesOf('0.0.0.0/0') }, 'host-subnet-from-host')
    expect(flow?.match.map(([field]) => field)).toEqual(['in_port', 'dl_src', 'ip'])
  })

  it('are the same objects on all nodes where they are about all nodes', () => {
    const [a, b] = [stateOf(BRIDGE), stateOf({ ...BRIDGE, mac: '02:00:00:00:00:0b' }, 'node-b')].map((state) => pipelineFlows(state))
    expect(a?.[0]?.row.id).toBe('drop-path-mtu')
    expect(b?.[0]).toBe(a?.[0])
  })

  it('drop path MTU messages for exactly the addresses of the cluster', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyAddress(), { maxLength: 12, selector: ({ text }) => text }), (addresses: readonly Address[]) => {
        const flows = ofRow({ ...BRIDGE, clusterAddresses: addresses.map(hostPrefix) }, 'drop-path-mtu')
        expect(flows.map((flow) => condition(flow, 'nw_dst') ?? condition(flow, 'ipv6_dst')).sort()).toEqual(
          addresses.map(({ text }) => text).sort(),
        )
        expect(flows.filter(({ cookie }) => cookie !== 0xe6e70304n)).toEqual([])
      }),
      { numRuns: 30 },
    )
  })
})

describe('the files of a bridge', () => {
  const bridge = BRIDGES['local, fabric, VLAN'] as ExternalBridge
  const textOf = (given: ExternalBridge) => [renderFlows(stateOf(given)).text, renderPorts(stateOf(given))?.text]

  it('are the same bytes for any order of its lists', () => {
    const expected = textOf(bridge)
    const mixed = fc.record({
      nodeAddresses: shuffled(bridge.nodeAddresses),
      hostSubnets: shuffled(bridge.hostSubnets),
      extraAddresses: shuffled(bridge.extraAddresses),
      serviceSubnets: shuffled(bridge.serviceSubnets),
      masqueradeSubnets: shuffled(bridge.masqueradeSubnets),
      networks: shuffled(bridge.networks),
    })
    fc.assert(
      fc.property(mixed, (lists) => {
        expect(textOf({ ...bridge, ...lists })).toEqual(expected)
      }),
      { numRuns: 20 },
    )
  })

  it('hold the flows with their comments, below a header that is no part of them', () => {
    const [text = ''] = textOf(bridge)
    expect(text.startsWith('# Flows of br-ex on node-a')).toBe(true)
    expect(openflow('br-ex').parse(text)).toEqual(flowsOf(bridge))
  })

  it('keep patch ports of user-defined networks out of floods, and no other port', () => {
    expect(renderPorts(stateOf(BRIDGE))).toBeNull()
    const flags = portFlags('br-ex').parse(renderPorts(stateOf(bridge))?.text ?? '')
    expect(flags.map(({ port, flag, for: object }) => [port, flag, object])).toEqual([
      ['patch(attic)', 'no-flood', 'ClusterUserDefinedNetwork/attic'],
      ['patch(blue)', 'no-flood', 'ClusterUserDefinedNetwork/blue'],
      ['patch(grey)', 'no-flood', 'ClusterUserDefinedNetwork/grey'],
      ['patch(red)', 'no-flood', 'ClusterUserDefinedNetwork/red'],
    ])
  })

  it('close the port of a network whose id is not known: no packet of it leaves, and no flood reaches it', () => {
    const closed = { ...BRIDGE, closed: [{ name: 'grey', for: 'ClusterUserDefinedNetwork/grey' }] }
    const isOpen = new Set(flowsOf(BRIDGE).map(printFlow))
    expect(
      flowsOf(closed)
        .map(printFlow)
        .filter((line) => !isOpen.has(line)),
    ).toEqual(['cookie=0xe6e70000,table=0,priority=750,in_port=patch(grey),actions=drop'])
    const flags = portFlags('br-ex').parse(renderPorts(stateOf(closed))?.text ?? '')
    expect(flags.map(({ port, flag, for: object }) => [port, flag, object])).toEqual([
      ['patch(grey)', 'no-flood', 'ClusterUserDefinedNetwork/grey'],
    ])
  })
})
