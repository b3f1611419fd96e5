import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { BRIDGE, writeBundle } from './bundles.js'
import { agentWords, type Node, openNode, summary } from './node.js'

const COUNT = 200
const HELD = {
  egress: Array.from({ length: COUNT }, (_, index) =>
    index % 2 === 0 ? `192.0.3.${index + 1}` : `2001:db8:3::${(index + 1).toString(16)}`,
  ),
  masquerade: Array.from({ length: COUNT }, (_, index) => `169.254.1.${index + 1}`),
  flows: COUNT,
}

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'an agent that is killed', () => {
  let node: Node
  let untouched: string
  beforeAll(() => {
    node = openNode('killed')
    node.namespace.exec('ip', ['addr', 'add', '198.51.100.1/32', 'dev', BRIDGE])
    untouched = node.state()
  })
  afterAll(() => node?.close())

  const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length
  const progress = () => {
    const text = node.state()
    return count(text, /192\.0\.3\.|2001:db8:3:/g) + count(text, /169\.254\.1\./g) + count(text, /cookie=0xe6e70001/g)
  }

  /** Starts `apply` as a process of its own and kills it some time after it has begun to change the host. Whether it was killed in time. */
  async function applyAndKill(after: number): Promise<boolean> {
    const [enter = '', ...words] = [...node.prefix, process.execPath, ...agentWords('apply', node), '--max-remove', '100']
    const child = spawn(enter, words, { stdio: 'ignore', env: { ...process.env, OVS_RUNDIR: node.ovs.rundir } })
    const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on('exit', (_, signal) => resolve(signal)))
    while (child.exitCode === null && !existsSync(join(node.stateDir, 'journal.json'))) await sleep(1)
    await sleep(after)
    child.kill('SIGKILL')
    return (await ended) === 'SIGKILL'
  }

  it('converges when it runs again, wherever it was killed', async () => {
    const halfway: number[] = []
    const isHalfway = (changes: number) => changes > 0 && changes < 3 * COUNT
    // A busy machine may let every kill come too late; then there are more attempts, until one finds the agent between its steps.
    for (let attempt = 0; attempt < 14 || (attempt < 56 && !halfway.some(isHalfway)); attempt++) {
      const filling = attempt % 2 === 0
      writeBundle(node.bundle, filling ? HELD : { egress: [], masquerade: [] })
      const killed = await applyAndKill((attempt % 14) * 3)
      // At once: what the killed agent started may still be at work, and the lock must wait for it.
      const report = await node.agent('apply', { maxRemove: 100 })
      expect(summary(report)).toMatchObject({ exitCode: 0, problems: [] })
      if (killed) halfway.push(report.changes.length)
      expect(summary(await node.agent('apply'))).toMatchObject({ exitCode: 0, changes: [] })
      expect(progress()).toBe(filling ? 3 * COUNT : 0)
      const marks = join(node.stateDir, 'addresses.json')
      expect(existsSync(marks) ? count(readFileSync(marks, 'utf8'), /"address"/g) : 0).toBe(filling ? COUNT : 0)
      if (!filling) expect(node.state()).toBe(untouched)
    }
    // The test means something only if the agent was killed, and between its steps.
    expect(halfway.length).toBeGreaterThan(3)
    expect(halfway.some(isHalfway)).toBe(true)
  })
})
