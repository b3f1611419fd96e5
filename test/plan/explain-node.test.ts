import { describe, expect, it } from 'vitest'
import { clusterObject, egressIPObject, intent, NODES, namespaceObject, nodeObject, topology } from '../constructs/sources.js'
import { asked, dump, unknown } from './explaining.js'

const SHOP = namespaceObject('shop', { env: 'prod' })
const held = (name: string, items: Readonly<Record<string, string>>, spec: object = {}) => ({
  ...egressIPObject(name, Object.keys(items), {
    status: { items: Object.entries(items).map(([egressIP, node]) => ({ egressIP, node })) },
  }),
  spec: { egressIPs: Object.keys(items), namespaceSelector: { matchLabels: { env: 'prod' } }, ...spec },
})
const timeout = (seconds: number) => ({
  apiVersion: 'operator.openshift.io/v1',
  kind: 'Network',
  metadata: { name: 'cluster' },
  spec: { defaultNetwork: { ovnKubernetesConfig: { egressIPConfig: { reachabilityTotalTimeoutSeconds: seconds } } } },
})
const probes = (...results: readonly object[]) => ({ apiVersion: 'egretta.dev/v1alpha1', kind: 'ProbeResult', spec: { results } })

describe('explain node', () => {
  it('says what a node holds, what leaves it, what it may not host and what its bundle is made of', () => {
    const files = [
      ...intent(
        clusterObject({ placement: 'enforced' }),
        egressIPObject('a', ['192.0.2.50', '2001:db8:1::50']),
        egressIPObject('b', ['192.0.2.51'], {
          spec: { egressIPs: ['192.0.2.51'], namespaceSelector: {}, egressNodeSelector: { matchLabels: { zone: 'x' } } },
        }),
      ),
      ...topology(
        ...NODES,
        SHOP,
        held('a', { '192.0.2.50': 'node-a', '192.0.2.59': 'node-a' }),
        held('theirs', { '192.0.2.70': 'node-a' }),
      ),
    ]
    const { answer, node } = asked('node', 'node-a', files)
    expect(answer).toBe('node-a holds 2 egress IPs: 192.0.2.50 of a and 192.0.2.70 of theirs.')
    expect(node).toMatchObject({
      ready: true,
      unreachable: null,
      draining: false,
      load: { ipv4: 2, ipv6: 0 },
      capacity: { ip: null, ipv4: null, ipv6: null },
      holds: [
        { egressIP: '192.0.2.50', object: 'a', change: 'keep', networkType: 'primary' },
        { egressIP: '192.0.2.70', object: 'theirs', change: null, network: '192.0.2.0/24' },
      ],
      leaving: [{ egressIP: '192.0.2.59', object: 'a', to: null }],
      open: 0,
      excluded: [
        { object: 'a', egressIP: '2001:db8:1::50', reason: 'HoldsSameObject' },
        { object: 'b', egressIP: null, reason: 'SelectorMismatch' },
      ],
    })
    const origins = new Set(node?.entries.filter(({ artefact }) => artefact === 'addresses.json').map((entry) => entry.for))
    expect(origins).toEqual(new Set(['EgressIP/a', 'EgressIP/theirs', 'Node/node-a']))
    expect(node?.entries.find(({ subsystem }) => subsystem === 'openflow')?.for).toBe('Node/node-a')
    expect(node?.entries.find(({ key }) => key.startsWith('rule '))?.for).toBeNull()
  })
  it('says why a node takes nothing', () => {
    const broken = nodeObject({ name: 'node-z', host: 20, annotations: { 'k8s.ovn.org/host-cidrs': 'oops' } })
    const objects = [
      ...NODES,
      broken,
      SHOP,
      held('eip', { '192.0.2.50': 'node-b' }),
      probes({ node: 'node-b', reachable: false, time: '2026-03-01T10:00:00Z' }),
    ]
    expect(asked('node', 'node-b', dump(...objects)).node).toMatchObject({
      unreachable: 'a ProbeResult of 2026-03-01T10:00:00Z',
      holds: [],
      leaving: [{ egressIP: '192.0.2.50', to: 'node-a' }],
      excluded: [{ object: 'eip', egressIP: '192.0.2.50', reason: 'Unreachable' }],
      probe: { last: { reachable: false } },
    })
    expect(asked('node', 'node-a', dump(...objects), { options: { drain: ['node-a'], down: ['node-c'] } }).node?.draining).toBe(true)
    expect(asked('node', 'node-z', dump(...objects)).node?.invalid).toMatch(/host-cidrs/)
  })
  it('helps with a name that it does not find', () => {
    expect(asked('node', 'Node/node-a', dump(...NODES)).node?.name).toBe('node-a')
    expect(unknown('node', 'nodea', dump(...NODES))).toBe('the inputs have no node nodea; did you mean node-a?')
    expect(unknown('node', 'worker', dump(...NODES))).toBe('the inputs have no node worker; there are node-a, node-b, node-c')
  })
})

describe('explain probes', () => {
  const zoned = (name: string, host: number, zone: string, ready = true) => {
    const node = nodeObject({ name, host, ready }) as { metadata: { labels: object } }
    return { ...node, metadata: { ...node.metadata, labels: { zone } } }
  }
  const pool = (name: string, zone: string, address: string) =>
    held(name, { [address]: 'n' }, { egressNodeSelector: { matchLabels: { zone } } })
  const nodes = [zoned('n1', 11, 'x'), zoned('n2', 12, 'y'), zoned('n3', 13, 'z'), zoned('n4', 14, 'x', false)]

  it('is the union of the selectors of all objects, of which the Ready nodes', () => {
    const files = [
      ...intent(clusterObject({ placement: 'enforced' }), pool('a', 'x', '192.0.2.50'), pool('c', 'x', '192.0.2.52')),
      ...topology(...nodes, SHOP, pool('theirs', 'y', '192.0.2.60')),
    ]
    const { answer, probes: set } = asked('probes', '', files)
    expect(answer).toBe('2 of 4 nodes are probed.')
    expect(set?.nodes.map(({ node, why, objects }) => [node, why, objects])).toEqual([
      ['n1', 'Probed', ['a', 'c']],
      ['n2', 'Probed', ['theirs']],
      ['n3', 'NotSelected', []],
      ['n4', 'NotReady', ['a', 'c']],
    ])
    expect(set?.selectors).toEqual([
      { selector: 'zone=x', objects: ['a', 'c'], nodes: 2 },
      { selector: 'zone=y', objects: ['theirs'], nodes: 1 },
    ])
    expect(asked('node', 'n1', files).node?.probe).toMatchObject({ probed: true, objects: ['a', 'c'] })
  })
  it('warns where an empty selector makes it the whole cluster', () => {
    const files = dump(...nodes, SHOP, held('all', { '192.0.2.50': 'n1' }, { egressNodeSelector: {} }))
    const { answer, probes: set } = asked('probes', '', files)
    expect(answer).toBe('3 of 4 nodes are probed, the whole cluster, because egressNodeSelector of all is empty.')
    expect(set?.everything).toEqual(['all'])
  })
  it('is empty where the reachability check is off', () => {
    const files = dump(...nodes, SHOP, timeout(0), pool('a', 'x', '192.0.2.50'), probes({ node: 'n1', reachable: false }))
    const { answer, probes: set } = asked('probes', '', files)
    expect(answer).toBe('No node is probed: the reachability check is off (reachabilityTotalTimeoutSeconds is 0).')
    expect(set?.nodes.map(({ why }) => why)).toEqual(['CheckOff', 'NotSelected', 'NotSelected', 'CheckOff'])
    expect(asked('node', 'n1', files).node).toMatchObject({ unreachable: null })
  })
})
