import { describe, expect, it } from 'vitest'
import { egressIPObject, NODES, namespaceObject, nodeObject, podObject } from '../constructs/sources.js'
import { asked, dump, unknown } from './explaining.js'

const SHOP = namespaceObject('shop', { env: 'prod' })
const WEB = podObject('shop', 'web', ['10.128.11.5', 'fd01::5'])
const V4 = podObject('shop', 'v4', ['10.128.11.6'])
const held = (name: string, items: Readonly<Record<string, string>>, over: object = {}) =>
  egressIPObject(name, Object.keys(items), {
    status: { items: Object.entries(items).map(([egressIP, node]) => ({ egressIP, node })) },
    ...over,
  })
const CLUSTER = [...NODES, SHOP, WEB, V4]
const askedPod = (name: string, ...objects: readonly object[]) => {
  const { answer, pod } = asked('pod', name, dump(...CLUSTER, ...objects))
  return { answer, pod }
}

describe('explain pod', () => {
  it('names the address of each family, and the object', () => {
    const { answer, pod } = askedPod('shop/web', held('eip', { '192.0.2.50': 'node-a', '2001:db8:1::50': 'node-b' }))
    expect(answer).toBe('shop/web leaves with 192.0.2.50 over IPv4 and 2001:db8:1::50 over IPv6, through eip.')
    expect(pod).toEqual({
      pod: 'shop/web',
      node: 'node-a',
      network: 'default',
      phase: 'Running',
      object: 'eip',
      others: [],
      notSelected: null,
      departures: [
        {
          family: 4,
          address: '10.128.11.5',
          egressIPs: [{ egressIP: '192.0.2.50', node: 'node-a', change: 'keep' }],
          nodeAddress: '192.0.2.11',
        },
        {
          family: 6,
          address: 'fd01::5',
          egressIPs: [{ egressIP: '2001:db8:1::50', node: 'node-b', change: 'keep' }],
          nodeAddress: '2001:db8:1::11',
        },
      ],
    })
  })
  it('names the address of the node for a family that the object does not have', () => {
    expect(askedPod('shop/web', held('eip', { '192.0.2.50': 'node-a' })).answer).toBe(
      'shop/web leaves with 192.0.2.50 over IPv4 and 2001:db8:1::11 (the address of its node node-a) over IPv6, through eip.',
    )
    expect(askedPod('shop/v4', egressIPObject('eip', ['198.51.100.1'])).answer).toBe(
      'shop/v4 leaves with 192.0.2.11 (the address of its node node-a), through eip.',
    )
  })
  it('names all addresses of which a connection takes any, and says what the plan has yet to bring', () => {
    const { answer } = askedPod(
      'shop/v4',
      egressIPObject('eip', ['192.0.2.50', '192.0.2.51'], { status: { items: [{ egressIP: '192.0.2.50', node: 'node-a' }] } }),
    )
    expect(answer).toBe('shop/v4 leaves with 192.0.2.50 or 192.0.2.51, through eip, once the plan is applied.')
  })

  it('lets the older object decide for both families, and names the others', () => {
    const older = held('older', { '192.0.2.60': 'node-b' }, { metadata: { name: 'older', creationTimestamp: '2026-01-01T00:00:00Z' } })
    const six = held('six', { '2001:db8:1::60': 'node-a' })
    const { pod, answer } = askedPod('shop/web', six, older, held('five', { '192.0.2.50': 'node-a' }))
    expect(pod).toMatchObject({ object: 'older', others: ['five', 'six'] })
    expect(pod?.departures.map(({ egressIPs }) => egressIPs.map(({ egressIP }) => egressIP))).toEqual([['192.0.2.60'], []])
    expect(answer).toMatch(/^shop\/web leaves with 192\.0\.2\.60 over IPv4 and 2001:db8:1::11 \(the address of its node node-a\) over IPv6/)
  })

  it('does not send a pod of a user-defined network through a secondary network', () => {
    const blue = JSON.stringify({ 'blue/net': { ip_addresses: ['10.20.2.5/24'], role: 'primary' } })
    const pod = {
      ...podObject('shop', 'blue', ['10.128.11.9']),
      metadata: { name: 'blue', namespace: 'shop', annotations: { 'k8s.ovn.org/pod-networks': blue } },
    }
    const two = nodeObject({
      name: 'node-d',
      host: 14,
      annotations: { 'k8s.ovn.org/host-cidrs': JSON.stringify(['192.0.2.14/24', '198.51.100.14/24']) },
    })
    const eip = held('eip', { '198.51.100.50': 'node-d' })
    const found = asked('pod', 'shop/blue', dump(two, SHOP, pod, V4, eip))
    expect(found.pod).toMatchObject({ object: 'eip', network: 'blue_net', departures: [{ address: '10.20.2.5', egressIPs: [] }] })
    const [address] = asked('ip', '198.51.100.50', dump(two, SHOP, pod, V4, eip)).addresses ?? []
    expect(address).toMatchObject({
      networkType: 'secondary',
      pods: [{ pod: 'shop/v4' }],
      unsupported: [{ pod: 'shop/blue', network: 'blue_net' }],
    })
  })

  it.each([
    [
      'HostNetwork',
      { spec: { hostNetwork: true, nodeName: 'node-a' } },
      'shop/odd leaves with the address of its node node-a: it is on the network of its host, which no EgressIP touches.',
    ],
    [
      'Completed',
      { status: { phase: 'Succeeded', podIP: '10.128.11.5' } },
      'shop/odd uses no egress IP: it has completed; its address may belong to another pod by now.',
    ],
    [
      'Failed',
      { status: { phase: 'Failed', podIP: '10.128.11.5' } },
      'shop/odd uses no egress IP: it has failed; its address may belong to another pod by now.',
    ],
    ['NoAddress', { status: { phase: 'Pending' } }, 'shop/odd uses no egress IP: it has no address yet.'],
  ])('says that a pod is not selected: %s', (code, over, answer) => {
    const odd = { ...podObject('shop', 'odd', ['10.128.11.5']), ...over }
    const found = askedPod('shop/odd', odd, held('eip', { '192.0.2.50': 'node-a' }))
    expect(found.answer).toBe(answer)
    expect(found.pod).toMatchObject({ object: null, notSelected: { code }, departures: [] })
  })
  it('says which selector does not match', () => {
    const eip = held('eip', { '192.0.2.50': 'node-a' })
    const test = [
      namespaceObject('test', { env: 'test' }),
      podObject('test', 'web', ['10.128.11.7']),
      podObject('lost', 'web', ['10.128.11.8']),
    ]
    expect(askedPod('test/web', eip, ...test).answer).toBe(
      'test/web leaves with 192.0.2.11 (the address of its node node-a): no namespaceSelector matches its namespace test.',
    )
    expect(askedPod('lost/web', eip, ...test).pod?.notSelected?.code).toBe('UnknownNamespace')
    const spec = { egressIPs: ['192.0.2.50'], namespaceSelector: {}, podSelector: { matchLabels: { app: 'db' } } }
    expect(askedPod('shop/web', { ...eip, spec }).pod?.notSelected).toEqual({
      code: 'NoPodMatch',
      message: 'eip selects its namespace, but its podSelector does not match its labels',
    })
  })

  it('helps with a name that it does not find', () => {
    const files = dump(...CLUSTER, namespaceObject('test', {}), podObject('test', 'job', ['10.128.11.7']))
    expect(asked('pod', 'Pod/shop/web', files).pod?.pod).toBe('shop/web')
    expect(unknown('pod', 'shop/wep', files)).toBe('the inputs have no pod shop/wep; did you mean shop/web?')
    expect(unknown('pod', 'shop/job', files)).toBe('the inputs have no pod shop/job; did you mean test/job?')
    expect(unknown('pod', 'web', files)).toBe('write a pod as NAMESPACE/NAME, not "web"; pods of that name: shop/web')
    expect(unknown('pod', 'a/b', dump(...NODES))).toBe('the inputs have no pod a/b; there is no pod at all')
  })
})
