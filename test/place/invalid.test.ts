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

  it('has no problem of its own where one says what is wrong with its object', () => {
    const answer = placed([...three, { ...egressIP('web', []), spec: { egressIPs: ['192.0.2.40', '192.0.2.41'] } }])
    expect(answer.problems).toEqual([])
    const why = 'because the object is left out: EgressIP web: spec.namespaceSelector is required and absent.'
    expect(answer.unassigned.map(({ message }) => message)).toEqual([40, 41].map((n) => `192.0.2.${n} of web is on no node, ${why}`))
  })

  it('is named too where it stands alone instead of in a list', () => {
    const answer = placed([...three, { ...egressIP('web', []), spec: { egressIPs: '2001:DB8::5', namespaceSelector: {} } }])
    expect(answer.unassigned).toMatchObject([{ object: 'web', egressIP: '2001:db8::5', reason: 'InvalidObject' }])
  })

  it('has a problem that tells where it stands where the object stands twice', () => {
    const { problems } = placed([...three, egressIP('web', ['192.0.2.40']), egressIP('web', ['192.0.2.41', '192.0.2.40'])])
    const places = problems.flatMap(({ code, source }) => (code === 'InvalidObject' ? [source?.line] : []))
    expect(places).toHaveLength(2)
    expect(new Set(places).size).toBe(2)
  })
})
