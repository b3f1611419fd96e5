import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NO_CHECKS } from '../../src/agent/checks.js'
import { type Request, run } from '../../src/agent/run.js'
import type { Phase } from '../../src/model/bundle.js'
import { NAMESPACE } from '../lab/inputs.js'
import { entering } from '../lab/netns.js'
import type { LabNode } from '../lab/network.js'
import { buildSecondary, markPods, type SecondaryLab } from '../lab/secondary.js'
import { HOSTS, leavingFrom, PODS, podOf, rendered, WAYS, watchCards } from '../lab/shop.js'
import { stream } from '../lab/traffic.js'
import { describeWith } from '../requires.js'
import { rounds } from '../soak.js'
import { MOMENTS, type Moment, type Shims, writeShims } from './shims.js'

/** What a node is asked for. */
type Target = readonly [bundle: 'none' | 'one' | 'other', phase: Phase]

/** Every kind of pass: the way to where the host is, what is asked, and whether the pass fails at its end, so that it is put back. */
const KINDS: readonly (readonly [what: string, from: readonly Target[], to: Target, fails: boolean])[] = [
  ['adds egress IPs', [['none', 'steady']], ['one', 'steady'], false],
  ['gives pods and the node other egress IPs', [['one', 'steady']], ['other', 'steady'], false],
  ['removes egress IPs', [['one', 'steady']], ['none', 'steady'], false],
  ['lets the node leave', [['one', 'steady']], ['one', 'shutdown'], false],
  ['lets the node start', [['none', 'steady']], ['one', 'startup'], false],
  [
    'lets the node speak',
    [
      ['one', 'shutdown'],
      ['one', 'startup'],
    ],
    ['one', 'steady'],
    false,
  ],
  ['is put back after it added', [['none', 'steady']], ['one', 'steady'], true],
  ['is put back after it gave others', [['one', 'steady']], ['other', 'steady'], true],
]

const OTHERS = WAYS.map((way) => ({ ...way, egressIP: way.egressIP.replace(/50$/, '60') }))
const EGRESS_IPS = [...WAYS, ...OTHERS].map(({ egressIP }) => egressIP)
const PRIMARY = { one: ['192.0.2.50', '2001:db8:1::50'], other: ['192.0.2.60', '2001:db8:1::60'] }

/** What stands on the host and is not ours. */
const FOREIGN = (bridge: string): readonly string[] => [
  `addr add 192.0.2.77/32 dev ${bridge}`,
  `neigh add 192.0.2.78 lladdr 02:00:00:00:00:78 dev ${bridge} nud permanent`,
  'route add 203.0.113.128/25 via 192.0.2.1 proto static',
  'rule add priority 5000 from 192.0.2.77 lookup 77',
  'route add default via 198.51.100.1 dev eth1 table 77',
]

describeWith(
  ['linux', 'root', 'ip', 'nft', 'ovs', 'tcpdump', 'conntrack', 'arping', 'ndptool'],
  'an agent that is killed at a step of a pass that',
  () => {
    let lab: SecondaryLab
    let node: LabNode
    let shims: Shims
    let bundles: Readonly<Record<Target[0], string>>
    let kills = 0

    beforeAll(async () => {
      lab = await buildSecondary(HOSTS, PODS)
      node = lab.nodes[0] as LabNode
      markPods(node, false)
      const { namespace, ovs, bridge } = node
      for (const line of FOREIGN(bridge)) namespace.exec('ip', line.split(' '))
      ovs.ofctl('add-flow', bridge, 'cookie=0x77,priority=77,udp,tp_dst=77,actions=drop')
      shims = writeShims(join(lab.dir, 'shims'))
      const bundle = (name: Target[0], ways: typeof WAYS, primary: readonly string[]) => {
        const { egress = [], ...wanted } = leavingFrom(node.name, 'shared')
        const second = egress.map((each, at) => ({ ...each, addresses: [ways[at]?.egressIP ?? ''] })).slice(0, ways.length)
        const first = primary.map((address, at) => ({
          name: `quiet-${at}`,
          addresses: [address],
          node: node.name,
          namespace: NAMESPACE,
          app: 'quiet',
        }))
        return rendered(lab, name, { ...wanted, egress: [...second, ...first] })(node)
      }
      bundles = { none: bundle('none', [], []), one: bundle('one', WAYS, PRIMARY.one), other: bundle('other', OTHERS, PRIMARY.other) }
    })

    afterAll(() => lab?.close())

    const request = ([bundle, phase]: Target, fails = false): Request => ({
      command: 'apply',
      bundle: bundles[bundle],
      node: node.name,
      phase,
      stateDir: node.stateDir,
      rundir: node.ovs.rundir,
      maxRemove: 100,
      allowOlder: true,
      exec: { prefix: ['nsenter', ...entering(node.namespace.name)] },
      ...(fails && { checks: { ...NO_CHECKS, command: ['false'] } }),
    })

    /** Everything that an agent could touch, ours and not ours, as text. */
    function state(): string {
      const { namespace, ovs, bridge } = node
      const ip = (...args: readonly string[]) => namespace.exec('ip', ['-N', ...args]).stdout
      return (
        [
          namespace.exec('nft', ['list', 'ruleset']).stdout,
          ...[bridge, 'br-int'].map((each) => ovs.ofctl('dump-flows', each, '--no-stats').split('\n').sort().join('\n')),
          ovs.noFlood(bridge).join(' '),
          ip('-o', 'addr', 'show', 'scope', 'global'),
          ...['-4', '-6'].flatMap((family) => [
            ip(family, 'neigh', 'show', 'nud', 'permanent'),
            ip(family, 'rule', 'show'),
            ip(family, 'route', 'show', 'table', 'all'),
          ]),
        ]
          // Those of the links come when duplicate detection ends.
          .flatMap((text) => text.split('\n').filter((line) => !line.includes(' fe80:')))
          .join('\n')
      )
    }

    async function reach(target: Target): Promise<void> {
      const { exitCode, problems, pending } = await run(request(target))
      expect({ exitCode, problems, pending }).toEqual({ exitCode: 0, problems: [], pending: [] })
    }

    /** Runs the agent in a process of its own; its problems, or null where it was killed. */
    async function start(of: Request): Promise<readonly string[] | null> {
      const argument = JSON.stringify({ ...of, exec: { ...of.exec, path: shims.path } })
      const words = ['--import', 'tsx', join(import.meta.dirname, 'killable.ts'), argument]
      const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
      let said = ''
      child.stdout.on('data', (bytes: Buffer) => {
        said += bytes.toString()
      })
      const signal = await new Promise((resolve) => child.once('close', (_, by) => resolve(by)))
      return signal === 'SIGKILL' ? null : (JSON.parse(said) as readonly string[])
    }

    it.each(KINDS)('%s leaves a host on which the next one converges, and no packet with another source', async (what, from, to, fails) => {
      for (const each of from) await reach(each)
      const before = state()
      shims.arm(null)
      expect(await start(request(to, fails))).toEqual(fails ? ['CheckFailed: after the pass "false" ended with 1'] : [])
      const calls = shims.calls()
      if (fails) expect(state(), what).toBe(before)
      await reach(to)
      const wanted = state()
      expect(wanted).not.toBe(before)
      const points = Array.from({ length: calls }, (_, at) => MOMENTS.map((moment) => ({ call: at + 1, moment }))).flat()
      const count = rounds(Math.ceil(20 / KINDS.length), Math.max(points.length, 30))
      const streams = WAYS.flatMap((way) =>
        (['one', 'new'] as const).map((flows) => stream(podOf(lab, way), flows, way.source, way.target, 50)),
      )
      const watch = await watchCards(lab, node, `killed-${KINDS.findIndex(([each]) => each === what)}`)
      const first = kills
      for (let kill = 0; kill < count; kill++) {
        const point = points[Math.floor(((kill + 0.5) * points.length) / count) % points.length] as { call: number; moment: Moment }
        for (const each of from) await reach(each)
        expect(state(), what).toBe(before)
        shims.arm(point)
        if ((await start(request(to, fails))) !== null) continue
        kills++
        await sleep(100)
        await reach(to)
        expect(state(), `${point.moment} call ${point.call} of ${calls}`).toBe(wanted)
        const { changes, exitCode } = await run(request(to))
        expect({ changes, exitCode }).toEqual({ changes: [], exitCode: 0 })
      }
      console.log(`${what}: ${kills - first} agents killed, ${calls} calls that change the host`)
      for (const each of streams) each.stop()
      const { primary, secondary } = await watch.stop()
      expect(primary).toEqual({})
      expect(Object.keys(secondary).filter((source) => !EGRESS_IPS.includes(source))).toEqual([])
    })

    it('says how many that were', () => {
      expect(kills).toBeGreaterThanOrEqual(rounds(18, 200))
    })
  },
)
