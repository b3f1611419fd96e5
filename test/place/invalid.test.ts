import { describe, expect, it } from 'vitest'
import { egressIP, node, nodesOf, placed } from './cluster.js'

const three = [node('alder-a'), node('alder-b'), node('alder-c')]

describe('an address of an object that is left out', () => {
  it('is not handed to another one while its holder is only misspelt', () => {
    const web = egressIP('web', ['192.0.2.40', '192.0.2.41'], { status: { '192.0.2.40': 'alder-b' } })
    const broken = { ...web, spec: { ...(web.spec as object), podSelector: 5 } }
    const answer = placed([...three, broken, egressIP('shop', ['192.0.2.40', '192.0.2.41'], { age: 1 })])
    expect(answer.unassigned.map(({ object, egressIP, reason, from }) => [object, egressIP, reason, from])).toEqual([
      ['shop', '192.0.2.40', 'AddressHeldByOther', null],
      ['web', '192.0.2.40', 'InvalidObject', 'alder-b'],
      ['web', '192.0.2.41', 'InvalidObject', null],
    ])
    expect(nodesOf(answer)).toEqual({ '192.0.2.41': 'alder-a' })
  })

  it('has a problem that tells where it stands', () => {
    const { problems } = placed([...three, { ...egressIP('web', []), spec: { egressIPs: ['192.0.2.40', '192.0.2.41'] } }])
    const places = problems.flatMap(({ code, source }) => (code === 'InvalidObject' ? [source?.line] : []))
    expect(places).toHaveLength(2)
    expect(places[1]).toBe(Number(places[0]) + 1)
  })
})
