import { describe, expect, it } from 'vitest'
import { otherDecisions, parsePlan } from '../../src/plan/read.js'
import { CHANGING, planOf } from './plans.js'

const parse = (text: string) => parsePlan({ file: 'plan.json', text, role: 'both' })
const fault = (value: unknown) => {
  const { plan, problems } = parse(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
  expect(plan).toBeNull()
  expect(problems.map(({ code }) => code)).toEqual(['UnreadableInput'])
  const [{ message, source }] = problems as [(typeof problems)[number]]
  return `${source?.line}:${source?.column} ${message}`
}

describe('parsePlan', () => {
  it('reads what was printed', () => {
    const { plan, problems } = parse(`\uFEFF${JSON.stringify(CHANGING)}`)
    expect(problems).toEqual([])
    expect(plan).toMatchObject({ inputDigest: '0'.repeat(64), options: { drain: [], down: [], rebalance: null } })
    expect(plan?.assignments).toHaveLength(4)
  })
  it.each<[unknown, string]>([
    ['', '1:1 plan.json is no plan: it is empty.'],
    ['{\n "kind": }', '2:10 plan.json is no plan: it is not JSON: '],
    [[], '1:1 plan.json is no plan: its kind is absent, not "Plan".'],
    [{ apiVersion: 'egretta.dev/v1alpha1', kind: 'Lock' }, '3:11 plan.json is no plan: its kind is the text "Lock", not "Plan".'],
    [{ apiVersion: 'egretta.dev/v9', kind: 'Plan' }, '2:17 plan.json is no plan: its apiVersion is the text "egretta.dev/v9", not'],
    [{ apiVersion: 'egretta.dev/v1alpha1', kind: 'Plan' }, '1:1 plan.json is no plan: inputDigest is required and absent.'],
    [{ ...CHANGING, inputDigest: 'x' }, '4:18 plan.json is no plan: inputDigest must match pattern'],
    [
      { ...CHANGING, assignments: [{ ...CHANGING.assignments[0], node: 7 }] },
      ' plan.json is no plan: assignments[0].node must be string,null; it is the number 7.',
    ],
    [{ ...CHANGING, options: { drain: [], down: [], rebalance: 0 } }, ' plan.json is no plan: options.rebalance must'],
  ])('says where and why %j is none', (value, message) => {
    expect(fault(value)).toContain(message)
  })
})

describe('otherDecisions', () => {
  it('names what is decided otherwise, whatever was removed', () => {
    expect(otherDecisions(CHANGING, CHANGING)).toEqual([])
    const without = { ...CHANGING, assignments: CHANGING.assignments.filter(({ node }) => node !== null) }
    expect(otherDecisions(CHANGING, without)).toEqual([])
    const [first, ...others] = CHANGING.assignments
    const moved = { ...CHANGING, assignments: [{ ...first, node: 'node-z' } as NonNullable<typeof first>, ...others], unassigned: [] }
    expect(otherDecisions(CHANGING, moved)).toEqual([
      '192.0.2.12 of eip-b was refused (NoAvailableNode) and is not asked for',
      '192.0.2.50 of eip-a was on node-a and is on node-z',
    ])
    expect(otherDecisions(planOf({ assignments: [] }), planOf({}))).toEqual(['192.0.2.50 of eip-a was not in it and is on node-a'])
  })
})
