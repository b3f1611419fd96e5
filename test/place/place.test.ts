import { describe, expect, it } from 'vitest'
import type { Lock } from '../../src/model/lock.js'
import { NO_OPTIONS, place } from '../../src/place/place.js'
import {
  changesOf,
  cluster,
  type Document,
  egressIP,
  node,
  nodesOf,
  placed,
  platform,
  problemsOf,
  projectOf,
  reasonsOf,
} from './cluster.js'

const [a, b, c, d] = ['alder-a', 'alder-b', 'alder-c', 'alder-d'].map((name) => node(name)) as [Document, Document, Document, Document]
const held = (name: string, address: string, on: string) => egressIP(name, [address], { status: { [address]: on } })
const loads = (answer: ReturnType<typeof placed>) => {
  const count: Record<string, number> = {}
  for (const on of Object.values(nodesOf(answer))) count[on as string] = (count[on as string] ?? 0) + 1
  return count
}

describe('an address that nobody holds', () => {
  it('goes to a node of its selector, by default the label of egress nodes', () => {
    const plain = node('alder-a', { labels: { zone: 'one' } })
    const selector = { nodes: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['one', 'two'] }] } }
    const answer = placed([plain, b, egressIP('web', ['192.0.2.40']), egressIP('shop', ['192.0.2.41'], selector)])
    expect(nodesOf(answer)).toEqual({ '192.0.2.40': 'alder-b', '192.0.2.41': 'alder-a' })
    expect(answer.assignments[0]).toEqual({
      egressIP: '192.0.2.41',
      object: 'shop',
      node: 'alder-a',
      network: '192.0.2.0/24',
      networkType: 'primary',
      interface: null,
      change: 'add',
      from: null,
      certain: true,
    })
  })

  it('shares no node with another address of its object, of whatever family', () => {
    const two = ['alder-a', 'alder-b'].map((name, i) => node(name, { primary: [`192.0.2.1${i}/24`, `2001:db8:7::1${i}/64`] }))
    expect(nodesOf(placed([...two, egressIP('web', ['2001:db8:7::40', '192.0.2.40'])]))).toEqual({
      '192.0.2.40': 'alder-a',
      '2001:db8:7::40': 'alder-b',
    })
  })

  it('is not kept off by what another one could leave: as many as possible, the first by precedence', () => {
    const leg = node('alder-a', { others: ['198.51.100.10/24'] })
    expect(nodesOf(placed([leg, b, egressIP('web', ['192.0.2.40', '198.51.100.40'])]))).toEqual({
      '192.0.2.40': 'alder-b',
      '198.51.100.40': 'alder-a',
    })
    const three = placed([a, b, egressIP('web', ['192.0.2.42', '192.0.2.40', '192.0.2.41'])])
    expect(nodesOf(three)).toEqual({ '192.0.2.40': 'alder-a', '192.0.2.41': 'alder-b' })
    expect(reasonsOf(three)).toEqual({ '192.0.2.42': 'AntiColocation' })
  })

  it('yields to older objects where capacity is short; an object without creationTimestamp is the newest', () => {
    const host = node('alder-a', { cloud: { networks: { ipv4: '192.0.2.0/24' }, capacity: { ip: 2 } } })
    const objects = [
      egressIP('one', ['192.0.2.40']),
      egressIP('two', ['192.0.2.41'], { age: 9 }),
      egressIP('three', ['192.0.2.42'], { age: 3 }),
    ]
    expect(nodesOf(placed([platform('Azure'), host, ...objects]))).toEqual({ '192.0.2.41': 'alder-a', '192.0.2.42': 'alder-a' })
  })

  it('evens out what the nodes hold, EgressIPs that are not ours included', () => {
    const theirs = ['192.0.2.60', '192.0.2.61'].map((address, i) => held(`their-${i}`, address, 'alder-a'))
    const ours = ['192.0.2.40', '192.0.2.41', '192.0.2.42'].map((address, i) => egressIP(`our-${i}`, [address]))
    const answer = place(projectOf(ours, [a, b, c, ...theirs]), NO_OPTIONS)
    expect(nodesOf(answer)).toEqual({ '192.0.2.40': 'alder-b', '192.0.2.41': 'alder-b', '192.0.2.42': 'alder-c' })
  })

  it('finds no room that an EgressIP which is not ours has taken', () => {
    const host = node('alder-a', { cloud: { networks: { ipv4: '192.0.2.0/24' }, capacity: { ipv4: 1 } } })
    const answer = place(
      projectOf([egressIP('web', ['192.0.2.40'])], [platform('AWS'), host, held('theirs', '192.0.2.60', 'alder-a')]),
      NO_OPTIONS,
    )
    expect(reasonsOf(answer)).toEqual({ '192.0.2.40': 'CapacityExhausted' })
  })
})

describe('capacity', () => {
  const host = (capacity: Readonly<Record<string, number>>) =>
    node('alder-a', {
      primary: ['192.0.2.10/32', '2001:db8:7::10/64'],
      cloud: { networks: { ipv4: '192.0.2.0/24', ipv6: '2001:db8:7::/64' }, capacity },
    })
  const four = [
    egressIP('a', ['192.0.2.40']),
    egressIP('b', ['192.0.2.41']),
    egressIP('c', ['2001:db8:7::40']),
    egressIP('d', ['2001:db8:7::41']),
  ]
  const count = (capacity: Readonly<Record<string, number>>) => Object.keys(nodesOf(placed([platform('GCP'), host(capacity), ...four])))

  it('limits both families together or each; 0 is none, a missing one no limit', () => {
    expect(count({ ip: 3 })).toEqual(['192.0.2.40', '192.0.2.41', '2001:db8:7::40'])
    expect(count({ ipv4: 1, ipv6: 2 })).toEqual(['192.0.2.40', '2001:db8:7::40', '2001:db8:7::41'])
    expect(count({ ipv4: 0 })).toEqual(['2001:db8:7::40', '2001:db8:7::41'])
    expect(count({})).toHaveLength(4)
  })

  it('is not used up twice by what a node holds, and evicts nothing when it shrinks', () => {
    const cloud = (ipv4: number) => ({ networks: { ipv4: '192.0.2.0/24' }, capacity: { ipv4 } })
    const objects = [held('one', '192.0.2.40', 'alder-a'), held('two', '192.0.2.41', 'alder-a'), egressIP('new', ['192.0.2.42'])]
    const full = placed([platform('AWS'), node('alder-a', { cloud: cloud(2) }), node('alder-b', { cloud: cloud(0) }), ...objects])
    expect(nodesOf(full)).toEqual({ '192.0.2.40': 'alder-a', '192.0.2.41': 'alder-a' })
    const shrunk = placed([platform('AWS'), node('alder-a', { cloud: cloud(1) }), node('alder-b', { cloud: cloud(5) }), ...objects])
    expect(nodesOf(shrunk)).toEqual({ '192.0.2.40': 'alder-a', '192.0.2.41': 'alder-a', '192.0.2.42': 'alder-b' })
    expect(changesOf(shrunk)).toMatchObject({ '192.0.2.40': 'keep', '192.0.2.41': 'keep', '192.0.2.42': 'add' })
    expect(problemsOf(shrunk)).toEqual(['warning CapacityExhausted Node/alder-a'])
  })
})

describe('a current assignment', () => {
  it('stays while it is valid, whatever joins, and cordoned or not', () => {
    const cordoned = { ...a, spec: { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] } }
    const objects = ['40', '41', '42', '43'].map((host) => held(`web-${host}`, `192.0.2.${host}`, 'alder-a'))
    const answer = placed([cordoned, b, c, ...objects])
    expect(loads(answer)).toEqual({ 'alder-a': 4 })
    expect(new Set(Object.values(changesOf(answer)))).toEqual(new Set(['keep']))
  })

  it('moves when its node is gone, unready, unreachable, unparsable, out of its selector or without its network', () => {
    const elsewhere = (documents: readonly Document[], down: readonly string[] = []) => {
      const [only] = placed([...documents, b, held('web', '192.0.2.40', 'alder-a')], { down }).assignments
      return [only?.node, only?.change, only?.from]
    }
    const moved = ['alder-b', 'move', 'alder-a']
    expect(elsewhere([])).toEqual(moved)
    expect(elsewhere([node('alder-a', { ready: 'False' })])).toEqual(moved)
    expect(elsewhere([a], ['alder-a'])).toEqual(moved)
    expect(elsewhere([a, cluster({ unreachable: ['alder-a'] })])).toEqual(moved)
    expect(elsewhere([node('alder-a', { annotations: { 'k8s.ovn.org/host-cidrs': 'x' } })])).toEqual(moved)
    expect(elsewhere([node('alder-a', { labels: {} })])).toEqual(moved)
    expect(elsewhere([node('alder-a', { primary: ['203.0.113.4/24'] })])).toEqual(moved)
    expect(elsewhere([a])).toEqual(['alder-a', 'keep', null])
  })

  it('is valid for the lower of two addresses of one object on one node', () => {
    const status = { '192.0.2.40': 'alder-a', '192.0.2.41': 'alder-a' }
    const answer = placed([a, b, egressIP('web', ['192.0.2.41', '192.0.2.40'], { status })])
    expect(nodesOf(answer)).toEqual({ '192.0.2.40': 'alder-a', '192.0.2.41': 'alder-b' })
    expect(changesOf(answer)).toEqual({ '192.0.2.40': 'keep', '192.0.2.41': 'move' })
    const alone = placed([a, egressIP('web', ['192.0.2.41', '192.0.2.40'], { status })])
    expect(alone.unassigned).toMatchObject([{ egressIP: '192.0.2.41', reason: 'AntiColocation', from: 'alder-a' }])
  })

  it('is removed when no object asks for the address any more', () => {
    const lock: Lock = {
      apiVersion: 'egretta.dev/v1alpha1',
      kind: 'Lock',
      objects: {
        web: { addresses: { '192.0.2.40': { node: 'alder-a', seen: null }, '192.0.2.41': { node: 'alder-b', seen: null } } },
        shop: { addresses: { '192.0.2.42': { node: 'alder-c', seen: null } } },
      },
    }
    const answer = place(projectOf([egressIP('web', ['192.0.2.40'])], [a, b, c], lock), NO_OPTIONS)
    expect(answer.assignments.map(({ object, egressIP, node, change, from }) => [object, egressIP, node, change, from])).toEqual([
      ['shop', '192.0.2.42', null, 'remove', 'alder-c'],
      ['web', '192.0.2.40', 'alder-a', 'keep', null],
      ['web', '192.0.2.41', null, 'remove', 'alder-b'],
    ])
  })

  it('is what a live status says in advisory mode; the rest is a prediction where more than one node would do', () => {
    const advisory = cluster({ placement: 'advisory' })
    const only = egressIP('only', ['192.0.2.42'], { nodes: { matchLabels: { zone: 'one' } } })
    const certain = (documents: readonly Document[]) =>
      Object.fromEntries(placed(documents).assignments.map(({ egressIP, certain }) => [egressIP, certain]))
    const objects = [
      held('kept', '192.0.2.40', 'alder-a'),
      egressIP('new', ['192.0.2.41']),
      only,
      node('alder-d', { labels: { zone: 'one' } }),
    ]
    expect(certain([advisory, a, b, ...objects])).toEqual({ '192.0.2.40': true, '192.0.2.41': false, '192.0.2.42': true })
    expect(certain([a, b, ...objects])).toEqual({ '192.0.2.40': true, '192.0.2.41': true, '192.0.2.42': true })
    const half = egressIP('half', ['192.0.2.43', '192.0.2.44'], { status: { '192.0.2.44': 'alder-a' } })
    expect(certain([advisory, a, b, half])).toEqual({ '192.0.2.43': true, '192.0.2.44': true })
  })
})

describe('draining', () => {
  it('moves the addresses once, straight to nodes that stay', () => {
    const objects = [
      held('e', '192.0.2.40', 'alder-a'),
      held('f', '192.0.2.41', 'alder-b'),
      held('g', '192.0.2.42', 'alder-c'),
      held('h', '192.0.2.43', 'alder-d'),
    ]
    const answer = placed([a, b, c, d, ...objects, egressIP('new', ['192.0.2.44'])], { drain: ['alder-a', 'alder-b'] })
    expect(changesOf(answer)).toMatchObject({ '192.0.2.40': 'move', '192.0.2.41': 'move', '192.0.2.42': 'keep', '192.0.2.43': 'keep' })
    expect(loads(answer)).toEqual({ 'alder-c': 3, 'alder-d': 2 })
  })

  it('leaves an address that finds no place where it is, and says so', () => {
    const web = egressIP('web', ['192.0.2.40', '192.0.2.41'], { status: { '192.0.2.40': 'alder-a', '192.0.2.41': 'alder-b' } })
    const answer = placed([a, b, web], { drain: ['alder-a'] })
    expect(changesOf(answer)).toEqual({ '192.0.2.40': 'keep', '192.0.2.41': 'keep' })
    expect(problemsOf(answer)).toEqual(['error DrainIncomplete web'])
    expect(answer.problems.find(({ code }) => code === 'DrainIncomplete')?.message).toBe(
      '192.0.2.40 of web stays on alder-a, which is being drained, because it finds no other node: of 2 nodes, 1 is being drained and 1 holds another address of the object.',
    )
  })

  it('comes before addresses that nobody holds yet', () => {
    const cloud = { networks: { ipv4: '192.0.2.0/24' }, capacity: { ip: 1 } }
    const hosts = ['alder-a', 'alder-b'].map((name) => node(name, { cloud }))
    const objects = [held('z', '192.0.2.49', 'alder-a'), egressIP('a', ['192.0.2.40'], { age: 1 })]
    expect(nodesOf(placed([platform('GCP'), ...hosts, ...objects], { drain: ['alder-a'] }))).toEqual({ '192.0.2.49': 'alder-b' })
  })

  it('of a node that does not exist is an error', () => {
    expect(problemsOf(placed([a], { drain: ['aldre-a'], down: ['aldre-b'] }))).toEqual([
      'error UnknownNode Node/aldre-a',
      'error UnknownNode Node/aldre-b',
    ])
  })
})

describe('rebalancing', () => {
  const crowd = ['40', '41', '42', '43', '44', '45'].map((host) => held(`web-${host}`, `192.0.2.${host}`, 'alder-a'))
  const moves = (answer: ReturnType<typeof placed>) => answer.assignments.filter(({ change }) => change === 'move').length

  it('moves nothing unasked, and as few as possible when asked', () => {
    expect(moves(placed([a, b, c, ...crowd]))).toBe(0)
    const answer = placed([a, b, c, ...crowd], { rebalance: Number.POSITIVE_INFINITY })
    expect([moves(answer), loads(answer)]).toEqual([4, { 'alder-a': 2, 'alder-b': 2, 'alder-c': 2 }])
  })

  it('moves at most as many as it is allowed', () => {
    const answer = placed([a, b, c, ...crowd], { rebalance: 2 })
    expect([moves(answer), loads(answer)]).toEqual([2, { 'alder-a': 4, 'alder-b': 1, 'alder-c': 1 }])
  })

  it('makes room for an address that would find no node else', () => {
    const leg = node('alder-b', { others: ['198.51.100.10/24'] })
    const web = egressIP('web', ['192.0.2.40', '198.51.100.40'], { status: { '192.0.2.40': 'alder-b' } })
    expect(reasonsOf(placed([a, leg, web]))).toEqual({ '198.51.100.40': 'AntiColocation' })
    expect(nodesOf(placed([a, leg, web], { rebalance: 1 }))).toEqual({ '192.0.2.40': 'alder-a', '198.51.100.40': 'alder-b' })
  })
})
