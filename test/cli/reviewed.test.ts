import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { egressIPObject, NODES } from '../constructs/sources.js'
import { enterFolder, held, project, SHOP } from './project.js'
import { egretta } from './terminal.js'

let leave: () => void
beforeEach(() => {
  leave = enterFolder()
  project([egressIPObject('eip', ['192.0.2.50'])], [...NODES, SHOP, held('192.0.2.50', 'node-a')])
})
afterEach(() => leave())

const save = async (...argv: readonly string[]) => writeFileSync('plan.json', (await egretta('plan', '-o', 'json', ...argv)).out)
const synth = (...argv: readonly string[]) => egretta('synth', '--plan', 'plan.json', ...argv)
const assignments = () => JSON.parse(readFileSync('out/index.json', 'utf8')).assignments
const nothing = () => ({ out: existsSync('out'), lock: existsSync('egretta.lock.json') })

describe('synth --plan', () => {
  it('writes what was reviewed, with the options that the plan was made with', async () => {
    await save('--drain', 'node-a', '--down', 'node-b')
    expect(await synth()).toMatchObject({ exit: 0, err: '' })
    expect(assignments()).toEqual([{ egressIP: '192.0.2.50', object: 'eip', node: 'node-c' }])
  })
  it('takes the options again when they are the same, and refuses others', async () => {
    await save('--drain', 'node-a')
    const { exit, err } = await synth('--drain', 'node-b')
    expect(exit).toBe(1)
    expect(err).toBe(
      'egretta: plan.json was made with --drain node-a, not with --drain node-b; leave the options out, or make a new plan; nothing was written\n',
    )
    expect(nothing()).toEqual({ out: false, lock: false })
    expect((await synth('--drain', 'node-a')).exit).toBe(0)
    await save()
    expect((await synth('--rebalance')).err).toContain('was made without --drain, --down and --rebalance, not with --rebalance')
  })
  it('refuses when the inputs have changed, says what is decided otherwise, and writes nothing', async () => {
    await save()
    project([egressIPObject('eip', ['192.0.2.51'])], [...NODES, SHOP, held('192.0.2.50', 'node-a')])
    const { exit, out, err } = await synth()
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
    expect(err).toMatch(
      /plan\.json was made of other inputs: .* 192\.0\.2\.50 of eip was on node-a and is not asked for, and 1 more differ/,
    )
    expect(err).toContain('nothing was written. Run egretta plan -o json again')
    expect(nothing()).toEqual({ out: false, lock: false })
  })
  it('refuses changed inputs even if they decide the same, and a lock that has changed', async () => {
    await save()
    project(
      [egressIPObject('eip', ['192.0.2.50'])],
      [...NODES, SHOP, held('192.0.2.50', 'node-a'), { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }],
    )
    expect(await synth()).toMatchObject({ exit: 1, err: expect.stringContaining('Every address would be decided as in the plan') })
    await save()
    expect((await synth()).exit).toBe(0)
    expect(await synth()).toMatchObject({ exit: 1, err: expect.stringContaining('intent, topology or lock have changed') })
  })
  it('refuses a plan that says something else of the same inputs', async () => {
    await save()
    writeFileSync('plan.json', readFileSync('plan.json', 'utf8').replaceAll('"node": "node-a"', '"node": "node-b"'))
    const { exit, err } = await synth()
    expect(exit).toBe(1)
    expect(err).toContain('was made by another version of egretta, or edited: 192.0.2.50 of eip was on node-b and is on node-a')
    expect(nothing()).toEqual({ out: false, lock: false })
  })
  it('refuses what is no plan, with its place', async () => {
    writeFileSync('plan.json', '{"apiVersion": "egretta.dev/v1alpha1",\n "kind": "Lock"}')
    const { exit, err } = await synth()
    expect(exit).toBe(1)
    expect(err).toContain('plan.json:2:10: error UnreadableInput: plan.json is no plan: its kind is the text "Lock", not "Plan".')
    expect(err).toContain('nothing was written')
    expect(nothing()).toEqual({ out: false, lock: false })
    expect(await egretta('synth', '--plan', 'gone.json')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('gone.json cannot be read'),
    })
  })
  it('goes with a plan that was compared with an earlier one, and with --frozen', async () => {
    await save('--drain', 'node-a')
    await save('--previous', 'plan.json')
    expect((await synth('--frozen')).exit).toBe(2)
    expect((await synth()).exit).toBe(0)
    expect(assignments()).toMatchObject([{ node: 'node-a' }])
  })
})
