import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/constructs/outcome.js'
import { outcomeOf } from '../../src/constructs/outcome.js'
import type { Lock } from '../../src/model/lock.js'
import type { SourceFile } from '../../src/model/source.js'
import { NO_OPTIONS } from '../../src/place/place.js'
import type { Plan } from '../../src/plan/index.js'
import { buildPlan } from '../../src/plan/index.js'
import { clusterObject, egressIPObject, intent, NODES, namespaceObject, nodeObject, podObject, topology } from '../constructs/sources.js'

const validate = new Ajv({ allErrors: true }).compile(JSON.parse(readFileSync(new URL('../../schema/plan.json', import.meta.url), 'utf8')))

const outcome = (files: readonly SourceFile[], lock: Lock | null = null): Outcome =>
  outcomeOf(files, lock, [], { placement: NO_OPTIONS, allowUnassigned: false })

function planOf(files: readonly SourceFile[], lock: Lock | null = null): Plan {
  const plan = buildPlan(outcome(files, lock))
  const json: unknown = JSON.parse(JSON.stringify(plan))
  expect(validate(json), JSON.stringify(validate.errors)).toBe(true)
  return plan
}

const SHOP = namespaceObject('shop', { env: 'prod' })
const held = (name: string, items: Readonly<Record<string, string>>, egressIPs = Object.keys(items)) =>
  egressIPObject(name, egressIPs, { status: { items: Object.entries(items).map(([egressIP, node]) => ({ egressIP, node })) } })
const lockOf = (objects: Lock['objects']): Lock => ({ apiVersion: 'egretta.dev/v1alpha1', kind: 'Lock', objects })

describe('buildPlan', () => {
  it('is the plan of design: what is kept, added, moved, removed and refused', () => {
    const live = [held('eip-a', { '192.0.2.50': 'node-a', '192.0.2.51': 'gone' }), held('eip-old', { '192.0.2.60': 'node-b' })]
    const wanted = intent(
      egressIPObject('eip-a', ['192.0.2.52', '192.0.2.50', '192.0.2.51', 'oops']),
      egressIPObject('eip-b', ['192.0.2.12']),
    )
    const lock = lockOf({
      'eip-a': { addresses: { '192.0.2.50': { node: 'node-a', seen: 'node-a' }, '192.0.2.51': { node: 'gone', seen: 'gone' } } },
      'eip-old': { addresses: { '192.0.2.60': { node: 'node-b', seen: 'node-b' } } },
    })
    const plan = planOf([...wanted, ...topology(...NODES, SHOP, ...live)], lock)
    expect(plan.placement).toBe('enforced')
    expect(plan.assignments.map(({ object, egressIP, change, from }) => [object, egressIP, change, from])).toEqual([
      ['eip-a', '192.0.2.50', 'keep', null],
      ['eip-a', '192.0.2.51', 'move', 'gone'],
      ['eip-a', '192.0.2.52', 'add', null],
      ['eip-old', '192.0.2.60', 'remove', 'node-b'],
    ])
    expect(plan.assignments[3]).toMatchObject({ node: null, network: null, networkType: null })
    expect(plan.unassigned.map(({ object, egressIP, reason }) => [object, egressIP, reason])).toEqual([
      ['eip-a', 'oops', 'InvalidAddress'],
      ['eip-b', '192.0.2.12', 'AddressConflict'],
    ])
    const { podsAffected: _, ...counts } = plan.summary
    expect(counts).toEqual({ addresses: 5, assigned: 3, unassigned: 2, kept: 1, added: 1, moved: 1, removed: 1, optimalityGap: 0 })
    expect(plan.problems.map(({ code }) => code)).toEqual(['InvalidAddress', 'AddressConflict'])
  })

  it('counts what each host changes, between the current and the planned rendering', () => {
    const live = held('eip-a', { '192.0.2.50': 'node-b' })
    const files = [...intent(egressIPObject('eip-a', ['192.0.2.51'])), ...topology(...NODES.slice(0, 2), SHOP, live)]
    const plan = planOf(files)
    expect(plan.assignments.map(({ egressIP, change }) => [egressIP, change])).toEqual([
      ['192.0.2.50', 'remove'],
      ['192.0.2.51', 'add'],
    ])
    const node = plan.assignments[1]?.node
    expect(plan.nodes).toEqual(
      node === 'node-b'
        ? [{ node: 'node-b', changes: { addresses: { add: 1, update: 0, delete: 1 } } }]
        : [
            { node: 'node-a', changes: { addresses: { add: 1, update: 0, delete: 0 } } },
            { node: 'node-b', changes: { addresses: { add: 0, update: 0, delete: 1 } } },
          ],
    )
  })

  it('changes no host where the cluster decides: the bundles follow the status', () => {
    const files = [
      ...intent(egressIPObject('eip-a', ['192.0.2.50']), clusterObject({ placement: 'advisory' })),
      ...topology(...NODES, SHOP),
    ]
    const plan = planOf(files)
    expect(plan.assignments).toMatchObject([{ change: 'add', certain: false }])
    expect(plan.nodes).toEqual([])
    expect(outcome(files).held).toEqual([])
  })

  it('leaves other EgressIPs of the cluster on their hosts', () => {
    const files = [
      ...intent(egressIPObject('eip-a', ['192.0.2.50'])),
      ...topology(...NODES, SHOP, held('theirs', { '192.0.2.70': 'node-c' })),
    ]
    const { held: all, after } = outcome(files)
    expect(all.find(({ object }) => object === 'theirs')).toEqual({ object: 'theirs', egressIP: '192.0.2.70', node: 'node-c' })
    expect(after.get('node-c')?.find(({ path }) => path === 'addresses.json')?.text).toContain('192.0.2.70/32')
    expect(planOf(files).nodes.map(({ node }) => node)).not.toContain('node-c')
    expect(planOf(files).summary.addresses).toBe(1)
  })

  it('holds only problems when a file does not parse', () => {
    const plan = planOf([...intent(egressIPObject('eip-a', ['192.0.2.50'])), { file: 'x.yaml', text: 'a: [', role: 'intent' }])
    expect(plan.assignments).toEqual([])
    expect(plan.problems.map(({ code }) => code)).toEqual(['UnreadableInput'])
  })

  it('is the same for any order of the nodes of a refusal', () => {
    const busy = ['node-a', 'node-b'].map((name, i) => nodeObject({ name, host: 11 + i, ready: i === 0 }))
    const wanted = intent(egressIPObject('eip-a', ['198.51.100.1']))
    const plan = planOf([...wanted, ...topology(...busy)])
    expect(plan.unassigned[0]).toMatchObject({ reason: 'NoHostingNetwork', reasons: { NoHostingNetwork: 1, NotReady: 1 } })
    expect(planOf([...topology(...busy.toReversed()), ...wanted])).toEqual(plan)
  })
})

describe('podsAffected', () => {
  const pods = [
    podObject('shop', 'both', ['10.128.11.5', 'fd01::5']),
    podObject('shop', 'only-v4', ['10.128.11.6']),
    podObject('shop', 'done', ['10.128.11.7'], { phase: 'Succeeded' }),
    podObject('test', 'other', ['10.128.11.8']),
  ]
  const there = [...NODES, SHOP, namespaceObject('test', { env: 'test' }), ...pods]
  const affected = (wanted: readonly string[], ...live: readonly object[]) =>
    planOf([...intent(egressIPObject('eip-a', wanted)), ...topology(...there, ...live)]).summary.podsAffected

  it('counts the selected pods that have an address of the family, each once', () => {
    expect(affected(['192.0.2.50'])).toBe(2)
    expect(affected(['2001:db8:1::50'])).toBe(1)
    expect(affected(['192.0.2.50', '2001:db8:1::50'])).toBe(2)
  })
  it('tells pods of both families from those of one', () => {
    const mixed = [podObject('shop', 'both', ['10.128.11.5', 'fd01::5']), podObject('shop', 'only-v6', ['fd01::6'])]
    const wanted = intent(egressIPObject('eip-a', ['192.0.2.50']))
    for (const order of [mixed, mixed.toReversed()])
      expect(planOf([...wanted, ...topology(...NODES, SHOP, ...order)]).summary.podsAffected).toBe(1)
  })
  it('does not count pods whose address stays or only changes its node', () => {
    expect(affected(['192.0.2.50'], held('eip-a', { '192.0.2.50': 'node-a' }))).toBe(0)
    expect(affected(['192.0.2.50'], held('eip-a', { '192.0.2.50': 'gone' }))).toBe(0)
  })
  it('counts pods of an object that is removed', () => {
    const live = held('eip-a', { '192.0.2.50': 'node-a' })
    const lock = lockOf({ 'eip-a': { addresses: { '192.0.2.50': { node: 'node-a', seen: 'node-a' } } } })
    expect(planOf(topology(...there, live), lock).summary).toMatchObject({ removed: 1, podsAffected: 2 })
    expect(planOf(topology(...there, live)).summary).toMatchObject({ removed: 0, podsAffected: 0 })
  })
  it('counts pods that a changed selector selects anew or no more', () => {
    const live = held('eip-a', { '192.0.2.50': 'node-a' })
    const selecting = (namespaceSelector: object, podSelector = {}) =>
      planOf([
        ...intent(egressIPObject('eip-a', [], { spec: { egressIPs: ['192.0.2.50'], namespaceSelector, podSelector } })),
        ...topology(...there, live),
      ]).summary.podsAffected
    expect(selecting({ matchLabels: { env: 'prod' } })).toBe(0)
    expect(selecting({ matchLabels: { env: 'test' } })).toBe(3)
    expect(selecting({})).toBe(1)
    expect(selecting({ matchLabels: { env: 'prod' } }, { matchLabels: { app: 'both' } })).toBe(1)
  })
  it('does not count pods whose address another object takes over', () => {
    const live = held('eip-old', { '192.0.2.50': 'node-a' })
    const lock = lockOf({ 'eip-old': { addresses: { '192.0.2.50': { node: 'node-a', seen: 'node-a' } } } })
    const files = [...intent(egressIPObject('eip-new', ['192.0.2.50'])), ...topology(...there, live)]
    expect(planOf(files, lock).summary).toMatchObject({ added: 1, removed: 1, podsAffected: 0 })
  })
  it('does not count pods that another object decides', () => {
    const theirs = egressIPObject('theirs', ['192.0.2.70'], {
      metadata: { name: 'theirs', creationTimestamp: '2026-01-01T00:00:00Z' },
      status: { items: [{ egressIP: '192.0.2.70', node: 'node-c' }] },
    })
    expect(affected(['192.0.2.50'], theirs)).toBe(0)
    const idle = { metadata: { name: 'theirs', creationTimestamp: '2026-01-01T00:00:00Z' } }
    expect(affected(['192.0.2.50'], egressIPObject('theirs', ['192.0.2.70'], idle))).toBe(2)
  })
  it('counts pods that lose their address', () => {
    expect(affected(['2001:db8:1::50'], held('eip-a', { '192.0.2.50': 'node-a', '2001:db8:1::50': 'node-b' }))).toBe(2)
    expect(affected(['192.0.2.11'], held('eip-a', { '192.0.2.50': 'node-a' }))).toBe(2)
  })
})
