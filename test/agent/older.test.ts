import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { writeBundle } from './bundles.js'
import { type Node, openNode, summary } from './node.js'

const ONE = { egress: ['192.0.2.50'] }
const TWO = { egress: ['192.0.2.51'] }

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'a bundle that is older than the one that was applied', () => {
  let node: Node
  beforeAll(() => {
    node = openNode('older')
  })
  afterAll(() => node?.close())

  /** A bundle in a folder of its own, written at a time in seconds. */
  const bundle = (name: string, content: typeof ONE, seconds: number): string => {
    const folder = writeBundle(join(node.folder, name), content)
    for (const file of readdirSync(folder)) utimesSync(join(folder, file), seconds, seconds)
    return folder
  }

  it('is refused, unless that is meant', async () => {
    const [one, two] = [bundle('one', ONE, 1000), bundle('two', TWO, 2000)]
    for (const each of [one, two]) expect(summary(await node.agent('apply', { bundle: each }))).toMatchObject({ exitCode: 0, problems: [] })
    const before = node.state()
    for (const command of ['diff', 'apply'] as const) {
      const report = await node.agent(command, { bundle: one })
      expect(summary(report)).toEqual({ exitCode: 1, changes: [], pending: [], problems: ['OlderBundle'] })
      expect(report.problems[0]?.message).toBe('the bundle was applied before the last one, and was written before it; nothing was changed')
    }
    expect(node.state()).toBe(before)
    expect(summary(await node.agent('apply', { bundle: two }))).toMatchObject({ exitCode: 0, changes: [] })
    expect(summary(await node.agent('apply', { bundle: one, allowOlder: true }))).toMatchObject({ exitCode: 0, problems: [] })
    expect(node.namespace.exec('ip', ['addr']).stdout).toContain('192.0.2.50')
  })

  it('is not one that was rendered again to go back, nor one that is new here', async () => {
    expect((await node.agent('apply', { bundle: bundle('two', TWO, 2000) })).exitCode, 'written after the other one').toBe(0)
    expect((await node.agent('apply', { bundle: bundle('one', ONE, 3000) })).exitCode, 'written again').toBe(0)
    expect((await node.agent('apply', { bundle: bundle('three', { egress: ['192.0.2.52'] }, 500) })).exitCode, 'never applied').toBe(0)
  })

  it('silences the node all the same when it leaves', async () => {
    const one = bundle('one', ONE, 100)
    expect((await node.agent('apply', { bundle: one })).exitCode).toBe(1)
    expect(summary(await node.agent('apply', { bundle: one, phase: 'shutdown' }))).toMatchObject({ exitCode: 0, problems: [] })
    expect(node.namespace.exec('nft', ['list', 'ruleset']).stdout).toContain('192.0.2.50')
  })
})
