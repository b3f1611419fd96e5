import { describe, expect, it } from 'vitest'
import type { Lock } from '../../src/model/lock.js'
import { NO_OPTIONS, place } from '../../src/place/place.js'
import { type Document, egressIP, namespace, node, nodesOf, placed, problemsOf, projectOf } from './cluster.js'

const host = node('alder-a')
const onOwnNetwork = (team: string) => namespace(team, { team, 'k8s.ovn.org/primary-user-defined-network': '' })
const marksOf = (documents: readonly Document[]) => Object.fromEntries(placed([host, ...documents]).marks)
const lockOf = (marks: Readonly<Record<string, number>>): Lock => ({
  apiVersion: 'egretta.dev/v1alpha1',
  kind: 'Lock',
  objects: Object.fromEntries(Object.entries(marks).map(([name, mark]) => [name, { mark, addresses: {} }])),
})

describe('an egress mark', () => {
  it('is given to objects that select a namespace on a primary user-defined network, the lowest free first', () => {
    const objects = [
      egressIP('web', ['192.0.2.40'], { age: 2 }),
      egressIP('shop', ['192.0.2.41'], { age: 1 }),
      egressIP('plain', ['192.0.2.42']),
    ]
    const namespaces = [onOwnNetwork('web'), onOwnNetwork('shop'), namespace('plain', { team: 'plain' })]
    expect(marksOf([...objects, ...namespaces])).toEqual({ shop: 50000, web: 50001 })
    const taken = egressIP('old', ['192.0.2.43'], { mark: '50000' })
    expect(marksOf([...objects, taken, ...namespaces])).toEqual({ old: 50000, shop: 50001, web: 50002 })
  })

  it('is kept: the annotation first, else the lock', () => {
    const intent = [egressIP('web', ['192.0.2.40']), egressIP('shop', ['192.0.2.41'])]
    const topology = [host, egressIP('web', ['192.0.2.40'], { mark: '50321' })]
    const answer = place(projectOf(intent, topology, lockOf({ web: 50007, shop: 50009 })), NO_OPTIONS)
    expect(Object.fromEntries(answer.marks)).toEqual({ shop: 50009, web: 50321 })
  })

  it('of two objects stays with the older, and the other one gets another', () => {
    const answer = placed([
      host,
      egressIP('a', ['192.0.2.40'], { mark: '50000' }),
      egressIP('b', ['192.0.2.41'], { mark: '50000', age: 1 }),
    ])
    expect(Object.fromEntries(answer.marks)).toEqual({ a: 50001, b: 50000 })
    expect(problemsOf(answer)).toEqual(['error DuplicateMark a'])
    expect(Object.keys(nodesOf(answer))).toHaveLength(2)
  })

  it('that an EgressIP has which is not ours is never given away', () => {
    const theirs = egressIP('theirs', ['192.0.2.60'], { mark: '50000' })
    const ours = egressIP('web', ['192.0.2.40'], { age: 1, mark: '50000' })
    const answer = place(projectOf([egressIP('web', ['192.0.2.40'])], [host, theirs, ours]), NO_OPTIONS)
    expect(Object.fromEntries(answer.marks)).toEqual({ web: 50001 })
    expect(problemsOf(answer)).toEqual(['error DuplicateMark web'])
  })

  it('of an EgressIP that is being removed is not given to another one before it is deleted', () => {
    const topology = [host, egressIP('old', ['192.0.2.60'], { mark: '50000' }), onOwnNetwork('web')]
    const answer = place(projectOf([egressIP('web', ['192.0.2.40'])], topology, lockOf({ old: 50000 })), NO_OPTIONS)
    expect(Object.fromEntries(answer.marks)).toEqual({ web: 50001 })
  })

  it('that is no number in the range is an error and unplaces nothing', () => {
    const bad = ['49999', '55001', 'x', '', '050000', '50000.0']
    const answer = placed([host, ...bad.map((mark, i) => egressIP(`web-${i}`, [`192.0.2.4${i}`], { mark }))])
    expect(problemsOf(answer)).toEqual(bad.map((_, i) => `error InvalidMark web-${i}`))
    expect(answer.marks.size).toBe(0)
    expect(answer.unassigned).toEqual([])
  })

  it('runs out after 5,001 objects, and unplaces nothing', () => {
    const locked = Object.fromEntries(Array.from({ length: 5001 }, (_, i) => [`old-${i}`, 50000 + i]))
    const intent = [egressIP('web', ['192.0.2.40']), ...Object.keys(locked).map((name) => egressIP(name, []))]
    const inputs = projectOf(intent, [host, onOwnNetwork('web')], lockOf(locked))
    const answer = place(inputs, NO_OPTIONS)
    expect(answer.marks.has('web')).toBe(false)
    expect(problemsOf(answer).filter((text) => text.includes('web'))).toEqual(['error MarkExhausted web'])
    expect(nodesOf(answer)).toEqual({ '192.0.2.40': 'alder-a' })
  })
})
