import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import type { LabNode } from './network.js'
import { buildSecondary, markPods, type SecondaryLab } from './secondary.js'
import { ANSWERS, converge, HOSTS, leavingFrom, PODS, podOf, rendered, visits, WAYS, watchCards } from './shop.js'
import { stray, stream } from './traffic.js'

/** New flows a second. */
const RATE = 500
const EGRESS_IPS = WAYS.map(({ egressIP }) => egressIP).sort()

describeWith(['linux', 'root', 'ip', 'nft', 'ovs', 'tcpdump', 'conntrack'], 'egress IPs of a secondary network', () => {
  describe.each(['shared', 'local'] as const)('in %s gateway mode', (mode) => {
    let lab: SecondaryLab
    let node: LabNode
    let bundle: string

    beforeAll(async () => {
      lab = await buildSecondary(HOSTS, PODS)
      node = lab.nodes[0] as LabNode
      markPods(node, mode === 'local')
      bundle = rendered(lab, 'out', leavingFrom(node.name, mode))(node)
      await converge(node, bundle)
    })

    afterAll(() => lab?.close())

    afterEach(async () => {
      await converge(node, bundle)
    })

    /** What left the two cards while `during` went on, under new flows of both families all the time. */
    async function underLoad(name: string, during: () => Promise<void>) {
      const watch = await watchCards(lab, node, name)
      const streams = WAYS.map((way) => stream(podOf(lab, way), 'new', way.source, way.target, RATE))
      await sleep(500)
      await during()
      await sleep(500)
      for (const running of streams) running.stop()
      return await watch.stop()
    }

    it('are what a station sees, over TCP, UDP and ICMP, IPv4 and IPv6', async () => {
      const watch = await watchCards(lab, node, 'visits')
      expect(await visits(lab)).toEqual(ANSWERS)
      const { primary, secondary } = await watch.stop()
      expect(primary).toEqual({})
      expect(Object.keys(secondary)).toEqual(EGRESS_IPS)
    })

    it('stay on the host when nothing has changed', async () => {
      expect((await converge(node, bundle)).changes).toEqual([])
    })

    it('are the only source of 500 new flows a second while the maps are empty for two seconds', async () => {
      const { primary, secondary } = await underLoad('emptied', async () => {
        for (const version of [4, 6]) node.namespace.exec('nft', ['flush', 'map', 'inet', 'egretta', `egress-ip-snat-v${version}`])
        await sleep(2000)
        expect((await converge(node, bundle)).changes).toHaveLength(WAYS.length)
      })
      expect(primary).toEqual({})
      expect(Object.keys(secondary)).toEqual(EGRESS_IPS)
      // Half a second before and half a second after the two seconds of which nothing came through.
      for (const egressIP of EGRESS_IPS) expect(secondary[egressIP]).toBeLessThan(RATE * 2)
    })

    it('let no packet of a pod out that connection tracking calls invalid', async () => {
      const watch = await watchCards(lab, node, 'invalid')
      for (const way of WAYS) stray(podOf(lab, way), way.source, way.target, 100)
      expect(await watch.stop()).toEqual({ primary: {}, secondary: {} })
    })

    it('leak both without the filter: what the tests above could have found', async () => {
      node.namespace.exec('nft', ['flush', 'chain', 'inet', 'egretta', 'egress-ip-sec-filter'])
      // For new flows the chain that translates has a filter of its own.
      const listed = node.namespace.exec('nft', ['-a', 'list', 'chain', 'inet', 'egretta', 'egress-ip-snat']).stdout
      for (const [, handle = ''] of listed.matchAll(/ drop .*# handle (\d+)/g))
        node.namespace.exec('nft', ['delete', 'rule', 'inet', 'egretta', 'egress-ip-snat', 'handle', handle])
      const leaked = Object.fromEntries(WAYS.map(({ source }) => [source, 100]))
      const watch = await watchCards(lab, node, 'leaked')
      for (const way of WAYS) stray(podOf(lab, way), way.source, way.target, 100)
      expect((await watch.stop()).secondary).toEqual(leaked)
      const { secondary } = await underLoad('unfiltered', async () => {
        for (const version of [4, 6]) node.namespace.exec('nft', ['flush', 'map', 'inet', 'egretta', `egress-ip-snat-v${version}`])
        await sleep(500)
      })
      for (const { source } of WAYS) expect(secondary[source]).toBeGreaterThan(0)
    })
  })
})
