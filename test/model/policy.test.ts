import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyPolicy, hasErrors } from '../../src/model/policy.js'
import type { Problem, ProblemCode } from '../../src/model/problem.js'
import { PROBLEMS, problem } from '../../src/model/problem.js'

const NONE = { severities: {}, allowUnassigned: false }
const conflict = problem('AddressConflict', { object: 'eip-a', message: 'a host has it' })
const full = problem('CapacityExhausted', { object: 'eip-a', message: 'no room' })
const note = problem('EmptyInput', { message: 'nothing in it', source: { file: 'a.yaml', line: 1, column: 1 } })

describe('applyPolicy', () => {
  it('overrides severities, switches codes off and touches no other', () => {
    const severities = { AddressConflict: 'info', EmptyInput: 'off' } as const
    const settled = applyPolicy([note, conflict, full], { severities, allowUnassigned: false })
    expect(settled.map(({ code, severity }) => [code, severity])).toEqual([
      ['CapacityExhausted', 'error'],
      ['AddressConflict', 'info'],
    ])
  })
  it('takes addresses without a place for warnings when asked to, not those that are wrong in themselves', () => {
    const placeless: ProblemCode[] = ['NoMatchingNode', 'NoAvailableNode', 'NoHostingNetwork', 'CapacityExhausted', 'AntiColocation']
    for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
      const found = problem(code, { message: 'x', severity: 'error' })
      expect(hasErrors(applyPolicy([found], { severities: {}, allowUnassigned: true })), code).toBe(!placeless.includes(code))
    }
  })
  it('gives the same list for any order, each problem once, errors first', () => {
    const same = applyPolicy([conflict, full, note], NONE)
    fc.assert(
      fc.property(fc.shuffledSubarray([conflict, full, note, { ...conflict }, { ...note }], { minLength: 5 }), (list: Problem[]) => {
        expect(applyPolicy(list, NONE)).toEqual(same)
      }),
    )
    expect(same.map(({ code }) => code)).toEqual(['AddressConflict', 'CapacityExhausted', 'EmptyInput'])
  })
})
