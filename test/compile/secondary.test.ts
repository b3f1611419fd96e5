import { describe, expect, it } from 'vitest'
import { compile, type Held, type Speaking } from '../../src/compile/index.js'
import { printPrefix } from '../../src/model/address.js'
import type { NodeState } from '../../src/model/node-state.js'
import type { ClusterPod } from '../../src/model/topology.js'
import { address, inputs, namespace, node, pod, prefix, speaker } from './cluster.js'

const a = node('node-a', ['192.0.2.11/24'], {
  hostPrefixes: ['192.0.2.11/24', '198.51.100.11/24', '198.51.100.129/25', '2001:db8:1::11/64', '203.0.113.9/32'].map(prefix),
})
const held = (egressIP: string, object: string, on = 'node-a'): Held => ({ egressIP, object, node: on })
const around = (pods: readonly ClusterPod[]) => ({ namespaces: ['red', 'blue'].map(namespace), pods })

const shown = (state: NodeState | undefined) =>
  state?.secondary.map(({ network, egressIPs }) => ({
    network: printPrefix(network),
    egressIPs: egressIPs.map((each) => `${each.address.text} ${each.for}: ${each.pods.map(({ text }) => text).join(' ')}`),
  }))

const secondaryOf = (list: readonly Held[], speaking: Speaking, pods: readonly ClusterPod[]) =>
  shown(compile(inputs([a], [], {}, null, around(pods)), list, speaking).states[0])

describe('secondary networks', () => {
  it('are those with an egress IP of the node; each address has the pods of its object, of any node, of its family', () => {
    const pods = [
      pod('c', ['10.128.0.9', 'fd01::9'], { node: 'node-z' }),
      pod('a', ['10.128.0.10', 'fd01::a']),
      pod('b', ['10.20.0.5'], { network: 'cluster_udn_blue' }),
      pod('host', ['192.0.2.11'], { hostNetwork: true }),
      pod('done', ['10.128.0.11'], { phase: 'Succeeded' }),
      pod('other', ['10.128.0.12'], { namespace: 'blue' }),
    ]
    const speakers = [speaker('eip-a', 'red', ['198.51.100.50', '2001:db8:1::50']), speaker('eip-b', 'blue', ['198.51.100.200'])]
    const list = [held('2001:db8:1::50', 'eip-a'), held('198.51.100.50', 'eip-a'), held('198.51.100.200', 'eip-b'), held('192.0.2.50', 'x')]
    expect(secondaryOf(list, { speakers, marks: new Map() }, pods)).toEqual([
      { network: '198.51.100.0/24', egressIPs: ['198.51.100.50 EgressIP/eip-a: 10.128.0.9 10.128.0.10'] },
      { network: '198.51.100.128/25', egressIPs: ['198.51.100.200 EgressIP/eip-b: 10.128.0.12'] },
      { network: '2001:db8:1::/64', egressIPs: ['2001:db8:1::50 EgressIP/eip-a: fd01::9 fd01::a'] },
    ])
  })

  it('hold an address that no pod uses', () => {
    expect(secondaryOf([held('198.51.100.50', 'eip-a')], { speakers: [], marks: new Map() }, [])).toEqual([
      { network: '198.51.100.0/24', egressIPs: ['198.51.100.50 EgressIP/eip-a: '] },
    ])
  })

  it('are none of addresses that the node does not host, or hosts on its bridge', () => {
    const list = [held('192.0.2.50', 'eip-a'), held('10.0.0.1', 'eip-a'), held('203.0.113.9', 'eip-a'), held('198.51.100.50', 'eip-b', 'b')]
    expect(secondaryOf(list, { speakers: [], marks: new Map() }, [])).toEqual([])
  })

  it('give a pod that several objects select to the older one, then to the first by name', () => {
    const pods = [pod('a', ['10.128.0.9']), pod('b', ['10.128.0.10'], { labels: { app: 'web' } })]
    const older = speaker('eip-z', 'red', ['198.51.100.51'], { created: 1, podSelector: { matchLabels: { app: 'web' } } })
    const speakers = [speaker('eip-b', 'red', ['198.51.100.52']), speaker('eip-a', 'red', ['198.51.100.50']), older]
    const list = [held('198.51.100.50', 'eip-a'), held('198.51.100.51', 'eip-z'), held('198.51.100.52', 'eip-b')]
    expect(secondaryOf(list, { speakers, marks: new Map() }, pods)).toEqual([
      {
        network: '198.51.100.0/24',
        egressIPs: [
          '198.51.100.50 EgressIP/eip-a: 10.128.0.9',
          '198.51.100.51 EgressIP/eip-z: 10.128.0.10',
          '198.51.100.52 EgressIP/eip-b: ',
        ],
      },
    ])
  })

  it('give a pod one way out: of two addresses of its object on the node the lower', () => {
    const list = [held('198.51.100.200', 'eip-a'), held('198.51.100.50', 'eip-a')]
    const speakers = [speaker('eip-a', 'red', ['198.51.100.50', '198.51.100.200'])]
    expect(secondaryOf(list, { speakers, marks: new Map() }, [pod('a', ['10.128.0.9'])])).toEqual([
      { network: '198.51.100.0/24', egressIPs: ['198.51.100.50 EgressIP/eip-a: 10.128.0.9'] },
      { network: '198.51.100.128/25', egressIPs: ['198.51.100.200 EgressIP/eip-a: '] },
    ])
  })

  it('leave the policy of conntrack and the numbers of tables to the cluster', () => {
    const { states } = compile(inputs([a], [], { conntrack: 'keep', routeTable: 2000 }), [])
    expect(states).toMatchObject([{ conntrack: 'keep', routeTableBase: 2000, secondary: [] }])
  })

  it('do not take the egress IP itself for an address of the host', () => {
    const listing = node('node-a', ['192.0.2.11/24'], {
      hostPrefixes: ['192.0.2.11/24', '198.51.100.11/24', '198.51.100.50/32'].map(prefix),
      heldEgressIPs: [address('198.51.100.50')],
    })
    const [state] = compile(inputs([listing]), [held('198.51.100.50', 'eip-a')]).states
    expect(state?.externalBridge.extraAddresses.map(({ text }) => text)).toEqual(['198.51.100.11'])
    expect(state?.silenced).toEqual([])
  })
})
