import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { judged, rounds } from '../soak.js'
import { type Source, sourceOf, startDaemon } from './daemon.js'
import { render } from './inputs.js'
import { held, type Moved, moveAround, silenceOf } from './moves.js'
import { run } from './netns.js'
import type { LabNode } from './network.js'
import { runFirst } from './priority.js'
import { buildSecondary, type SecondaryLab } from './secondary.js'
import { HOSTS, PODS } from './shop.js'

/** Milliseconds between the moments at which the first and the second node are told. */
const APART = [700, 0, 250]
/** The longest silence, in milliseconds from the moment at which the later of the two nodes was told. */
const SILENT = 1500
/** Seconds between two looks at a repository. */
const POLL = 0.5

describeWith(
  ['linux', 'root', 'ip', 'nft', 'ovs', 'arping', 'ndptool', 'tcpdump'],
  'a planned move, of both families and on both networks, is never answered by the old node after the new one',
  () => {
    let lab: SecondaryLab

    /** The rendering in which the node has the addresses. */
    const out = (node: LabNode): string => join(lab.dir, `on-${node.name}`)

    beforeEach(async () => {
      runFirst()
      lab = await buildSecondary(HOSTS, PODS)
      for (const node of lab.nodes) render(held(node.name), out(node))
    })

    afterEach(() => lab?.close())

    /** Every move went to its end, and none was answered by two nodes at a time. */
    function expectOneVoice(moves: readonly (readonly Moved[])[]): void {
      for (const [index, moved] of moves.entries()) {
        for (const { address, silence, after } of moved) {
          expect(after.oldAnswers, `${address}, move ${index}`).toBe(0)
          expect(after.newAnswers, `${address}, move ${index}`).toBeGreaterThan(0)
          expect(silence, `${address}, move ${index}`).not.toBeNull()
        }
      }
      // An address that the kernel found twice on its wire is never answered for.
      for (const { namespace } of lab.nodes) expect(namespace.exec('ip', ['-o', 'addr', 'show']).stdout).not.toContain('dadfailed')
    }

    /** Starts both agents, the addresses on the first node; answers the folder of each. */
    async function startFromFolders(...args: readonly string[]): Promise<ReadonlyMap<LabNode, Source>> {
      const sources = new Map(lab.nodes.map((node) => [node, sourceOf(node, join(lab.dir, `source-${node.name}`))]))
      for (const [node, source] of sources) {
        source.put(out(lab.nodes[0] as LabNode))
        await startDaemon(node, source.folder, ...args)
      }
      return sources
    }

    it('and silent for less than 1.5 s, whichever node is told first', async () => {
      const sources = await startFromFolders()
      const moves = await moveAround(lab, 'told', rounds(6, 20), async (index, from, to) => {
        const [first, second] = index % 4 > 1 ? [to, from] : [from, to]
        sources.get(first)?.put(out(to))
        await sleep(APART[index % APART.length])
        return sources.get(second)?.put(out(to)) ?? 0
      })
      const silences = moves.map(silenceOf)
      console.log(`silent for ${silences.map(Math.round).join(', ')} ms; old, old, new, new node first and so on`)
      expectOneVoice(moves)
      expect(judged(silences)).toBeLessThan(SILENT)
    })

    it('and would be where the new node does not wait: what the tests here could have found', async () => {
      const sources = await startFromFolders('--claim-after', '0')
      const [moved = []] = await moveAround(lab, 'hasty', 1, async (_, from, to) => {
        sources.get(to)?.put(out(to))
        await sleep(2500)
        return sources.get(from)?.put(out(to)) ?? 0
      })
      for (const { address, after } of moved) expect(after.oldAnswers, address).toBeGreaterThan(0)
    })

    it('though nobody tells them, but a repository at which each of them looks when it likes', async () => {
      const work = join(lab.dir, 'work')
      const git = (...words: readonly string[]) =>
        void run('git', ['-C', work, '-c', 'user.name=lab', '-c', 'user.email=lab@example.com', ...words])
      run('git', ['init', '--quiet', '--initial-branch=main', work])
      const publish = (node: LabNode): number => {
        rmSync(join(work, 'rendered'), { recursive: true, force: true })
        cpSync(out(node), join(work, 'rendered'), { recursive: true })
        git('add', '--all')
        git('commit', '--quiet', '--allow-empty', '--message', `addresses on ${node.name}`)
        return Date.now()
      }
      publish(lab.nodes[0] as LabNode)
      for (const node of lab.nodes) await startDaemon(node, `git+file://${work}#main:rendered`, '--poll', String(POLL))
      const moves = await moveAround(lab, 'published', rounds(3, 20), async (_, __, to) => publish(to))
      const silences = moves.map(silenceOf)
      console.log(`silent for ${silences.map(Math.round).join(', ')} ms after the commit`)
      expectOneVoice(moves)
      expect(judged(silences)).toBeLessThan(SILENT + POLL * 1000)
    })
  },
)
