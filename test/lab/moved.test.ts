import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import type { LabNode } from './network.js'
import { buildSecondary, markPods, type SecondaryLab } from './secondary.js'
import { ANSWERS, converge, HOSTS, leavingFrom, PODS, podOf, rendered, visits, WAYS, watchCards } from './shop.js'
import { stream } from './traffic.js'

const KEEP = { spec: { conntrack: 'keep' } }
const EGRESS_IPS = WAYS.map(({ egressIP }) => egressIP).sort()

describeWith(['linux', 'root', 'ip', 'nft', 'ovs', 'tcpdump', 'conntrack'], 'an egress IP of a secondary network', () => {
  let lab: SecondaryLab
  let from: LabNode
  let to: LabNode
  let before: (node: LabNode) => string

  beforeEach(async () => {
    lab?.close()
    lab = await buildSecondary(HOSTS, PODS)
    ;[from, to] = lab.nodes as [LabNode, LabNode]
    for (const node of lab.nodes) markPods(node, false)
    before = rendered(lab, 'before', leavingFrom(from.name, 'shared'))
    // The gateways of both families answer on the wire of the bridge.
    for (const node of lab.nodes) await converge(node, before(node), { checks: { gateway: true, command: null } })
  })

  afterAll(() => lab?.close())

  /** One flow of each pod that has lasted a while, and new ones all the time; the answer ends them. */
  async function underLoad(): Promise<() => void> {
    const streams = WAYS.flatMap((way) =>
      (['one', 'new'] as const).map((flows) => stream(podOf(lab, way), flows, way.source, way.target, 100)),
    )
    await sleep(500)
    return () => {
      for (const running of streams) running.stop()
    }
  }

  const translated = (node: LabNode): readonly string[] =>
    ['ipv4', 'ipv6'].flatMap((family) =>
      node.namespace
        .exec('conntrack', ['-L', '-f', family])
        .stdout.split('\n')
        .filter((line) => EGRESS_IPS.some((address) => line.includes(`dst=${address} `))),
    )

  it('moves: established flows go on with it through the other node, and no packet ever has another source', async () => {
    const after = rendered(lab, 'after', leavingFrom(to.name, 'shared'))
    const end = await underLoad()
    expect(translated(from).length).toBeGreaterThan(0)
    const watches = await Promise.all(lab.nodes.map((node) => watchCards(lab, node, 'moved')))
    // The other way round the new node would wait: it takes no egress IP for which another station answers.
    await converge(from, after(from))
    await converge(to, after(to))
    expect(translated(from)).toEqual([])
    const rest = await watchCards(lab, from, 'released')
    // Packets of the pods keep coming to the old node until OVN sends them to the new one.
    await sleep(500)
    expect(await rest.stop()).toEqual({ primary: {}, secondary: {} })
    lab.route(to)
    await sleep(500)
    end()
    const [old, now] = await Promise.all(watches.map((watch) => watch.stop()))
    expect([old?.primary, now?.primary]).toEqual([{}, {}])
    expect([Object.keys(old?.secondary ?? {}), Object.keys(now?.secondary ?? {})]).toEqual([EGRESS_IPS, EGRESS_IPS])
    expect(await visits(lab)).toEqual(ANSWERS)
  })

  it('goes: established flows end with it, and no packet has it as its source from then on, or another', async () => {
    const after = rendered(lab, 'gone', leavingFrom(from.name, 'shared', { egress: [] }))
    const end = await underLoad()
    const watch = await watchCards(lab, from, 'gone')
    await converge(from, after(from))
    expect(translated(from)).toEqual([])
    const rest = await watchCards(lab, from, 'rest')
    await sleep(500)
    expect(await rest.stop()).toEqual({ primary: {}, secondary: {} })
    end()
    const { primary, secondary } = await watch.stop()
    expect(primary).toEqual({})
    expect(Object.keys(secondary)).toEqual(EGRESS_IPS)
  })

  it('goes, and established flows end with it also where the cluster keeps them: their rule goes too', async () => {
    const after = rendered(lab, 'gone', leavingFrom(from.name, 'shared', { egress: [], ...KEEP }))
    await converge(from, rendered(lab, 'keep', leavingFrom(from.name, 'shared', KEEP))(from))
    const end = await underLoad()
    const watch = await watchCards(lab, from, 'kept')
    await converge(from, after(from))
    expect(translated(from)).toEqual([])
    await sleep(500)
    end()
    const { primary, secondary } = await watch.stop()
    expect(primary).toEqual({})
    expect(Object.keys(secondary)).toEqual(EGRESS_IPS)
  })
})
