import { describe, expect, it } from 'vitest'
import { type Document, egressIP, namespace, node, placed, pod } from './cluster.js'

const nodes = ['alder-a', 'alder-b'].map((name, at) => node(name, { primary: [`192.0.2.${11 + at}/24`, `2001:db8::${11 + at}/64`] }))
const web = namespace('web', { team: 'web' })
const dual = (name: string): Document => ({
  ...pod('web', name),
  status: { phase: 'Running', podIP: '10.128.0.9', podIPs: [{ ip: '10.128.0.9' }, { ip: 'fd01::9' }] },
})
const inWeb = { matchLabels: { team: 'web' } }
const found = (...documents: readonly Document[]) =>
  placed([...nodes, web, ...documents]).problems.map(({ severity, code, object, message }) => `${severity} ${code} ${object}: ${message}`)

describe('MissingFamily', () => {
  it('is pods with an address of a family for which their object has none', () => {
    expect(found(dual('one'), egressIP('web', ['192.0.2.40']))).toEqual([
      'warning MissingFamily web: The pod web/one has an IPv6 address, and web has none for it: that traffic leaves with the address of its node.',
    ])
    expect(found(dual('two'), dual('one'), egressIP('web', ['2001:db8::40']))).toEqual([
      'warning MissingFamily web: 2 pods, such as web/one, have an IPv4 address, and web has none for it: that traffic leaves with the address of its node.',
    ])
  })

  it('is nothing for pods of one family, an object of both, or one that has no address', () => {
    expect(found(pod('web', 'one'), egressIP('web', ['192.0.2.40']))).toEqual([])
    expect(found(dual('one'), egressIP('web', ['192.0.2.40', '2001:db8::40']))).toEqual([])
    expect(found(dual('one'), egressIP('web', ['oops'])).filter((text) => text.includes('MissingFamily'))).toEqual([])
    expect(found({ ...dual('one'), spec: { hostNetwork: true } }, pod('web', 'two'), egressIP('web', ['192.0.2.40']))).toEqual([])
  })

  it('is two objects used as one dual-stack pair', () => {
    const pair = [
      egressIP('web-v4', ['192.0.2.40'], { age: 1, namespaces: inWeb }),
      egressIP('web-v6', ['2001:db8::40'], { age: 2, namespaces: inWeb }),
    ]
    expect(found(dual('one'), ...pair)).toEqual([
      'error OverlappingSelection web-v6: The pod web/one is selected by both web-v4 and web-v6; web-v4 decides the address.',
      'warning MissingFamily web-v4: The pod web/one has an IPv6 address, and web-v4 has none for it; web-v6 has, but two objects do not make a dual-stack pair.',
    ])
  })

  it('is such a pair too where no pod tells: by the selectors', () => {
    const pair = (namespaces: Document, other = namespaces) => [
      egressIP('web-v6', ['2001:db8::40'], { age: 1, namespaces }),
      egressIP('web-v4', ['192.0.2.40'], { age: 2, namespaces: other }),
    ]
    const warning =
      'warning MissingFamily web-v6: web-v6 has IPv6 alone and web-v4, which selects the same pods, IPv4 alone: two objects do not make a dual-stack pair.'
    expect(found(...pair(inWeb))).toEqual([warning])
    expect(found(...pair(inWeb).reverse())).toEqual([warning])
    expect(found(...pair(inWeb, { matchLabels: { team: 'web', 'kubernetes.io/metadata.name': 'web' } }))).not.toContain(warning)
    expect(found(egressIP('a', ['192.0.2.40'], { namespaces: inWeb }), egressIP('b', ['192.0.2.41'], { namespaces: inWeb }))).toEqual([])
  })

  it('is about the network that carries the traffic of a pod', () => {
    const blue: Document = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: 'web',
        name: 'one',
        annotations: {
          'k8s.ovn.org/pod-networks': JSON.stringify({
            default: { ip_addresses: ['10.128.0.9/23', 'fd01::9/64'], role: 'infrastructure-locked' },
            'web/blue': { ip_addresses: ['10.20.0.9/24'], role: 'primary' },
          }),
        },
      },
      status: { phase: 'Running', podIP: '10.128.0.9', podIPs: [{ ip: '10.128.0.9' }, { ip: 'fd01::9' }] },
    }
    expect(found(blue, egressIP('web', ['192.0.2.40']))).toEqual([])
    expect(found(blue, egressIP('web', ['2001:db8::40']))).toEqual([expect.stringContaining('The pod web/one has an IPv4 address')])
  })
})
