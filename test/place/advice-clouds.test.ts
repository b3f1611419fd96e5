import { describe, expect, it } from 'vitest'
import { NO_OPTIONS, place } from '../../src/place/place.js'
import { type Document, egressIP, node, placed, platform, projectOf } from './cluster.js'

const networks = { ipv4: '192.0.2.0/24' }
const cloudNode = (name: string, capacity: Readonly<Record<string, number>>, labels?: Readonly<Record<string, string>>): Document =>
  node(name, { cloud: { networks, capacity }, ...(labels && { labels }) })
const told = (...documents: readonly Document[]) =>
  placed(documents).problems.map(({ severity, code, object, message }) => `${severity} ${code} ${object}: ${message}`)
const web = egressIP('web', ['192.0.2.40'])

describe('CapacityUnknown', () => {
  it('is an egress node of a cloud that does not say its capacity', () => {
    expect(told(platform('AWS'), cloudNode('alder-a', {}), web)).toEqual([
      'warning CapacityUnknown Node/alder-a: alder-a does not say how many IPv4 egress IPs its cloud lets it take; it counts as having no limit.',
    ])
    const dual = node('alder-a', { cloud: { networks: { ...networks, ipv6: '2001:db8::/64' }, capacity: { ipv4: 5 } } })
    expect(told(platform('AWS'), dual, web)).toEqual([expect.stringContaining('how many IPv6 egress IPs')])
  })

  it('is nothing where the capacity is said, the node is no egress node, or no cloud hosts egress IPs', () => {
    expect(told(platform('AWS'), cloudNode('alder-a', { ipv4: 5 }), web)).toEqual([])
    expect(told(platform('GCP'), cloudNode('alder-a', { ip: 5 }), web)).toEqual([])
    expect(told(platform('AWS'), cloudNode('alder-a', { ipv4: 5 }), cloudNode('alder-b', {}, {}), web)).toEqual([])
    expect(told(platform('BareMetal'), cloudNode('alder-a', {}), web)).toEqual([])
  })
})

describe('ProviderLimit', () => {
  const crowd = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      egressIP(`web-${at}`, [`192.0.2.${100 + at}`], { status: { [`192.0.2.${100 + at}`]: 'alder-a' } }),
    )

  it('is a node that says or holds more than its provider allows', () => {
    expect(told(platform('GCP'), cloudNode('alder-a', { ip: 101 }), web)).toEqual([
      'warning ProviderLimit Node/alder-a: alder-a says that it can take 101 egress IPs, but GCP allows 100 alias addresses on a node.',
    ])
    expect(told(platform('Azure'), cloudNode('alder-a', { ip: 300 }), web)).toEqual([
      'warning ProviderLimit Node/alder-a: alder-a says that it can take 300 egress IPs, but Azure allows 256 addresses on a network interface.',
    ])
    expect(told(platform('GCP'), cloudNode('alder-a', {}), ...crowd(101))).toContain(
      'warning ProviderLimit Node/alder-a: alder-a holds 101 egress IPs, but GCP allows 100 alias addresses on a node.',
    )
  })

  it('is nothing up to the limit, nor on other clouds', () => {
    expect(told(platform('GCP'), cloudNode('alder-a', { ip: 100 }), web)).toEqual([])
    expect(told(platform('Azure'), cloudNode('alder-a', { ip: 256 }), web)).toEqual([])
    expect(told(platform('AWS'), cloudNode('alder-a', { ipv4: 300 }), web)).toEqual([])
  })
})

describe('FloatingIPLoss', () => {
  const nodes = [cloudNode('alder-a', { ip: 5 }), cloudNode('alder-b', { ip: 5 })]
  const live = (from: string) => egressIP('web', ['192.0.2.40'], { status: { '192.0.2.40': from } })

  it('is an address that leaves its node on OpenStack', () => {
    expect(told(platform('OpenStack'), ...nodes, live('gone'))).toEqual([
      'warning FloatingIPLoss web: 192.0.2.40 of web leaves gone for alder-a: a floating IP of its port egressip-192.0.2.40 is lost, and while one is bound the move is blocked.',
    ])
    const held = egressIP('web', ['192.0.2.40', '192.0.2.41'], { status: { '192.0.2.40': 'alder-a', '192.0.2.41': 'alder-b' } })
    const { problems } = place(projectOf([web], [platform('OpenStack'), ...nodes, held]), NO_OPTIONS)
    expect(problems.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'FloatingIPLoss 192.0.2.41 of web leaves alder-b: a floating IP of its port egressip-192.0.2.41 is lost, and while one is bound the removal is blocked.',
    ])
  })

  it('is nothing for an address that stays or comes, nor on other clouds', () => {
    expect(told(platform('OpenStack'), ...nodes, live('alder-b'))).toEqual([])
    expect(told(platform('OpenStack'), ...nodes, web)).toEqual([])
    expect(told(platform('GCP'), ...nodes, live('gone'))).toEqual([])
  })
})

describe('UnsupportedPlatform', () => {
  const assignable = { 'k8s.ovn.org/egress-assignable': '' }
  const master = { 'node-role.kubernetes.io/control-plane': '' }

  it('is a control-plane node of AWS that a selector matches', () => {
    expect(told(platform('AWS'), cloudNode('alder-a', { ipv4: 5 }, { ...assignable, ...master }), web)).toEqual([
      'warning UnsupportedPlatform Node/alder-a: alder-a is a control-plane node, on which OpenShift does not support egress IPs on AWS, and egressNodeSelector of web matches it.',
    ])
    const worker = cloudNode('alder-b', { ipv4: 5 })
    expect(told(platform('AWS'), cloudNode('alder-a', { ipv4: 5 }, master), worker, web)).toEqual([])
    expect(told(platform('GCP'), cloudNode('alder-a', { ip: 5 }, { ...assignable, ...master }), web)).toEqual([])
  })

  it('is a secondary network on a hypervisor', () => {
    const leg = node('alder-a', { others: ['198.51.100.10/24'] })
    const far = egressIP('web', ['198.51.100.40'])
    expect(told(platform('VSphere'), leg, far)).toEqual([
      'warning UnsupportedPlatform web: 198.51.100.40 of web is on a secondary network of alder-a; on VSphere OpenShift supports the primary one alone.',
    ])
    expect(told(platform('VSphere'), leg, web)).toEqual([])
    for (const type of ['BareMetal', 'None']) expect(told(platform(type), leg, far)).toEqual([])
    expect(told(leg, far)).toEqual([])
  })
})
