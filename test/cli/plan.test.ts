import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Plan } from '../../src/plan/index.js'
import { clusterObject, egressIPObject, NODES } from '../constructs/sources.js'
import { enterFolder, held, LIST, project, SHOP } from './project.js'
import { egretta } from './terminal.js'

let leave: () => void
beforeEach(() => {
  leave = enterFolder()
})
afterEach(() => leave())

describe('egretta plan', () => {
  it('reads intent/ and topology/ of the current directory', async () => {
    project([egressIPObject('eip', ['192.0.2.50'])])
    const { exit, out, err } = await egretta('plan')
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(out).toMatch(/\+ 192\.0\.2\.50 {2}eip {2}on node-[abc] {2}primary network 192\.0\.2\.0\/24/)
  })
  it('says what to do when there is nothing to read', async () => {
    const { exit, out, err } = await egretta('plan')
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
    expect(err).toMatch(/intent and topology are not there; name the files with --intent PATH and --topology PATH/)
  })
  it.each([
    ['intent', 'there is no intent: intent is not there; name the files with --intent PATH, or make the folder, empty'],
    ['topology', 'there is no topology: topology is not there; name the files with --topology PATH'],
  ])('takes no %s for a mistake, not for an empty one', async (role, message) => {
    project([egressIPObject('eip', ['192.0.2.50'])])
    rmSync(role, { recursive: true })
    const { exit, out, err } = await egretta('plan')
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
    expect(err).toContain(message)
  })
  it('prints a plan with the problem when the lock cannot be read', async () => {
    project([egressIPObject('eip', ['192.0.2.50'])])
    mkdirSync('egretta.lock.json')
    const { exit, out } = await egretta('plan', '-o', 'json')
    expect(exit).toBe(1)
    expect(JSON.parse(out).problems).toMatchObject([{ code: 'UnreadableInput', source: { file: 'egretta.lock.json' } }])
  })
  it('judges the hosts of which the topology has facts, by what the plan gives them, under the policy of the cluster', async () => {
    const facts = (node: string, tools: readonly object[]): object => ({
      apiVersion: 'egretta.dev/v1alpha1',
      kind: 'HostFacts',
      metadata: { name: node },
      spec: {
        tools,
        sysctls: {},
        interfaces: [],
        rules: [],
        routes: [],
        neighbors: { ipv4: 0, ipv6: 0 },
        configuredAddresses: [{ address: '192.0.2.50', file: '/etc/netplan/01.yaml' }],
      },
    })
    const tools = ['ip', 'nft', 'ovs-ofctl'].map((name) => ({ name, version: null }))
    const hosts = ['node-a', 'node-b', 'node-c'].map((node) => facts(node, tools))
    const cluster = clusterObject({ policy: { MissingTool: 'off' } })
    project([egressIPObject('eip', ['192.0.2.50']), cluster], [...NODES, SHOP, ...hosts, facts('node-x', [])])
    const { exit, out } = await egretta('plan', '-o', 'json')
    const { assignments, problems } = JSON.parse(out) as Plan
    expect(problems.filter(({ code }) => ['ConfiguredEgressIP', 'MissingTool', 'UnknownNode'].includes(code))).toMatchObject([
      {
        severity: 'error',
        code: 'ConfiguredEgressIP',
        object: `Node/${assignments[0]?.node}`,
        source: { file: 'topology/all.json' },
      },
      { severity: 'warning', code: 'UnknownNode', object: 'HostFacts/node-x' },
    ])
    expect(exit).toBe(3)
  })
  it('takes one PATH for both, and no lock with it', async () => {
    writeFileSync('dump.json', LIST(...NODES, SHOP, egressIPObject('eip', ['192.0.2.50'])))
    writeFileSync('egretta.lock.json', 'no lock')
    expect(await egretta('plan', 'dump.json')).toMatchObject({ exit: 0, err: '' })
    const { exit, err } = await egretta('plan', 'dump.json', '--lock', 'egretta.lock.json')
    expect(exit).toBe(1)
    expect(err).toContain('egretta.lock.json:1:1: error UnreadableInput: The lock egretta.lock.json is not valid JSON')
  })
  it('uses the lock of the project', async () => {
    project([egressIPObject('eip', ['192.0.2.50'])])
    const addresses = { '192.0.2.50': { node: 'node-c', seen: null } }
    writeFileSync(
      'egretta.lock.json',
      JSON.stringify({ apiVersion: 'egretta.dev/v1alpha1', kind: 'Lock', objects: { eip: { addresses } } }),
    )
    expect((await egretta('plan')).out).toContain('No changes. 1 address stays where it is.')
  })
  it('prints the plan, and nothing else, as JSON', async () => {
    project([egressIPObject('eip', ['192.0.2.50', 'oops'])])
    const { exit, out, err } = await egretta('plan', '-o', 'json')
    expect({ exit, err }).toEqual({ exit: 3, err: '' })
    expect(JSON.parse(out)).toMatchObject({ kind: 'Plan', summary: { addresses: 2, assigned: 1 }, problems: [{ code: 'InvalidAddress' }] })
  })
  it('prints the plan for a pull request', async () => {
    project([egressIPObject('eip', ['192.0.2.50', 'oops'])])
    const { exit, out, err } = await egretta('plan', '-o', 'markdown')
    expect({ exit, err }).toEqual({ exit: 3, err: '' })
    expect(out).toMatch(/^### Plan: 1 to add, 0 to move, 0 to remove, 0 kept, 1 refused\n/)
    expect(out).toContain('| `oops` | `eip` | InvalidAddress |')
    expect((await egretta('check', '-o', 'markdown')).exit).toBe(1)
    writeFileSync('intent/bad.yaml', 'a: [')
    expect(await egretta('plan', '-o', 'markdown')).toMatchObject({ exit: 1, out: '', err: expect.stringContaining('intent/bad.yaml:1:') })
  })
  it('exits 1 when a file does not parse, with the plan of the problems as JSON', async () => {
    project([egressIPObject('eip', ['192.0.2.50'])])
    writeFileSync('intent/bad.yaml', 'a: [')
    const json = await egretta('plan', '--output', 'json')
    expect(json).toMatchObject({ exit: 1, err: '' })
    expect(JSON.parse(json.out)).toMatchObject({
      kind: 'Plan',
      assignments: [],
      problems: [{ code: 'UnreadableInput', source: { file: 'intent/bad.yaml' } }],
    })
    const text = await egretta('plan')
    expect(text).toMatchObject({ exit: 1, out: '' })
    expect(text.err).toContain('intent/bad.yaml:1:')
  })
  it('exits 2 for differences only when asked to, and only without errors', async () => {
    project([egressIPObject('eip', ['192.0.2.50'])])
    expect((await egretta('plan')).exit).toBe(0)
    expect((await egretta('plan', '--detailed-exitcode')).exit).toBe(2)
    project([egressIPObject('eip', ['192.0.2.50'])], [...NODES, SHOP, held('192.0.2.50', 'node-a')])
    expect((await egretta('plan', '--detailed-exitcode')).exit).toBe(0)
    project([egressIPObject('eip', ['192.0.2.50', 'oops'])])
    expect((await egretta('plan', '--detailed-exitcode')).exit).toBe(3)
  })
  it('counts a new object as a difference although none of its addresses finds a node, until the lock knows it', async () => {
    project([egressIPObject('eip', ['198.51.100.1'])])
    const detailed = () => egretta('plan', '--allow-unassigned', '--detailed-exitcode')
    const { exit, out } = await detailed()
    expect(exit).toBe(2)
    expect(out).toContain('Objects:\n  EgressIP/eip\n    + new, without an address on a node\n')
    await egretta('synth', '--allow-unassigned')
    expect(await detailed()).toMatchObject({
      exit: 0,
      out: expect.stringContaining('No changes. 0 addresses stay where they are, 1 refused.'),
    })
  })
  it('takes addresses without a node for warnings with --allow-unassigned', async () => {
    project([egressIPObject('eip', ['198.51.100.1'])])
    expect((await egretta('plan')).exit).toBe(3)
    const { exit, out } = await egretta('plan', '--allow-unassigned')
    expect(exit).toBe(0)
    expect(out).toContain('! 198.51.100.1  eip  NoHostingNetwork')
    project([egressIPObject('eip', ['192.0.2.11'])])
    expect((await egretta('plan', '--allow-unassigned')).exit).toBe(3)
  })
  it('lets the policy of the cluster decide what an error is', async () => {
    project([egressIPObject('eip', ['192.0.2.11']), clusterObject({ policy: { AddressConflict: 'info' } })])
    const { exit, out } = await egretta('plan', '-o', 'json')
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ unassigned: [{ reason: 'AddressConflict' }], problems: [{ severity: 'info' }] })
  })
  it('passes --drain, --down and --rebalance on', async () => {
    const live = [held('192.0.2.50', 'node-a')]
    project([egressIPObject('eip', ['192.0.2.50'])], [...NODES, SHOP, ...live])
    const node = async (...options: readonly string[]) =>
      JSON.parse((await egretta('plan', '-o', 'json', ...options)).out).assignments[0].node
    expect(await node()).toBe('node-a')
    expect(await node('--rebalance')).toBe('node-a')
    expect(await node('--drain', 'node-a', '--drain', 'node-b')).toBe('node-c')
    expect(await node('--down', 'node-a', '--down', 'node-c')).toBe('node-b')
    const misspelt = await egretta('plan', '--drain', 'node-aa')
    expect(misspelt).toEqual({ exit: 1, out: '', err: 'egretta: the topology has no node node-aa; it has node-a, node-b, node-c\n' })
  })
  it('answers --n-minus-1 without another exit code, and only when asked', async () => {
    project([egressIPObject('eip', ['192.0.2.50', '192.0.2.51', '192.0.2.52'])])
    const { exit, out } = await egretta('plan', '-o', 'json', '--n-minus-1')
    expect(exit).toBe(0)
    const { nMinusOne } = JSON.parse(out) as Plan
    expect(nMinusOne?.egressNodes).toBe(3)
    expect(nMinusOne?.losses.map(({ node, unplaced }) => [node, unplaced.map(({ reason }) => reason)])).toEqual(
      ['node-a', 'node-b', 'node-c'].map((node) => [node, ['AntiColocation']]),
    )
    expect(JSON.parse((await egretta('plan', '-o', 'json')).out)).not.toHaveProperty('nMinusOne')
    expect((await egretta('plan', '--n-minus-1')).out).toContain('3 of 3 egress nodes cannot be lost')
    expect((await egretta('plan', '--n-minus-1', '-o', 'markdown')).out).toContain('#### Without one node')
    writeFileSync('intent/bad.yaml', 'a: [')
    expect((await egretta('plan', '--n-minus-1')).exit).toBe(1)
  })
  it('does not take a PATH for the number of --rebalance', async () => {
    writeFileSync('dump.json', LIST(...NODES, SHOP, egressIPObject('eip', ['192.0.2.50'])))
    expect((await egretta('plan', '--rebalance', 'dump.json')).exit).toBe(0)
    expect((await egretta('plan', '--rebalance=3', 'dump.json')).exit).toBe(0)
    const { exit, err } = await egretta('plan', '--rebalance=many', 'dump.json')
    expect(exit).toBe(1)
    expect(err).toContain('Give a number of addresses')
  })
})

describe('egretta check', () => {
  it('prints problems only', async () => {
    project([egressIPObject('eip', ['192.0.2.50', 'oops'])])
    const { exit, out } = await egretta('check')
    expect(exit).toBe(3)
    expect(out).toMatch(/^intent\/all\.json:1:\d+: error InvalidAddress eip: .*\n {4}Write a plain .*\n1 error, 0 warnings\n$/)
    expect(JSON.parse((await egretta('check', '-o', 'json')).out)).toMatchObject({ kind: 'Check', problems: [{ code: 'InvalidAddress' }] })
    project([egressIPObject('eip', ['192.0.2.50'])])
    expect(await egretta('check')).toEqual({ exit: 0, out: 'No problems.\n', err: '' })
  })
  it('exits 1 when something cannot be read', async () => {
    const { exit, out } = await egretta('check', 'nowhere.yaml')
    expect(exit).toBe(1)
    expect(out).toContain('nowhere.yaml cannot be read: it does not exist')
  })
})

describe('the command line', () => {
  it('suggests the command or option that was meant', async () => {
    expect(await egretta('plna')).toMatchObject({ exit: 1, err: expect.stringContaining('Did you mean plan?') })
    expect(await egretta('plan', '--allow-unasigned')).toMatchObject({ exit: 1, err: expect.stringContaining('--allow-unassigned') })
    expect(await egretta('plan', '-o', 'yaml')).toMatchObject({ exit: 1, err: expect.stringContaining('text, json') })
  })
  it('prints help and version on stdout', async () => {
    expect(await egretta('--version')).toMatchObject({ exit: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), err: '' })
    const { exit, out } = await egretta('--help')
    expect(exit).toBe(0)
    for (const word of ['check', 'plan', 'synth', 'Exit codes:']) expect(out).toContain(word)
  })
  it('reads standard input once only', async () => {
    const { exit, err } = await egretta('plan', '--intent', '-', '--topology', '-')
    expect(exit).toBe(1)
    expect(err).toContain('can be read once only')
  })
})
