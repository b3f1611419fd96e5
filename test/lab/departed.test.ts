import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { capture, type Heard } from './capture.js'
import { sourceOf, startDaemon } from './daemon.js'
import { NAMESPACE, render } from './inputs.js'
import { CLIENT, CLIENT_CARD, type LabNode } from './network.js'
import { runFirst } from './priority.js'
import { ask, type Running, speak } from './probe.js'
import { buildSecondary, type SecondaryLab } from './secondary.js'
import { HOSTS, leavingFrom } from './shop.js'

/** Egress IPs of the node: so many of each family. */
const ADDRESSES = { ipv4: 150, ipv6: 850 }
/** Questions a second and family, for one address after the other. */
const ASKED = 400
/** Within so many milliseconds after the signal the node must be silent. */
const WITHIN = 100
/** How long to listen before the signal and after it, in milliseconds. */
const LISTEN = [1000, 4000] as const
/** The node sends from these. */
const SPEAKING = ['192.0.2.101', '192.0.2.200', '2001:db8:1::1001', '2001:db8:1::1300']

const range = (count: number, name: (index: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, index) => name(index))
const EGRESS = {
  ipv4: range(ADDRESSES.ipv4, (index) => `192.0.2.${101 + index}`),
  ipv6: range(ADDRESSES.ipv6, (index) => `2001:db8:1::${1000 + index}`),
}

describeWith(['linux', 'root', 'ip', 'nft', 'ovs', 'tcpdump'], 'a node with 1,000 egress IPs whose agent gets SIGTERM', () => {
  let lab: SecondaryLab
  let node: LabNode

  beforeAll(async () => {
    runFirst()
    lab = await buildSecondary(HOSTS, [])
    node = lab.nodes[0] as LabNode
    const wanted = leavingFrom(node.name, 'shared', {
      pods: [],
      egress: [...EGRESS.ipv4, ...EGRESS.ipv6].map((address, index) => ({
        name: `eip-${index}`,
        addresses: [address],
        node: node.name,
        namespace: NAMESPACE,
        app: `app-${index}`,
      })),
    })
    render(wanted, join(lab.dir, 'out'))
  })

  afterAll(() => lab?.close())

  /** What the client heard from the node before the signal and from `WITHIN` after it, while the host went on; and the latest word of it. */
  async function leave(onTerm: 'guard' | 'leave') {
    const source = sourceOf(node, join(lab.dir, `source-${onTerm}`))
    source.put(join(lab.dir, 'out'))
    const daemon = await startDaemon(node, source.folder, '--on-term', onTerm)
    const listening = await capture(lab.client, CLIENT_CARD, join(lab.dir, `${onTerm}.pcap`))
    const running: readonly Running[] = [
      ask(lab.client, CLIENT_CARD, CLIENT.ipv4, EGRESS.ipv4, ASKED),
      ask(lab.client, CLIENT_CARD, CLIENT.ipv6, EGRESS.ipv6, ASKED),
      ...SPEAKING.map((address) => speak(node.namespace, node.bridge, address, address.includes(':') ? CLIENT.ipv6 : CLIENT.ipv4, 10)),
    ]
    await sleep(LISTEN[0])
    const signaled = daemon.signal('SIGTERM')
    await sleep(LISTEN[1])
    for (const one of running) one.stop()
    const egress = new Set([...EGRESS.ipv4, ...EGRESS.ipv6])
    const heard = (await listening.stop()).filter(({ address }) => egress.has(address))
    const spoken = heard.filter(({ mac }) => mac === node.mac)
    const since = (list: readonly Heard[], start: number, end = Number.POSITIVE_INFINITY) => {
      const within = list.filter(({ at }) => at >= start && at < end)
      const count = (wanted: Heard['kind']) => within.filter(({ kind }) => kind === wanted).length
      return { questions: count('question'), answers: count('answer'), claims: count('claim') }
    }
    return {
      before: since(heard, signaled - LISTEN[0], signaled),
      after: { ...since(spoken, signaled + WITHIN), questions: since(heard, signaled + WITHIN).questions },
      last: (spoken.findLast(({ at }) => at >= signaled)?.at ?? signaled) - signaled,
      ended: await daemon.ended,
      said: daemon.said(),
    }
  }

  it('is silent within 100 ms and stays so, though the host keeps its addresses and sends from them; without the guard it is not', async () => {
    const left = await leave('leave')
    expect(left.ended).toBe(0)
    expect(left.after.answers).toBeGreaterThan(left.after.questions * 0.8)
    expect(left.after.claims).toBeGreaterThan(0)
    const { before, after, last, ended, said } = await leave('guard')
    console.log(`silent ${Math.round(last)} ms after the signal; of ${after.questions} later questions ${after.answers} were answered`)
    expect(before.answers).toBeGreaterThan(before.questions * 0.8)
    expect(before.claims).toBeGreaterThan(0)
    expect(after.questions).toBeGreaterThan(ASKED)
    expect({ answers: after.answers, claims: after.claims }).toEqual({ answers: 0, claims: 0 })
    expect(ended, said).toBe(0)
    const addresses = node.namespace.exec('ip', ['-o', 'addr', 'show', 'dev', node.bridge]).stdout
    for (const address of SPEAKING) expect(addresses).toContain(` ${address}/`)
  })
})
