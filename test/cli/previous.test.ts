import { mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Plan } from '../../src/plan/index.js'
import { clusterObject, egressIPObject, NODES, podObject } from '../constructs/sources.js'
import { enterFolder, held, LIST, project, SHOP } from './project.js'
import { egretta } from './terminal.js'

let leave: () => void
beforeEach(() => {
  leave = enterFolder()
})
afterEach(() => leave())

const planned = async (...argv: readonly string[]): Promise<Plan> => JSON.parse((await egretta('plan', '-o', 'json', ...argv)).out)
const POD = podObject('shop', 'web', ['10.128.11.5'])
const changes = ({ assignments }: Plan) => assignments.map(({ egressIP, change, from, node }) => [egressIP, change, from, node])

describe('plan --previous', () => {
  it('compares with an earlier plan instead of the current assignment', async () => {
    project([egressIPObject('eip', ['192.0.2.50'])], [...NODES, SHOP, POD, held('192.0.2.50', 'node-a')])
    writeFileSync('plan.json', (await egretta('plan', '-o', 'json', '--drain', 'node-a')).out)
    const plan = await planned('--previous', 'plan.json')
    expect(plan.previous).toEqual({ name: 'plan.json', inputDigest: plan.inputDigest })
    expect(changes(plan)).toEqual([['192.0.2.50', 'move', 'node-b', 'node-a']])
    expect(plan.nodes.map(({ node }) => node)).toEqual(['node-a', 'node-b'])
    expect(plan.steps).toMatchObject([{ action: 'move', from: 'node-b', to: 'node-a' }])
    expect(plan.disruptions).toMatchObject([{ pods: 1 }])
    expect(plan.summary).toMatchObject({ moved: 1, kept: 0, podsAffected: 0 })
    const same = await egretta('plan', '--drain', 'node-a', '--previous', 'plan.json', '--detailed-exitcode')
    expect(same.exit).toBe(0)
    expect(same.out).toContain('compared with plan.json instead of the current assignment')
    expect(same.out).toContain('No changes. 1 address stays where it is.')
  })
  it('compares what a changed intent adds, removes and refuses with what was planned', async () => {
    project([egressIPObject('eip', ['192.0.2.50', '192.0.2.51']), egressIPObject('old', ['192.0.2.60'])], [...NODES, SHOP, POD])
    writeFileSync('plan.json', (await egretta('plan', '-o', 'json')).out)
    const before: Plan = JSON.parse((await egretta('plan', '-o', 'json')).out)
    const nodeOf = (address: string) => before.assignments.find(({ egressIP }) => egressIP === address)?.node
    project([egressIPObject('eip', ['192.0.2.50', '192.0.2.52'])], [...NODES, SHOP, POD])
    const plan = await planned('--previous', 'plan.json')
    expect(plan.summary).toMatchObject({ addresses: 2, added: 1, removed: 2, podsAffected: 1 })
    expect(plan.assignments.filter(({ change }) => change === 'remove')).toMatchObject([
      { object: 'eip', egressIP: '192.0.2.51', node: null, from: nodeOf('192.0.2.51') },
      { object: 'old', egressIP: '192.0.2.60', node: null, from: nodeOf('192.0.2.60') },
    ])
    project([egressIPObject('eip', ['192.0.2.50'])], [SHOP, POD])
    expect((await planned('--previous', 'plan.json')).unassigned).toMatchObject([{ from: nodeOf('192.0.2.50') }])
  })
  it('compares with the inputs of a folder: assignments, hosts, selectors and objects', async () => {
    const selecting = (app: string) =>
      egressIPObject('eip', [], {
        spec: { egressIPs: ['192.0.2.50'], namespaceSelector: { matchLabels: { env: 'prod' } }, podSelector: { matchLabels: { app } } },
      })
    project([selecting('web'), egressIPObject('old', ['192.0.2.60'])], [...NODES, SHOP, POD], 'base')
    project([selecting('api')], [...NODES, SHOP, POD])
    const plan = await planned('--previous', 'base')
    expect(changes(plan)).toEqual([
      ['192.0.2.50', 'keep', null, 'node-a'],
      ['192.0.2.60', 'remove', expect.any(String), null],
    ])
    expect(plan.summary.podsAffected).toBe(1)
    expect(plan.nodes).toHaveLength(1)
    const { out } = await egretta('plan', '--previous', 'base')
    expect(out).toContain('Objects:\n  EgressIP/eip\n')
    expect(out).toContain('  EgressIP/old\n    - no file of the intent has it any more\n')
  })
  it('takes the lock of the folder, and a PATH that is intent and topology at once', async () => {
    const files = [...NODES, SHOP]
    project([egressIPObject('eip', ['192.0.2.50'])], files, 'base')
    const addresses = { '192.0.2.50': { node: 'node-c', seen: null } }
    writeFileSync(
      'base/egretta.lock.json',
      JSON.stringify({ apiVersion: 'egretta.dev/v1alpha1', kind: 'Lock', objects: { eip: { addresses } } }),
    )
    project([egressIPObject('eip', ['192.0.2.50'])], files)
    expect(changes(await planned('--previous', 'base'))).toEqual([['192.0.2.50', 'move', 'node-c', 'node-a']])
    mkdirSync('dumps')
    writeFileSync('dumps/all.json', LIST(...files, held('192.0.2.50', 'node-b')))
    for (const path of ['dumps', 'dumps/all.json'])
      expect(changes(await planned('--previous', path))).toEqual([['192.0.2.50', 'move', 'node-b', 'node-a']])
  })
  it('leaves hosts alone where the cluster decides and only a plan is known', async () => {
    const advisory = clusterObject({ placement: 'advisory' })
    project([egressIPObject('eip', ['192.0.2.50']), advisory], [...NODES, SHOP, held('192.0.2.50', 'node-a')])
    const before = JSON.parse((await egretta('plan', '-o', 'json')).out) as Plan
    const [first] = before.assignments
    writeFileSync('plan.json', JSON.stringify({ ...before, assignments: [{ ...first, node: 'node-b' }] }))
    const plan = await planned('--previous', 'plan.json')
    expect(changes(plan)).toEqual([['192.0.2.50', 'move', 'node-b', 'node-a']])
    expect({ nodes: plan.nodes, steps: plan.steps }).toEqual({ nodes: [], steps: [] })
  })
  it('does not take for removed what the cluster has of others', async () => {
    project([egressIPObject('eip', ['192.0.2.50']), egressIPObject('theirs', ['192.0.2.70'])])
    writeFileSync('plan.json', (await egretta('plan', '-o', 'json')).out)
    const theirs = egressIPObject('theirs', ['192.0.2.70'], { status: { items: [{ egressIP: '192.0.2.70', node: 'node-c' }] } })
    project([egressIPObject('eip', ['192.0.2.50'])], [...NODES, SHOP, theirs])
    expect((await planned('--previous', 'plan.json')).summary.removed).toBe(0)
  })

  it.each([
    [
      '{"apiVersion": "egretta.dev/v1alpha1", "kind": "Check"}',
      'old.json:1:48: error UnreadableInput: old.json is no plan: its kind is the text "Check"',
    ],
    ['{"kind": "Plan"}', 'old.json:1:1: error UnreadableInput: old.json is no plan, and there is no Node and no EgressIP in it.'],
    ['{"a": [}', 'old.json:1:8: error UnreadableInput'],
    ['', 'old.json:1:1: error UnreadableInput: old.json is no plan: it is empty.'],
  ])('says where and why %j is neither a plan nor inputs', async (text, message) => {
    project([egressIPObject('eip', ['192.0.2.50'])])
    writeFileSync('old.json', text)
    const { exit, out, err } = await egretta('plan', '--previous', 'old.json')
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
    expect(err).toContain(message)
    const json = await egretta('plan', '--previous', 'old.json', '-o', 'json')
    expect(json).toMatchObject({ exit: 1, err: '' })
    expect(JSON.parse(json.out).problems).toMatchObject([{ code: 'UnreadableInput', source: { file: 'old.json' } }])
  })
  it('says what a folder lacks, and that a path is not there', async () => {
    project([egressIPObject('eip', ['192.0.2.50'])])
    mkdirSync('base/intent', { recursive: true })
    expect(await egretta('plan', '--previous', 'base')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('base/topology is not there'),
    })
    const { exit, err } = await egretta('plan', '--previous', 'nowhere')
    expect(exit).toBe(1)
    expect(err).toContain('nowhere cannot be read: it does not exist')
  })
})
