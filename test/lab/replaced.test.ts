import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { NAMESPACE } from './inputs.js'
import type { LabNode } from './network.js'
import { buildSecondary, markPods, type SecondaryLab } from './secondary.js'
import { converge, HOSTS, leavingFrom, PODS, podOf, rendered, WAYS, watchCards } from './shop.js'
import { stream } from './traffic.js'

/** How often the bundle of the node is replaced by another. */
const REPLACEMENTS = 200
/** New flows a second. */
const RATE = 500

describeWith(['linux', 'root', 'ip', 'nft', 'ovs', 'tcpdump', 'conntrack'], 'a bundle that is replaced under load', () => {
  let lab: SecondaryLab
  let node: LabNode

  beforeAll(async () => {
    lab = await buildSecondary(HOSTS, PODS)
    node = lab.nodes[0] as LabNode
    markPods(node, false)
  })

  afterAll(() => lab?.close())

  it(`${REPLACEMENTS} times lets no packet out with another source`, async () => {
    const alone = rendered(lab, 'alone', leavingFrom(node.name, 'shared'))(node)
    // The same egress IPs for the same pods; another pod comes to each of them, and a third egress IP with a pod of its own.
    const wanted = leavingFrom(node.name, 'shared')
    const more = rendered(lab, 'more', {
      ...wanted,
      pods: [
        ...PODS,
        { name: 'web', number: 2, node: 'node-b', addresses: ['10.128.12.7'] },
        { name: 'api', number: 2, node: 'node-b', addresses: ['fd01:0:0:12::7'] },
        { name: 'jobs', node: 'node-b', addresses: ['10.128.12.8'] },
      ],
      egress: [
        ...(wanted.egress ?? []),
        { name: 'jobs', addresses: ['198.51.100.60'], node: node.name, namespace: NAMESPACE, app: 'jobs' },
      ],
    })(node)
    await converge(node, alone)
    const watch = await watchCards(lab, node, 'replaced')
    const streams = WAYS.map((way) => stream(podOf(lab, way), 'new', way.source, way.target, RATE / WAYS.length))
    const started = Date.now()
    for (let count = 0; count < REPLACEMENTS; count++) {
      const { changes } = await converge(node, count % 2 === 0 ? more : alone)
      expect(changes.map(({ subsystem }) => subsystem)).toEqual(expect.arrayContaining(['nftables', 'addresses', 'rules']))
    }
    const seconds = (Date.now() - started) / 1000
    for (const running of streams) running.stop()
    const { primary, secondary } = await watch.stop()
    console.log(`${REPLACEMENTS} replacements in ${seconds.toFixed(1)} s, packets by source: ${JSON.stringify(secondary)}`)
    expect(primary).toEqual({})
    expect(Object.keys(secondary)).toEqual(WAYS.map(({ egressIP }) => egressIP).sort())
    for (const { egressIP } of WAYS) expect(secondary[egressIP]).toBeGreaterThan(seconds * (RATE / WAYS.length) * 0.5)
  }, 300_000)
})
