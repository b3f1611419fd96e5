import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { outcomeOf } from '../../src/constructs/outcome.js'
import type { Lock } from '../../src/model/lock.js'
import { NO_OPTIONS } from '../../src/place/place.js'
import { buildPlan } from '../../src/plan/index.js'
import { clusterObject, egressIPObject, intent, NODES, namespaceObject, nodeObject, topology } from '../constructs/sources.js'

const validate = new Ajv({ allErrors: true }).compile(JSON.parse(readFileSync(new URL('../../schema/plan.json', import.meta.url), 'utf8')))
const config = JSON.stringify([{ interface: 'nic0', ifaddr: { ipv4: '192.0.2.0/24' }, capacity: { ip: 1 } }])
const FULL = ['node-a', 'node-b'].map((name, at) =>
  nodeObject({ name, host: 11 + at, annotations: { 'cloud.network.openshift.io/egress-ipconfig': config } }),
)
const held = (name: string, items: Readonly<Record<string, string>>) =>
  egressIPObject(name, Object.keys(items), { status: { items: Object.entries(items).map(([egressIP, node]) => ({ egressIP, node })) } })

function stepsOf(wanted: readonly object[], there: readonly object[], lock: Lock | null = null): readonly string[] {
  const files = [...intent(...wanted), ...topology(...there, namespaceObject('shop', { env: 'prod' }))]
  const plan = buildPlan(outcomeOf(files, lock, [], { placement: NO_OPTIONS, allowUnassigned: false }))
  expect(validate(JSON.parse(JSON.stringify(plan))), JSON.stringify(validate.errors)).toBe(true)
  return plan.steps.map(({ action, egressIP, object, from, to }) => `${action} ${egressIP} ${object} ${from ?? '-'} ${to ?? '-'}`)
}

describe('the steps of a plan', () => {
  it('make room on a full node before another address comes', () => {
    const live = [held('eip-a', { '192.0.2.50': 'node-a' }), held('eip-b', { '192.0.2.60': 'node-b' })]
    expect(stepsOf([egressIPObject('eip-a', ['192.0.2.50']), egressIPObject('eip-b', ['192.0.2.61'])], [...FULL, ...live])).toEqual([
      'remove 192.0.2.60 eip-b node-b -',
      'wait 192.0.2.60 eip-b node-b -',
      'add 192.0.2.61 eip-b - node-b',
    ])
  })

  it('remove what is refused, and move what its node can no longer hold', () => {
    const live = [held('eip-a', { '192.0.2.50': 'gone' }), held('eip-b', { '203.0.113.9': 'node-a' })]
    const steps = stepsOf([egressIPObject('eip-a', ['192.0.2.50']), egressIPObject('eip-b', ['203.0.113.9', 'oops'])], [...NODES, ...live])
    expect(steps).toEqual(['remove 203.0.113.9 eip-b node-a -', expect.stringMatching(/^move 192.0.2.50 eip-a gone node-[abc]$/)])
  })

  it('leave an address where it is that only changes its object', () => {
    const lock: Lock = {
      apiVersion: 'egretta.dev/v1alpha1',
      kind: 'Lock',
      objects: { old: { addresses: { '192.0.2.50': { node: 'node-a', seen: 'node-a' } } } },
    }
    const [node] = NODES as [object]
    expect(stepsOf([egressIPObject('new', ['192.0.2.50'])], [node, held('old', { '192.0.2.50': 'node-a' })], lock)).toEqual([])
  })

  it('are none where nothing changes, or where ovnkube places', () => {
    expect(stepsOf([egressIPObject('eip', ['192.0.2.50'])], [...NODES, held('eip', { '192.0.2.50': 'node-a' })])).toEqual([])
    expect(stepsOf([egressIPObject('eip', ['192.0.2.50']), clusterObject({ placement: 'advisory' })], NODES)).toEqual([])
  })
})
