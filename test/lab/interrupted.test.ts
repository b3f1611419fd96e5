import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { buildNetwork, type LabNode, type Network, nodeFacts } from './network.js'
import { agentCommand, apply, copyExample, holdings, NETWORK_PREFIX, NODES, NODES_FILE, type Project } from './project.js'

type Target = readonly [bundle: string, ...options: string[]]

/** How many runs are killed: the kills spread over the time in which a run changes the host. */
const KILLS = 8
/** A busy machine may let every kill come too late; then there are more rounds, until one finds a run midway. */
const ROUNDS = 4

describeWith(['linux', 'root', 'ip', 'nft', 'ovs'], 'an apply that is killed', () => {
  let project: Project
  let network: Network
  let node: LabNode

  beforeAll(() => {
    project = copyExample()
    project.egretta('synth')
    project.edit()
    project.egretta('synth', '--out', 'moved')
    network = buildNetwork(nodeFacts(NODES_FILE, NODES.slice(0, 1)), [NETWORK_PREFIX])
    node = network.nodes[0] as LabNode
  })

  afterAll(() => {
    network?.close()
    project?.close()
  })

  const steady = (): Target => [project.bundle('moved', node.name), '--phase', 'steady']
  const shutdown = (): Target => [project.bundle('out', node.name), '--phase', 'shutdown']

  /** Starts a run, kills it `delay` ms after it opened its journal. Returns how long that lasted, and whether it was killed. */
  async function interrupt(target: Target, delay: number): Promise<{ lasted: number; killed: boolean }> {
    const { program, words, env } = agentCommand(node, 'apply', ...target)
    const child = node.namespace.spawn(program, words, { env: { ...process.env, ...env }, stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const journal = join(node.stateDir, 'journal.json')
    while (!existsSync(journal) && child.exitCode === null) await new Promise(setImmediate)
    const opened = Date.now()
    const timer = setTimeout(() => child.kill('SIGKILL'), delay)
    await ended
    clearTimeout(timer)
    return { lasted: Date.now() - opened, killed: child.signalCode === 'SIGKILL' }
  }

  it.each([
    ['it adds addresses and both guards', steady, shutdown],
    ['it removes them', shutdown, steady],
  ])('leaves a host on which the next one converges, whenever the kill comes: %s', async (_, from, to) => {
    apply(node, ...from())
    const base = holdings(node)
    let { lasted } = await interrupt(to(), 60_000)
    const wanted = holdings(node)
    expect(wanted).not.toBe(base)
    let killed = 0
    let midway = 0
    let kill = 0
    for (; kill < KILLS || (midway === 0 && kill < ROUNDS * KILLS); kill++) {
      apply(node, ...from())
      expect(holdings(node)).toBe(base)
      const run = await interrupt(to(), (lasted * (kill % KILLS)) / KILLS)
      const found = holdings(node)
      if (run.killed) killed++
      else lasted = Math.min(lasted, run.lasted)
      if (found !== base && found !== wanted) midway++
      apply(node, ...to())
      expect(holdings(node), `kill ${kill}`).toBe(wanted)
      expect(apply(node, ...to())).toEqual([])
    }
    console.log(`${killed} of ${kill} runs were killed, ${midway} of them with a part of the changes made`)
    expect(midway).toBeGreaterThan(0)
  })
})
