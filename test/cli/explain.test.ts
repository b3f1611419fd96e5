import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { egressIPObject, NODES, namespaceObject, podObject } from '../constructs/sources.js'
import { egretta } from './terminal.js'

const LIST = (...items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
const SHOP = namespaceObject('shop', { env: 'prod' })
const WEB = podObject('shop', 'web', ['10.128.11.5'])

let folder: string
const before = process.cwd()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'egretta-cli-'))
  process.chdir(folder)
  mkdirSync('intent')
  mkdirSync('topology')
  writeFileSync('intent/all.json', LIST(egressIPObject('eip', ['192.0.2.50'])))
  writeFileSync('topology/all.json', LIST(...NODES, SHOP, WEB))
})
afterEach(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true, force: true })
})

const firstLine = async (...argv: readonly string[]) => {
  const { exit, out, err } = await egretta('explain', ...argv)
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  return out.split('\n')[0]
}

describe('egretta explain', () => {
  it('answers five questions in the first line', async () => {
    expect(await firstLine('ip', '192.0.2.50')).toBe(
      '192.0.2.50 is used by 1 pod (shop/web), through eip on node-a, once the plan is applied.',
    )
    expect(await firstLine('pod', 'shop/web')).toBe('shop/web leaves with 192.0.2.50, through eip, once the plan is applied.')
    expect(await firstLine('node', 'node-a')).toBe('node-a holds 1 egress IP: 192.0.2.50 of eip.')
    expect(await firstLine('object', 'eip')).toBe('eip has 192.0.2.50 on node-a; 1 pod uses it, once the plan is applied.')
    expect(await firstLine('probes')).toBe('3 of 3 nodes are probed.')
  })
  it('takes the options and paths of plan', async () => {
    expect(await firstLine('ip', '192.0.2.50', '--drain', 'node-a')).toContain('through eip on node-b')
    expect(await firstLine('ip', '192.0.2.50', '--down', 'node-a', '--down', 'node-b')).toContain('through eip on node-c')
    expect(await firstLine('ip', '192.0.2.50', 'intent', 'topology')).toContain('through eip on node-a')
    expect(await firstLine('ip', '192.0.2.50', '--rebalance', 'intent', 'topology')).toContain('through eip on node-a')
    const addresses = { '192.0.2.50': { node: 'node-c', seen: null } }
    writeFileSync('other.json', JSON.stringify({ apiVersion: 'egretta.dev/v1alpha1', kind: 'Lock', objects: { eip: { addresses } } }))
    expect(await firstLine('ip', '192.0.2.50', '--lock', 'other.json')).toBe(
      '192.0.2.50 is used by 1 pod (shop/web), through eip on node-c.',
    )
  })
  it('prints JSON, and nothing else, with -o json', async () => {
    const { exit, out } = await egretta('explain', 'pod', 'shop/web', '-o', 'json')
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ kind: 'Explanation', question: { kind: 'pod', name: 'shop/web' }, pod: { object: 'eip' } })
  })
  it('reads a ProbeResult as part of the topology', async () => {
    const results = 'apiVersion: egretta.dev/v1alpha1\nkind: ProbeResult\nspec:\n  results:\n  - {node: node-a, reachable: false}\n'
    writeFileSync('topology/probes.yaml', results)
    expect(await firstLine('ip', '192.0.2.50')).toContain('through eip on node-b')
  })
  it('exits 1 with a precise message for what the inputs do not have', async () => {
    expect(await egretta('explain', 'node', 'node-x')).toEqual({
      exit: 1,
      out: '',
      err: 'egretta: the inputs have no node node-x; did you mean node-a or node-b or node-c?\n',
    })
    expect((await egretta('explain', 'pod', 'shop/wbe', '-o', 'json')).err).toContain('did you mean shop/web?')
    expect((await egretta('explain', 'ip', '192.0.2.50', '--drain', 'node-x')).exit).toBe(1)
    expect((await egretta('explain', 'ip')).exit).toBe(1)
    expect((await egretta('explain', 'pdo', 'x')).err).toContain("unknown command 'pdo'")
  })
  it('exits 1 when a file does not parse, and 0 when something else has an error', async () => {
    writeFileSync('intent/other.json', LIST(egressIPObject('other', ['oops'])))
    expect(await firstLine('ip', '192.0.2.50')).toContain('through eip')
    writeFileSync('intent/bad.yaml', 'a: [')
    const { exit, out, err } = await egretta('explain', 'ip', '192.0.2.50')
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
    expect(err).toContain('intent/bad.yaml:1:')
  })
})
