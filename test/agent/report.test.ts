import { expect, it } from 'vitest'
import { printText } from '../../src/agent/report.js'
import type { Report } from '../../src/agent/run.js'
import { problem } from '../../src/model/problem.js'
import { addresses } from '../contract/samples.js'

const [entry] = addresses.some
const made = [{ subsystem: 'addresses' as const, op: 'add' as const, key: '192.0.2.50/32 dev br-ex', entry: entry ?? null, from: null }]
const report = (over: Partial<Report>): Report => ({
  node: 'node-a',
  phase: 'steady',
  changes: [],
  pending: [],
  problems: [],
  exitCode: 0,
  ...over,
})
const last = (over: Partial<Report>, command: 'diff' | 'apply' = 'apply') => printText(report(over), command).trimEnd().split('\n').at(-1)

it('says in its last line what was done, and what was not', () => {
  const problems = [problem('CommandFailed', { message: 'no' })]
  expect(last({})).toBe('node-a (steady): no changes.')
  expect(last({ changes: made })).toBe('node-a (steady): 1 to add, 0 to update, 0 to delete: done.')
  expect(last({ changes: made, exitCode: 2 }, 'diff')).toBe('node-a (steady): 1 to add, 0 to update, 0 to delete.')
  expect(last({ problems, exitCode: 1 })).toBe('node-a (steady): failed or refused, nothing was changed.')
  expect(last({ changes: made, problems, exitCode: 1 })).toBe(
    'node-a (steady): 1 to add, 0 to update, 0 to delete: done, but then it failed.',
  )
})
