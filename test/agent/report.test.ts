import { expect, it } from 'vitest'
import { printJson, printText } from '../../src/agent/report.js'
import type { Report } from '../../src/agent/run.js'
import type { Change } from '../../src/model/change.js'
import { problem } from '../../src/model/problem.js'
import type { Entry } from '../../src/syntax/languages.js'
import { addresses, ports, routes, rules } from '../contract/samples.js'

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

it('shows rules, routes and flags of ports in the words of their files', () => {
  const [rule, , mark] = rules.some
  const change = (subsystem: Change<Entry>['subsystem'], entry: Entry | undefined): Change<Entry> => ({
    subsystem,
    op: 'update',
    key: 'k',
    entry: entry ?? null,
    from: null,
  })
  const changes = [
    change('rules', rule),
    change('rules', mark && { ...mark, altered: 'net.ipv4.conf.all.src_valid_mark is not 1' }),
    change('routes', routes.some[0]),
    change('openflow', ports.some[0]),
  ]
  const shown = (JSON.parse(printJson(report({ changes }))) as { changes: readonly { entry: object }[] }).changes.map(({ entry }) => entry)
  expect(shown).toEqual([
    { priority: 6000, src: '10.244.1.3/32', table: '1007', for: 'EgressIP/eip-a' },
    {
      priority: 5999,
      src: '0.0.0.0/0',
      fwmark: '0x3f0',
      table: 'main',
      for: 'EgressIP/eip-a',
      altered: 'net.ipv4.conf.all.src_valid_mark is not 1',
    },
    {
      dst: '172.30.0.0/16',
      gateway: '192.0.2.4',
      dev: 'br-ex',
      src: '192.0.2.11',
      mtu: 1400,
      table: 'main',
      for: 'EgressIP/eip-a',
    },
    { bridge: 'br-ex', port: '2', flag: 'no-flood', for: 'UserDefinedNetwork/blue/net' },
  ])
})
