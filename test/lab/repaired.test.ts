import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { judged, rounds } from '../soak.js'
import { type Daemon, sourceOf, startDaemon } from './daemon.js'
import { render, SECOND_CARD } from './inputs.js'
import { held } from './moves.js'
import { run } from './netns.js'
import { buildBridge, type LabNode, setUpBridge } from './network.js'
import { runFirst } from './priority.js'
import { buildSecondary, type SecondaryLab } from './secondary.js'
import { HOSTS } from './shop.js'

/** A host is to be as it was within so many milliseconds after the thing that went is back. */
const WITHIN = 1000
const SITE = 'table inet site { chain input { type filter hook input priority 0; policy accept; tcp dport 9 drop; }; }'

describeWith(['linux', 'root', 'ip', 'nft', 'ovs'], 'a running agent', () => {
  let lab: SecondaryLab
  let node: LabNode
  let daemon: Daemon
  let before: readonly string[]

  /** What somebody else has on the external bridge of a node, beside its addresses. */
  function useBridge(): void {
    node.ovs.ofctl('add-flow', node.bridge, 'cookie=0xabc,table=7,priority=9,arp,actions=drop')
    node.namespace.exec('ip', ['addr', 'replace', '192.0.2.77/32', 'dev', node.bridge])
    node.namespace.exec('ip', ['route', 'replace', 'default', 'via', '192.0.2.100', 'dev', node.bridge])
    node.namespace.exec('ip', ['-6', 'route', 'replace', 'default', 'via', '2001:db8:1::100', 'dev', node.bridge])
  }
  /** The same on the second card. */
  function useCard(): void {
    node.namespace.exec('ip', ['neigh', 'add', '198.51.100.78', 'lladdr', '00:00:5e:00:53:78', 'dev', SECOND_CARD, 'nud', 'permanent'])
  }

  beforeAll(async () => {
    runFirst()
    lab = await buildSecondary(HOSTS, [])
    node = lab.nodes[0] as LabNode
    for (const family of ['-4', '-6']) node.namespace.exec('ip', [family, 'route', 'del', 'default'])
    useBridge()
    useCard()
    node.namespace.exec('nft', ['-f', '-'], { input: SITE })
    render(held(node.name), join(lab.dir, 'out'))
    const source = sourceOf(node, join(lab.dir, 'source'))
    source.put(join(lab.dir, 'out'))
    daemon = await startDaemon(node, source.folder)
    before = state()
    expect(before.join('\n')).toContain('egretta')
  })

  afterAll(() => lab?.close())

  /** Everything on the host that anybody could touch, in an order and with names that do not depend on what was made first. */
  function state(): readonly string[] {
    const { namespace, ovs, bridge } = node
    const ip = (...args: readonly string[]): string => namespace.exec('ip', ['-N', ...args], { mayFail: true }).stdout
    const index = /^(\d+):/.exec(ip('-o', 'link', 'show', 'dev', SECOND_CARD))?.[1]
    const lines = [
      ip('-o', 'addr', 'show', 'scope', '0').replace(/^\d+: |\\.*$| tentative/gm, ''),
      ...['-4', '-6'].flatMap((family) => [
        ip(family, 'neigh', 'show', 'nud', 'permanent'),
        ip(family, 'rule', 'show'),
        ip(family, 'route', 'show', 'table', 'all', 'scope', '0').replace(/ (?:expires \d+sec|linkdown)/g, ''),
      ]),
      // Without the switch there are none.
      run('ovs-ofctl', ['-O', 'OpenFlow14', 'dump-flows', `unix:${ovs.rundir}/${bridge}.mgmt`, '--no-stats', '--names'], { mayFail: true })
        .stdout,
    ].flatMap((text) => text.split('\n'))
    const table = new RegExp(`(?<=(?:table|lookup) )${1000 + Number(index)}\\b`, 'g')
    const tables = namespace.exec('nft', ['list', 'ruleset']).stdout.split(/^(?=table )/m)
    // Table 255 is the kernel's own, and so is what it does about link-local addresses some time or other.
    const isTheirs = (line: string) => line !== '' && !/ table 255 |fe80::/.test(line)
    return [...lines.map((line) => line.replace(table, 'TABLE').trim()).filter(isTheirs), ...tables].sort()
  }

  const nft = (...words: readonly string[]) => void node.namespace.exec('nft', words)

  /** What happens to the host, and how what went comes back; null where only entries of the agent went. */
  const disturbances: readonly { readonly after: string; readonly goes: () => void; readonly comes: (() => void) | null }[] = [
    {
      after: 'a restart of ovs-vswitchd',
      goes: () => node.ovs.stopSwitch(),
      comes: () => {
        node.ovs.startSwitch()
        setUpBridge(node, node.namespace)
        useBridge()
      },
    },
    {
      after: 'its bridge was deleted and made again',
      goes: () => {
        node.ovs.vsctl('del-br', node.bridge)
        node.ovs.vsctl('del-port', `patch-br-int-to-${node.bridge}_${node.name}`)
      },
      comes: () => {
        buildBridge(node, node.namespace, node.ovs)
        setUpBridge(node, node.namespace)
        useBridge()
      },
    },
    {
      after: 'a network card was removed and is back',
      goes: () => void node.namespace.exec('ip', ['link', 'del', SECOND_CARD]),
      comes: () => {
        lab.plug(node)
        useCard()
      },
    },
    { after: 'somebody flushed its table', goes: () => nft('flush', 'table', 'inet', 'egretta'), comes: null },
    { after: 'somebody deleted its table', goes: () => nft('delete', 'table', 'inet', 'egretta'), comes: null },
    {
      after: 'somebody flushed the permanent neighbors',
      goes: () => {
        for (const family of ['-4', '-6']) node.namespace.exec('ip', [family, 'neigh', 'flush', 'dev', node.bridge, 'nud', 'permanent'])
      },
      comes: null,
    },
    {
      after: 'another tool flushed all of nftables and loaded its own',
      goes: () => void node.namespace.exec('nft', ['-f', '-'], { input: `flush ruleset\n${SITE}` }),
      comes: null,
    },
  ]

  /** Milliseconds from the moment at which the thing is back until everything is as it was. */
  async function repair({ goes, comes }: (typeof disturbances)[number], gone: number): Promise<number> {
    const said = daemon.said().length
    goes()
    if (comes) {
      await sleep(gone)
      expect(state()).not.toEqual(before)
      comes()
    }
    const back = performance.now()
    for (;;) {
      const looked = performance.now()
      const now = state()
      if (JSON.stringify(now) === JSON.stringify(before)) return looked - back
      if (looked - back > 10 * WITHIN) expect(now, daemon.said().slice(said)).toEqual(before)
      await sleep(100)
    }
  }

  it.each(disturbances)('repairs everything within a second after $after', async (disturbance) => {
    const times: number[] = []
    for (let round = 0; round < rounds(3, 10); round++) {
      times.push(await repair(disturbance, 1500 + 100 * round))
      // The repair may have been only a part of what the agent goes on to do.
      await sleep(500)
      expect(state()).toEqual(before)
    }
    console.log(`after ${disturbance.after}: ${times.map(Math.round).join(', ')} ms`)
    expect(judged(times)).toBeLessThan(WITHIN)
  })
})
