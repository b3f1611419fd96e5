import { describe, expect, it } from 'vitest'
import type { PlacementOptions } from '../../src/model/assignment.js'
import { NO_OPTIONS, place } from '../../src/place/place.js'
import { type Document, egressIP, namespace, node, placed, pod, projectOf } from './cluster.js'

const [a, b] = ['alder-a', 'alder-b'].map((name) => node(name)) as [Document, Document]
const team = (name: string) => namespace(name, { team: name })
const told = (documents: readonly Document[], options: Partial<PlacementOptions> = {}) =>
  placed(documents, options).problems.map(({ severity, code, object, message }) => `${severity} ${code} ${object}: ${message}`)

describe('what is worth knowing', () => {
  it('is nothing where all is well', () => {
    expect(told([a, b, team('web'), pod('web', 'one'), egressIP('web', ['192.0.2.40', '192.0.2.41'])])).toEqual([])
  })

  it('is a selector that matches no namespace, or every pod', () => {
    expect(told([a, team('web'), team('shop'), egressIP('wbe', ['192.0.2.40'])])).toEqual([
      'warning SelectorMatchesNoNamespace wbe: namespaceSelector of wbe matches none of the 2 namespaces.',
    ])
    expect(told([a, egressIP('web', ['192.0.2.40'])])).toEqual([])
    expect(told([a, team('web'), egressIP('web', ['192.0.2.40'], { namespaces: {} })])).toEqual([
      'warning SelectorMatchesEverything web: web selects every pod of the cluster, those of the system namespaces too.',
    ])
    expect(told([a, team('web'), egressIP('web', ['192.0.2.40'], { namespaces: {}, pods: { matchLabels: { app: 'x' } } })])).toEqual([
      'warning SelectorMatchesEverything web: web selects pods of every namespace, those of the system namespaces too.',
    ])
    expect(told([a, team('web'), egressIP('web', ['192.0.2.40'], { nodes: {} })])).toEqual([
      'warning SelectorMatchesEverything web: Every node of the cluster may host the addresses of web, and every one is probed for that.',
    ])
  })

  it('is a pod that two objects select, with the older one as the winner', () => {
    const objects = [
      egressIP('old', ['192.0.2.40'], { age: 1, namespaces: { matchLabels: { team: 'web' } } }),
      egressIP('web', ['192.0.2.41']),
    ]
    const one = told([a, b, team('web'), pod('web', 'one'), ...objects])
    expect(one).toEqual(['error OverlappingSelection web: The pod web/one is selected by both old and web; old decides the address.'])
    const [two] = told([a, b, team('web'), pod('web', 'two'), pod('web', 'one'), ...objects])
    expect(two).toContain('2 pods, such as web/one, are selected by both old and web; old decides the address.')
  })

  it('names our object where the other one is not ours', () => {
    const theirs = egressIP('theirs', ['192.0.2.60'], { namespaces: { matchLabels: { team: 'web' } } })
    const inputs = projectOf([egressIP('web', ['192.0.2.41'], {})], [a, team('web'), pod('web', 'one'), theirs])
    const [found] = place(inputs, NO_OPTIONS).problems
    expect(found).toMatchObject({ code: 'OverlappingSelection', object: 'web', source: { file: 'intent.json' } })
  })

  it('is an address in two networks of its node', () => {
    const leg = node('alder-a', { primary: ['192.0.2.11/24'], others: ['192.0.2.200/26', '192.0.2.12/32', '192.0.2.13/24'] })
    expect(told([leg, egressIP('web', ['192.0.2.210'])])).toEqual([
      'warning OverlappingNetworks web: 192.0.2.210 of web lies in 192.0.2.192/26 of alder-a too; 192.0.2.0/24 (primary) hosts it.',
    ])
    expect(told([leg, egressIP('web', ['192.0.2.40'])])).toEqual([])
  })

  it('is a secondary address for pods of a primary user-defined network', () => {
    const leg = node('alder-a', { others: ['198.51.100.10/24'] })
    const blue = namespace('blue', { team: 'web', 'k8s.ovn.org/primary-user-defined-network': '' })
    expect(told([leg, blue, egressIP('web', ['198.51.100.40'])])[0]).toMatch(
      /^error UnsupportedNetwork web: 198.51.100.40 of web is on a secondary/,
    )
    expect(told([leg, blue, egressIP('web', ['192.0.2.40'])])).toEqual([])
  })

  it('is an address in a further network of the external bridge, through which no pod leaves with it', () => {
    const leg = node('alder-a', { primary: ['203.0.113.10/24', '192.0.2.11/24'], others: ['198.51.100.10/24'] })
    expect(told([leg, egressIP('web', ['198.51.100.40']), egressIP('shop', ['192.0.2.40'])])).toEqual([])
    expect(told([leg, egressIP('web', ['203.0.113.40'])])).toEqual([
      'error UnsupportedNetwork web: 203.0.113.40 of web is in 203.0.113.0/24, which is on the external bridge of alder-a and not its primary network: no pod leaves with it.',
    ])
  })

  it('is an imbalance that moves could mend, and only that', () => {
    const crowd = ['40', '41', '42'].map((host) =>
      egressIP(`web-${host}`, [`192.0.2.${host}`], { status: { [`192.0.2.${host}`]: 'alder-a' } }),
    )
    const hint =
      'info Imbalance Node/alder-a: alder-a holds 3 egress IPs and alder-b holds 0, although addresses could move from one to the other.'
    expect(told([a, b, ...crowd])).toEqual([hint])
    expect(told([a, b, ...crowd], { rebalance: Number.POSITIVE_INFINITY })).toEqual([])
    expect(told([a, node('alder-b', { ready: 'False' }), ...crowd])).toEqual([])
  })
})
