import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isSelector,
  type LabelSelector,
  type LabelSelectorRequirement,
  matches,
  printSelector,
  selectorFaults,
} from '../../src/model/selector.js'

const labels = { env: 'prod', tier: '', 'example.org/zone': 'a' }
const expression = (key: string, operator: LabelSelectorRequirement['operator'], ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }],
})

describe('a selector', () => {
  it.each<[LabelSelector, boolean]>([
    [{}, true],
    [{ matchLabels: {}, matchExpressions: [] }, true],
    [{ matchLabels: { env: 'prod', tier: '' } }, true],
    [{ matchLabels: { env: 'prod', tier: 'x' } }, false],
    [{ matchLabels: { constructor: 'x' } }, false],
    [expression('env', 'In', 'dev', 'prod'), true],
    [expression('env', 'In', 'dev'), false],
    [expression('none', 'In', 'dev'), false],
    [expression('env', 'NotIn', 'dev'), true],
    [expression('env', 'NotIn', 'prod'), false],
    [expression('none', 'NotIn', 'prod'), true],
    [expression('tier', 'Exists'), true],
    [expression('toString', 'Exists'), false],
    [expression('none', 'DoesNotExist'), true],
    [expression('env', 'DoesNotExist'), false],
    [{ matchLabels: { env: 'prod' }, ...expression('example.org/zone', 'NotIn', 'a') }, false],
  ])('%j matches: %s', (selector, expected) => {
    expect(matches(selector, labels)).toBe(expected)
  })

  it('is the opposite of its opposite', () => {
    const key = fc.constantFrom('a', 'b')
    const value = fc.constantFrom('x', 'y', '')
    fc.assert(
      fc.property(fc.dictionary(key, value), key, fc.array(value, { minLength: 1 }), (some, of, values) => {
        expect(matches(expression(of, 'In', ...values), some)).toBe(!matches(expression(of, 'NotIn', ...values), some))
        expect(matches(expression(of, 'Exists'), some)).toBe(!matches(expression(of, 'DoesNotExist'), some))
      }),
    )
  })
})

describe('a selector that the API server would refuse', () => {
  it.each<[LabelSelector, readonly (string | number)[]]>([
    [expression('a', 'In'), ['matchExpressions', 0]],
    [expression('a', 'NotIn'), ['matchExpressions', 0]],
    [expression('a', 'Exists', 'x'), ['matchExpressions', 0, 'values']],
    [expression('a', 'DoesNotExist', 'x'), ['matchExpressions', 0, 'values']],
    [expression('a', 'Gt' as 'In', '5'), ['matchExpressions', 0, 'operator']],
    [expression('a b', 'Exists'), ['matchExpressions', 0, 'key']],
    [expression('', 'Exists'), ['matchExpressions', 0, 'key']],
    [expression('Example.org/a', 'Exists'), ['matchExpressions', 0, 'key']],
    [expression('a/b/c', 'Exists'), ['matchExpressions', 0, 'key']],
    [expression('a', 'In', 'x', 'y z'), ['matchExpressions', 0, 'values', 1]],
    [{ matchLabels: { a: '-x' } }, ['matchLabels', 'a']],
    [{ matchLabels: { a: 'x'.repeat(64) } }, ['matchLabels', 'a']],
  ])('%j', (selector, path) => {
    expect(selectorFaults(selector)).toEqual([{ path, message: expect.any(String) }])
  })

  it.each<LabelSelector>([
    {},
    { matchLabels: { 'k8s.ovn.org/egress-assignable': '', A_b: 'X.y_z' } },
    expression('a', 'In', ''),
    expression('x'.repeat(63), 'Exists'),
  ])('but %j is fine', (selector) => {
    expect(selectorFaults(selector)).toEqual([])
  })
})

describe('the shape of a selector', () => {
  it('is checked before anything relies on it', () => {
    for (const value of [{}, { matchLabels: { a: 'b' } }, expression('a', 'In', 'b')]) expect(isSelector(value)).toBe(true)
    const wrong = [
      null,
      [],
      'x',
      { matchLabels: [] },
      { matchLabels: { a: 1 } },
      { matchExpressions: {} },
      { matchExpressions: [null] },
      { matchExpressions: [{ key: 'a', operator: 'In', values: 'b' }] },
    ]
    for (const value of wrong) expect(isSelector(value)).toBe(false)
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        if (isSelector(value)) expect(typeof matches(value, labels)).toBe('boolean')
      }),
    )
  })
})

describe('the text of a selector', () => {
  it('is what kubectl takes, the same for any order of its parts', () => {
    expect(printSelector({})).toBe('')
    expect(printSelector({ matchLabels: {}, matchExpressions: [] })).toBe('')
    expect(printSelector({ matchLabels: { tier: '', env: 'prod' } })).toBe('env=prod,tier=')
    const parts = [
      expression('zone', 'In', 'b', 'a'),
      expression('old', 'DoesNotExist'),
      expression('env', 'NotIn', 'dev'),
      expression('up', 'Exists'),
    ]
    const matchExpressions = parts.flatMap((part) => part.matchExpressions ?? [])
    expect(printSelector({ matchExpressions })).toBe('!old,env notin (dev),up,zone in (a,b)')
    expect(printSelector({ matchExpressions: [...matchExpressions].reverse() })).toBe('!old,env notin (dev),up,zone in (a,b)')
  })
})
