import { describe, expect, it } from 'vitest'
import { NO_OPTIONS, place } from '../../src/place/place.js'
import { cluster, egressIP, node, nodesOf, placed, platform, problemsOf, projectOf, reasonsOf } from './cluster.js'

const three = [node('alder-a'), node('alder-b'), node('alder-c')]
const v6 = (host: number) => node(`birch-${host}`, { primary: [`192.0.2.${host}/24`, `2001:db8:7::${host}/64`] })

describe('an address that is wrong in itself', () => {
  it('is refused alone, whatever is wrong with its spelling', () => {
    const bad = ['192.0.2.300', '192.0.2.40/24', '192.0.2.07', '::ffff:192.0.2.40', 'fe80::9%eth1', '', 'gateway']
    const answer = placed([...three, egressIP('web', [...bad, '192.0.2.40'])])
    expect(nodesOf(answer)).toEqual({ '192.0.2.40': 'alder-a' })
    expect(answer.unassigned.map(({ egressIP, reason }) => [egressIP, reason])).toEqual(
      [...bad].sort().map((text) => [text, 'InvalidAddress']),
    )
    const [problem] = answer.problems.filter(({ message }) => message.includes('192.0.2.07'))
    expect(problem).toMatchObject({ severity: 'error', code: 'InvalidAddress', object: 'web', source: { file: 'dump.json' } })
    expect(problem?.message).toBe('"192.0.2.07" of web is not an address: the part "07" has a leading zero.')
  })

  it('stands once, however often and in whatever spelling it is written', () => {
    const answer = placed([v6(1), v6(2), egressIP('web', ['2001:db8:7::40', '2001:DB8:7:0::0040', 'x', 'x'])])
    expect(answer.assignments).toHaveLength(1)
    expect(answer.unassigned).toHaveLength(1)
    expect(problemsOf(answer)).toEqual(['error InvalidAddress web', 'warning DuplicateInObject web', 'warning DuplicateInObject web'])
    expect(answer.problems.map(({ message }) => message)).toContain(
      '"2001:DB8:7:0::0040" stands a second time in web: it is 2001:db8:7::40.',
    )
  })

  it('is refused with its whole object, where that is invalid or stands twice', () => {
    const answer = placed([...three, egressIP('web', ['192.0.2.40']), egressIP('web', ['192.0.2.41']), egressIP('shop', ['192.0.2.42'])])
    expect(reasonsOf(answer)).toEqual({ '192.0.2.40': 'InvalidObject', '192.0.2.41': 'InvalidObject' })
    expect(nodesOf(answer)).toEqual({ '192.0.2.42': 'alder-a' })
    expect(problemsOf(answer)).toEqual(['error InvalidObject web', 'error InvalidObject web'])
  })
})

describe('an address that a host has', () => {
  it('is refused, egress node or not, and its neighbor in the list is placed', () => {
    const idle = node('cedar', { primary: ['192.0.2.90/24'], others: ['192.0.2.91/32'], labels: {} })
    const answer = placed([...three, idle, egressIP('web', ['192.0.2.11', '192.0.2.40', '192.0.2.90', '192.0.2.91'])])
    expect(reasonsOf(answer)).toEqual({ '192.0.2.11': 'AddressConflict', '192.0.2.90': 'AddressConflict', '192.0.2.91': 'AddressConflict' })
    expect(nodesOf(answer)).toEqual({ '192.0.2.40': 'alder-a' })
    expect(answer.unassigned[0]?.message).toBe('192.0.2.11 of web is an address of the host alder-b.')
    expect(answer.unassigned[0]).toMatchObject({ reasons: {}, nodes: [], from: null })
  })

  it('is none of its own where the host says that it holds it, or a status does', () => {
    const holding = node('alder-a', { others: ['192.0.2.40/32'], holds: ['192.0.2.40'] })
    expect(nodesOf(placed([holding, egressIP('web', ['192.0.2.40'])]))).toEqual({ '192.0.2.40': 'alder-a' })
    const silent = node('alder-a', { others: ['192.0.2.40/32'] })
    expect(nodesOf(placed([silent, egressIP('web', ['192.0.2.40'], { status: { '192.0.2.40': 'alder-a' } })]))).toEqual({
      '192.0.2.40': 'alder-a',
    })
    expect(reasonsOf(placed([silent, egressIP('web', ['192.0.2.40'])]))).toEqual({ '192.0.2.40': 'AddressConflict' })
  })

  it('is no conflict while it moves from an object that gave it up', () => {
    const silent = node('alder-a', { others: ['192.0.2.40/32'] })
    const before = egressIP('web', ['192.0.2.40', '192.0.2.41'], { status: { '192.0.2.40': 'alder-a' } })
    const inputs = projectOf([egressIP('web', ['192.0.2.41']), egressIP('shop', ['192.0.2.40'])], [silent, node('alder-b'), before])
    const answer = place(inputs, NO_OPTIONS)
    expect(answer.unassigned).toEqual([])
    expect(answer.assignments.map(({ object, egressIP, change, from }) => [object, egressIP, change, from])).toEqual([
      ['shop', '192.0.2.40', 'add', null],
      ['web', '192.0.2.40', 'remove', 'alder-a'],
      ['web', '192.0.2.41', 'add', null],
    ])
  })

  it('stays with a valid holder, with a warning', () => {
    const late = node('alder-b', { others: ['192.0.2.40/32'] })
    const answer = placed([node('alder-a'), late, egressIP('web', ['192.0.2.40'], { status: { '192.0.2.40': 'alder-a' } })])
    expect(nodesOf(answer)).toEqual({ '192.0.2.40': 'alder-a' })
    expect(problemsOf(answer)).toEqual(['warning AddressConflict web'])
  })
})

describe('an address that two objects ask for', () => {
  const asking = (web: Parameters<typeof egressIP>[2], shop: Parameters<typeof egressIP>[2]) =>
    placed([...three, egressIP('web', ['192.0.2.40'], web), egressIP('shop', ['192.0.2.40'], shop)])
  const winner = (answer: ReturnType<typeof placed>) => answer.assignments.map(({ object }) => object)

  it('goes to the one whose status names it, whatever the node, then to the older, then to the first by name', () => {
    expect(winner(asking({ status: { '192.0.2.40': 'gone' } }, { age: 5 }))).toEqual(['web'])
    expect(winner(asking({ age: 4 }, { age: 5 }))).toEqual(['web'])
    expect(winner(asking({ age: 5 }, {}))).toEqual(['web'])
    expect(winner(asking({}, {}))).toEqual(['shop'])
  })

  it('says who has the better right and why', () => {
    const message = (answer: ReturnType<typeof placed>) => answer.unassigned.map((entry) => `${entry.reason}: ${entry.message}`)
    expect(message(asking({ status: { '192.0.2.40': 'alder-b' } }, {}))).toEqual([
      'AddressHeldByOther: 192.0.2.40 of shop belongs to web, which holds it on alder-b.',
    ])
    expect(message(asking({ age: 4 }, {}))).toEqual([
      'AddressHeldByOther: 192.0.2.40 of shop belongs to web, which asks for it too and is older.',
    ])
  })

  it('is refused to the other even if the first finds no node', () => {
    const answer = placed([
      ...three,
      egressIP('a', ['192.0.2.40'], { nodes: { matchLabels: { zone: 'none' } } }),
      egressIP('b', ['192.0.2.40']),
    ])
    expect(answer.unassigned.map(({ object, reason }) => [object, reason])).toEqual([
      ['a', 'NoMatchingNode'],
      ['b', 'AddressHeldByOther'],
    ])
  })

  it('is refused where an EgressIP that is not ours has it', () => {
    const foreign = egressIP('theirs', ['192.0.2.40'], { status: { '192.0.2.40': 'alder-c' } })
    const answer = place(projectOf([egressIP('web', ['192.0.2.40'])], [...three, foreign]), NO_OPTIONS)
    expect(reasonsOf(answer)).toEqual({ '192.0.2.40': 'AddressHeldByOther' })
    expect(answer.assignments).toEqual([])
  })
})

describe('a reserved address', () => {
  it('is the first or last of a hosting network, or a next hop', () => {
    const host = node('alder-a', { nextHops: ['192.0.2.1', '2001:db8:7::1'], primary: ['192.0.2.11/24', '2001:db8:7::11/64'] })
    const addresses = ['192.0.2.0', '192.0.2.1', '192.0.2.255', '2001:db8:7::', '2001:db8:7::1']
    const answer = placed([host, egressIP('web', addresses)])
    expect(reasonsOf(answer)).toEqual(Object.fromEntries(addresses.map((text) => [text, 'ReservedAddress'])))
    expect(answer.unassigned.map(({ message }) => message.replace(/^.* of web is reserved: /, ''))).toEqual([
      'it is the network address of 192.0.2.0/24.',
      'it is a next hop of alder-a.',
      'it is the broadcast address of 192.0.2.0/24.',
      'it is the subnet-router anycast address of 2001:db8:7::/64.',
      'it is a next hop of alder-a.',
    ])
  })

  it('has no edges in networks of two addresses', () => {
    const answer = placed([
      node('alder-a', { primary: ['192.0.2.11/31', '2001:db8:7::11/127'] }),
      egressIP('web', ['192.0.2.10', '2001:db8:7::10']),
    ])
    expect(reasonsOf(answer)).toEqual({ '2001:db8:7::10': 'AntiColocation' })
  })

  it('lies in a subnet of the cluster itself', () => {
    const host = node('alder-a', {
      primary: ['10.0.0.11/8'],
      annotations: {
        'k8s.ovn.org/node-subnets': '{"default":["10.128.4.0/24"]}',
        'k8s.ovn.org/node-masquerade-subnet': '{"ipv4":"10.9.0.0/17"}',
      },
    })
    const own = cluster({ subnets: { service: ['10.96.0.0/16'] } })
    const answer = placed([host, own, egressIP('web', ['10.128.4.9', '10.96.3.3', '10.9.0.4', '100.64.1.1', '100.88.1.1', '10.1.1.1'])])
    expect(nodesOf(answer)).toEqual({ '10.1.1.1': 'alder-a' })
    expect(answer.unassigned.map(({ message }) => message.replace(/^.* lies in /, ''))).toEqual([
      'the masquerade subnet 10.9.0.0/17.',
      'the service subnet 10.96.0.0/16.',
      'the pod subnet 10.128.4.0/24.',
      'the join subnet 100.64.0.0/16.',
      'the transit subnet 100.88.0.0/16.',
    ])
  })

  it('stays with a valid holder, with a warning', () => {
    const host = node('alder-a', { nextHops: ['192.0.2.40'] })
    const answer = placed([host, egressIP('web', ['192.0.2.40'], { status: { '192.0.2.40': 'alder-a' } })])
    expect(nodesOf(answer)).toEqual({ '192.0.2.40': 'alder-a' })
    expect(problemsOf(answer)).toEqual(['warning ReservedAddress web'])
    expect(answer.problems.find(({ code }) => code === 'ReservedAddress')?.message).toContain('it stays on alder-a, which holds it.')
  })
})

describe('an address without a node', () => {
  const zone = (zone: string) => ({ nodes: { matchLabels: { zone } } })

  it('names the filter that removed the last node', () => {
    const cloud = (ipv4: number) => ({ networks: { ipv4: '192.0.2.0/24' }, capacity: { ipv4 } })
    const answer = placed([
      platform('AWS'),
      node('alder-a', { labels: { zone: 'one' }, ready: 'False', cloud: cloud(9) }),
      node('alder-b', { labels: { zone: 'two' }, cloud: cloud(9) }),
      node('alder-c', { labels: { zone: 'three' }, cloud: cloud(0) }),
      egressIP('a', ['192.0.2.40'], zone('nowhere')),
      egressIP('b', ['192.0.2.41'], zone('one')),
      egressIP('c', ['203.0.113.42'], zone('two')),
      egressIP('d', ['192.0.2.43'], zone('three')),
      egressIP('e', ['192.0.2.44', '192.0.2.45'], zone('two')),
    ])
    expect(nodesOf(answer)).toEqual({ '192.0.2.44': 'alder-b' })
    expect(reasonsOf(answer)).toEqual({
      '192.0.2.40': 'NoMatchingNode',
      '192.0.2.41': 'NoAvailableNode',
      '203.0.113.42': 'NoHostingNetwork',
      '192.0.2.43': 'CapacityExhausted',
      '192.0.2.45': 'AntiColocation',
    })
    expect(answer.unassigned.at(-1)).toEqual({
      egressIP: '192.0.2.45',
      object: 'e',
      reason: 'AntiColocation',
      message: '192.0.2.45 of e is on no node: of 3 nodes, 2 do not match egressNodeSelector and 1 holds another address of the object.',
      from: null,
      reasons: { SelectorMismatch: 2, HoldsSameObject: 1 },
      nodes: [
        { node: 'alder-a', reason: 'SelectorMismatch' },
        { node: 'alder-b', reason: 'HoldsSameObject' },
        { node: 'alder-c', reason: 'SelectorMismatch' },
      ],
    })
    expect(problemsOf(answer)).toEqual([
      'error AntiColocation e',
      'error CapacityExhausted d',
      'error NoAvailableNode b',
      'error NoHostingNetwork c',
      'error NoMatchingNode a',
    ])
  })

  it('says of each node the first rule that excludes it', () => {
    const broken = { 'k8s.ovn.org/host-cidrs': '["192.0.2.13/99"]' }
    const nodes = [
      node('alder-a', { ready: 'Unknown' }),
      node('alder-b', { ready: null }),
      node('alder-c'),
      node('alder-d', { annotations: broken }),
      node('alder-e'),
      node('alder-f', { primary: ['203.0.113.9/24'] }),
      node('alder-g', { labels: {} }),
    ]
    const answer = placed([...nodes, egressIP('web', ['192.0.2.40'])], { down: ['alder-c'], drain: ['alder-e'] })
    expect(answer.unassigned[0]?.nodes.map(({ reason }) => reason)).toEqual([
      'NotReady',
      'NotReady',
      'Unreachable',
      'InvalidNode',
      'Draining',
      'NoHostingNetwork',
      'SelectorMismatch',
    ])
    expect(answer.unassigned[0]?.reason).toBe('NoHostingNetwork')
  })

  it('counts all nodes and names twenty', () => {
    const many = Array.from({ length: 30 }, (_, i) => node(`n${String(i).padStart(2, '0')}`, { primary: [`203.0.113.${i + 1}/24`] }))
    const [entry] = placed([...many, egressIP('web', ['192.0.2.40'])]).unassigned
    expect(entry?.reasons).toEqual({ NoHostingNetwork: 30 })
    expect(entry?.nodes.map(({ node }) => node)).toEqual(many.slice(0, 20).map((_, i) => `n${String(i).padStart(2, '0')}`))
  })

  it('is told that no network hosts what is not global unicast', () => {
    const [entry] = placed([node('alder-a'), egressIP('web', ['224.0.0.9'])]).unassigned
    expect(entry).toMatchObject({
      reason: 'NoHostingNetwork',
      message: '224.0.0.9 of web is on no node: no network hosts an address that is not global unicast.',
    })
  })

  it('says it shortly where one rule excludes every node', () => {
    const message = (...nodes: Parameters<typeof placed>[0]) => placed([...nodes, egressIP('web', ['203.0.113.5'])]).unassigned[0]?.message
    expect(message(node('alder-a'))).toBe('203.0.113.5 of web is on no node: the only node has no network that contains it.')
    expect(message(node('alder-a'), node('alder-b'))).toBe(
      '203.0.113.5 of web is on no node: none of the 2 nodes has a network that contains it.',
    )
  })

  it('is refused without nodes too, and keeps the name of its last holder', () => {
    const [entry] = placed([egressIP('web', ['192.0.2.40'], { status: { '192.0.2.40': 'gone' } })]).unassigned
    expect(entry).toMatchObject({
      reason: 'NoMatchingNode',
      from: 'gone',
      message: '192.0.2.40 of web is on no node: there is no Node among the inputs.',
    })
    expect(placed([egressIP('web', ['192.0.2.40'])]).problems).toMatchObject([
      { code: 'NoMatchingNode', remedy: 'Add the nodes to the topology: kubectl get nodes -o yaml.' },
    ])
  })

  it('is refused on a node of an older release only for what that cannot host', () => {
    const annotations = { 'k8s.ovn.org/host-cidrs': undefined, 'k8s.ovn.org/host-addresses': '["192.0.2.10","198.51.100.4"]' }
    const answer = placed([node('alder-a', { annotations }), egressIP('web', ['192.0.2.40', '198.51.100.4', '198.51.100.5'])])
    expect(nodesOf(answer)).toEqual({ '192.0.2.40': 'alder-a' })
    expect(reasonsOf(answer)).toEqual({ '198.51.100.4': 'AddressConflict', '198.51.100.5': 'NoHostingNetwork' })
  })
})
