import { describe, expect, it } from 'vitest'
import type { Lock } from '../../src/model/lock.js'
import { clusterObject, egressIPObject, intent, NODES, namespaceObject, nodeObject, podObject, topology } from '../constructs/sources.js'
import { type Asking, asked, dump, unknown } from './explaining.js'

const SHOP = namespaceObject('shop', { env: 'prod' })
const WEB = podObject('shop', 'web', ['10.128.11.5', 'fd01::5'])
const held = (name: string, items: Readonly<Record<string, string>>, over: object = {}) =>
  egressIPObject(name, Object.keys(items), {
    status: { items: Object.entries(items).map(([egressIP, node]) => ({ egressIP, node })) },
    ...over,
  })
const first = (objects: readonly object[], address: string, asking: Asking = {}) => {
  const { addresses = [], answer } = asked('ip', address, dump(...objects), asking)
  if (!addresses[0]) throw new Error('no address')
  return { ...addresses[0], answer }
}

describe('explain ip', () => {
  it('says who uses an address, where it is, why there, why not elsewhere, and what it makes of the hosts', () => {
    const files = dump(
      ...NODES.slice(0, 2),
      nodeObject({ name: 'node-c', host: 13, ready: false }),
      SHOP,
      WEB,
      held('eip', { '192.0.2.50': 'node-b' }),
    )
    const { answer, addresses, problems } = asked('ip', '192.0.2.50', files)
    expect(answer).toBe('192.0.2.50 is used by 1 pod (shop/web), through eip on node-b.')
    expect(addresses).toEqual([
      {
        egressIP: '192.0.2.50',
        object: 'eip',
        node: 'node-b',
        network: '192.0.2.0/24',
        networkType: 'primary',
        change: 'keep',
        from: null,
        certain: true,
        why: { code: 'Kept', message: 'node-b has it already, and an assignment that is valid never moves' },
        candidates: [{ node: 'node-a', addresses: 0 }],
        excluded: [{ node: 'node-c', reason: 'NotReady' }],
        pods: [{ pod: 'shop/web', network: 'default' }],
        unsupported: [],
        entries: [
          { node: 'node-b', artefact: 'addresses.json', subsystem: 'addresses', key: '192.0.2.50/32 dev br-ex' },
          {
            node: 'node-b',
            artefact: 'guard.nftables.json',
            subsystem: 'nftables',
            key: 'element netdev ovn-kubernetes-egressip egressip-v4 192.0.2.50',
          },
        ],
      },
    ])
    expect(problems.every(({ object }) => object === 'eip')).toBe(true)
  })

  it.each(['2001:db8:1::50', '2001:DB8:1:0:0:0:0:50', '[2001:db8:1::50]', '2001:db8:1::50/128', '2001.0db8.0001.0000.0000.0000.0000.0050'])(
    'takes the spelling %s',
    (written) => {
      const { question, addresses } = asked('ip', written, dump(...NODES, SHOP, held('eip', { '2001:db8:1::50': 'node-a' })))
      expect(question).toEqual({ kind: 'ip', name: written })
      expect(addresses?.[0]?.egressIP).toBe('2001:db8:1::50')
      const keys = addresses?.[0]?.entries.map(({ key }) => key) ?? []
      expect(keys).toContain('rule netdev ovn-kubernetes-egressip egressip-drop #2')
    },
  )
  it('takes an IPv4 address in IPv6', () => {
    expect(first([...NODES, SHOP, held('eip', { '192.0.2.50': 'node-a' })], '::ffff:192.0.2.50').egressIP).toBe('192.0.2.50')
  })

  it('does not take an address for a longer one that begins with it', () => {
    const objects = [...NODES, SHOP, held('eip', { '192.0.2.5': 'node-a' }), held('other', { '192.0.2.50': 'node-a' })]
    expect(first(objects, '192.0.2.5').entries.map(({ key }) => key)).toEqual([
      '192.0.2.5/32 dev br-ex',
      'element netdev ovn-kubernetes-egressip egressip-v4 192.0.2.5',
    ])
  })

  it('finds the pods of an address of a secondary network in the rules, the map and the routes of its node alone', () => {
    const second = (name: string, host: number, cidr: string) =>
      nodeObject({
        name,
        host,
        annotations: { 'k8s.ovn.org/host-cidrs': JSON.stringify([`192.0.2.${host}/24`, `2001:db8:1::${host}/64`, cidr]) },
      })
    const objects = [
      second('node-a', 11, '198.51.100.11/24'),
      second('node-b', 12, '203.0.113.12/24'),
      SHOP,
      WEB,
      held('eip', { '198.51.100.50': 'node-a', '203.0.113.50': 'node-b' }),
    ]
    expect(first(objects, '198.51.100.50').entries.map(({ node, subsystem, key }) => `${node} ${subsystem} ${key}`)).toEqual([
      'node-a addresses 198.51.100.50/32 dev network(198.51.100.0/24)',
      'node-a nftables element netdev egretta-guard egressip-v4 198.51.100.50',
      'node-a nftables element inet egretta egress-ip-snat-v4 {"concat":["10.128.11.5","network(198.51.100.0/24)"]}',
      'node-a routes routes-of(network(198.51.100.0/24)) inet table 1000+ifindex(network(198.51.100.0/24))',
      'node-a rules 6000 from 10.128.11.5/32 lookup 1000+ifindex(network(198.51.100.0/24))',
    ])
  })

  it('says which rule chose the node', () => {
    const two = NODES.slice(0, 2)
    const added = egressIPObject('eip', ['192.0.2.50'])
    expect(first([NODES[0] as object, SHOP, added], '192.0.2.50').why).toEqual({
      code: 'OnlyCandidate',
      message: 'node-a is the only node that may host it',
    })
    expect(first([...two, SHOP, held('old', { '192.0.2.60': 'node-a' }), added], '192.0.2.50')).toMatchObject({
      node: 'node-b',
      why: { code: 'LeastLoaded', message: 'node-b holds the fewest egress IPs: 0 beside it, the other candidate 1' },
    })
    expect(first([...two, SHOP, added], '192.0.2.50')).toMatchObject({
      node: 'node-a',
      why: { code: 'FirstByName', message: 'node-a holds no other egress IP, as few as node-b, and is the first of them by name' },
      answer: '192.0.2.50 is used by no pod, through eip on node-a, once the plan is applied.',
    })
    const pair = egressIPObject('eip', ['192.0.2.50', '192.0.2.51'], { status: { items: [{ egressIP: '192.0.2.50', node: 'node-a' }] } })
    expect(first([...two, SHOP, pair], '192.0.2.51').why).toEqual({
      code: 'OnlyRoom',
      message: 'node-b has room, and the only other node that may host it is full or holds another address of the object',
    })
  })
  it('says why an address leaves its node', () => {
    const moving = [...NODES.slice(0, 2), SHOP, held('eip', { '192.0.2.50': 'node-b' })]
    expect(first(moving, '192.0.2.50', { options: { drain: ['node-b'] } }).why).toEqual({
      code: 'OnlyCandidate',
      message: 'it leaves node-b, which is being drained; node-a is the only node that may host it',
    })
    expect(first(moving, '192.0.2.50', { options: { down: ['node-b'] } }).why.message).toMatch(/^it leaves node-b, which is unreachable; /)
    expect(first([NODES[0] as object, SHOP, held('eip', { '192.0.2.50': 'gone' })], '192.0.2.50').why.message).toMatch(
      /^it leaves gone, which the cluster does not have; /,
    )
    const crowded = [...NODES.slice(0, 2), SHOP, held('a', { '192.0.2.51': 'node-b' }), held('b', { '192.0.2.52': 'node-b' })]
    const moved = asked('node', 'node-a', dump(...crowded), { options: { rebalance: 1 } }).node?.holds[0]?.egressIP as string
    expect(first(crowded, moved, { options: { rebalance: 1 } }).why.message).toMatch(/^it leaves node-b for balance \(--rebalance\); /)
    expect(
      first([NODES[0] as object, SHOP, held('eip', { '192.0.2.50': 'node-a' })], '192.0.2.50', { options: { drain: ['node-a'] } }),
    ).toMatchObject({
      change: 'keep',
      why: { code: 'DrainIncomplete', message: 'node-a is being drained, but no other node takes it, so it stays' },
    })
  })

  it('gives a refused address the reason of the plan, and the rule of every node', () => {
    const lonely = first([...NODES, SHOP, egressIPObject('eip', ['198.51.100.9'])], '198.51.100.9')
    expect(lonely).toMatchObject({
      node: null,
      change: 'refuse',
      why: { code: 'NoHostingNetwork' },
      excluded: ['node-a', 'node-b', 'node-c'].map((node) => ({ node, reason: 'NoHostingNetwork' })),
      entries: [],
      answer: '198.51.100.9 is used by no pod: it is on no node (eip: NoHostingNetwork).',
    })
    const conflict = first([...NODES, SHOP, WEB, egressIPObject('eip', ['192.0.2.12'])], '192.0.2.12')
    expect(conflict).toMatchObject({ change: 'refuse', why: { code: 'AddressConflict' }, excluded: [], candidates: [], pods: [] })
    expect(conflict.why.message).toBe('192.0.2.12 of eip is an address of the host node-b')
    expect(first([...NODES, SHOP, egressIPObject('eip', ['oops'])], 'oops')).toMatchObject({
      egressIP: 'oops',
      why: { code: 'InvalidAddress' },
    })
  })

  it('lists every object that asks for the address, the one that has it first', () => {
    const { answer, addresses } = asked(
      'ip',
      '192.0.2.50',
      dump(...NODES, SHOP, egressIPObject('a', ['192.0.2.50']), held('b', { '192.0.2.50': 'node-a' })),
    )
    expect(addresses?.map(({ object, node, why }) => [object, node, why.code])).toEqual([
      ['b', 'node-a', 'Kept'],
      ['a', null, 'AddressHeldByOther'],
    ])
    expect(answer).toBe('192.0.2.50 is used by no pod, through b on node-a; 1 other object asks for it in vain.')
  })

  it('leaves out the pods that another object decides, and those of another family', () => {
    const older = held('older', { '192.0.2.60': 'node-b' }, { metadata: { name: 'older', creationTimestamp: '2026-01-01T00:00:00Z' } })
    const newer = held('newer', { '192.0.2.50': 'node-a', '2001:db8:1::50': 'node-b' })
    const v4 = podObject('shop', 'v4', ['10.128.11.6'])
    const objects = [...NODES, SHOP, WEB, v4]
    expect(first([...objects, newer], '192.0.2.50').pods.map(({ pod }) => pod)).toEqual(['shop/v4', 'shop/web'])
    expect(first([...objects, newer], '2001:db8:1::50').pods.map(({ pod }) => pod)).toEqual(['shop/web'])
    expect(first([...objects, newer, older], '192.0.2.50').pods).toEqual([])
    expect(first([...objects, newer, older], '192.0.2.60').pods.map(({ pod }) => pod)).toEqual(['shop/v4', 'shop/web'])
  })

  it('knows what is not ours, and what is being removed', () => {
    const files = [
      ...intent(egressIPObject('eip', ['192.0.2.50'])),
      ...topology(...NODES, SHOP, WEB, held('theirs', { '192.0.2.70': 'node-c' })),
    ]
    expect(asked('ip', '192.0.2.70', files).addresses).toMatchObject([
      { object: 'theirs', node: 'node-c', network: '192.0.2.0/24', change: 'keep', why: { code: 'NotOurs' } },
    ])
    const lock: Lock = {
      apiVersion: 'egretta.dev/v1alpha1',
      kind: 'Lock',
      objects: { theirs: { addresses: { '192.0.2.70': { node: 'node-c', seen: 'node-c' } } } },
    }
    const gone = asked('ip', '192.0.2.70', files, { lock })
    expect(gone.addresses).toMatchObject([{ node: null, change: 'remove', from: 'node-c', why: { code: 'NotAskedFor' }, pods: [] }])
    expect(gone.answer).toBe('192.0.2.70 is used by no pod: theirs does not ask for it any more, and it leaves node-c.')
  })

  it('says that a prediction is one, and renders nothing for it', () => {
    const one = first([clusterObject({ placement: 'advisory' }), ...NODES, SHOP, WEB, egressIPObject('eip', ['192.0.2.50'])], '192.0.2.50')
    expect(one).toMatchObject({ certain: false, change: 'add', entries: [] })
    expect(one.answer).toBe('192.0.2.50 is used by 1 pod (shop/web), through eip on node-a, once the plan is applied, as predicted.')
  })

  it('tells what an address is that is no egress IP, or which ones are near', () => {
    const files = dump(...NODES, SHOP, WEB, held('eip', { '192.0.2.50': 'node-a', '192.0.2.90': 'node-b' }))
    expect(unknown('ip', '192.0.2.12', files)).toBe(
      '192.0.2.12 is no egress IP; it is an address of the host node-b (egretta explain node node-b)',
    )
    expect(unknown('ip', '10.128.11.5', files)).toMatch(/it is the address of the pod shop\/web/)
    expect(unknown('ip', '192.0.2.88', files)).toBe('no EgressIP of the inputs has 192.0.2.88; the nearest are 192.0.2.90, 192.0.2.50')
    expect(unknown('ip', '2001:db8::1', files)).toBe('no EgressIP of the inputs has 2001:db8::1; none has an address of its family')
    expect(unknown('ip', '192.0.2.050', files)).toBe('"192.0.2.050" is not an address: the part "050" has a leading zero')
  })
})
