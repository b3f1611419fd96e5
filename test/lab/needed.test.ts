import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Artefact, bundleManifest, PHASES, printManifest } from '../../src/model/bundle.js'
import { type Entry, languageOf, PATHS } from '../../src/syntax/languages.js'
import type { NftEntry } from '../../src/syntax/nftables.js'
import { describeWith } from '../requires.js'
import { renderedFiles, SECOND_CARD } from './inputs.js'
import type { LabNode } from './network.js'
import { buildSecondary, markPods, SERVER, type SecondaryLab } from './secondary.js'
import { ANSWERS, converge, HOSTS, leavingFrom, PODS, podOf, rendered, visits, WAYS, watchCards } from './shop.js'
import { stray, visit } from './traffic.js'

/** Local gateway mode has everything that shared gateway mode has, and more. */
const WANTED = leavingFrom('node-a', 'local')
const ALL = renderedFiles(WANTED)
const textOf = (path: string): string => ALL.get(`nodes/node-a/${path}`) ?? ''

const languageAt = (path: string) => {
  const written = languageOf(path)
  if (!written) throw new Error(`no bundle has ${path}`)
  return written.language
}

/** What a bundle holds for egress IPs of secondary networks, one by one. */
const NEEDED = [PATHS.nftables, PATHS.addresses, PATHS.routes, PATHS.rules].flatMap((path) => {
  const language = languageAt(path)
  return language
    .parse(textOf(path))
    .filter(isSecondary)
    .map((entry) => ({ path, key: language.key(entry), entry }))
})

function isSecondary(entry: Entry): boolean {
  if ('kind' in entry) return entry.kind === 'rule' || entry.kind === 'element'
  if ('priority' in entry) return true
  return 'dev' in entry && entry.dev.startsWith('network(')
}

/** Pods that OVN marks as leaving by the second card and that have no egress IP yet. */
const STRANGERS = WAYS.map((way) =>
  way.source.includes(':')
    ? { way, source: 'fd01:0:0:11::77', width: 128, target: SERVER.near.ipv6 }
    : { way, source: '10.128.11.77', width: 32, target: SERVER.near.ipv4 },
)

describeWith(['linux', 'root', 'ip', 'nft', 'ovs', 'tcpdump', 'conntrack'], 'every entry for an egress IP of a secondary network', () => {
  let lab: SecondaryLab
  let node: LabNode
  let whole: string

  beforeAll(async () => {
    lab = await buildSecondary(HOSTS, PODS)
    node = lab.nodes[0] as LabNode
    markPods(node, true)
    // Somebody else translates everything that leaves by the second card.
    node.namespace.exec('nft', ['-f', '-'], {
      input: `table inet other { chain masquerades { type nat hook postrouting priority 110; oifname "${SECOND_CARD}" masquerade; }; }`,
    })
    for (const { way, source, width } of STRANGERS) {
      podOf(lab, way).exec('ip', ['addr', 'add', `${source}/${width}`, 'dev', `to-${node.name}`, ...(width === 128 ? ['nodad'] : [])])
      node.namespace.exec('ip', ['route', 'add', source, 'dev', `pod-${way.pod}`])
    }
    // Only where the way back is looked up the mark of a reply matters.
    node.namespace.exec('sysctl', ['-qw', `net.ipv4.conf.${node.bridge}.rp_filter=1`])
    whole = rendered(lab, 'whole', WANTED)(node)
  })

  afterAll(() => lab?.close())

  /** What becomes of packets of the pods: to beyond the secondary network, to the address of a node, and such as are never translated. */
  async function outcome() {
    // Else the station knows from before where an egress IP is.
    lab.server.exec('ip', ['neigh', 'flush', 'dev', SECOND_CARD])
    const watch = await watchCards(lab, node, 'needed')
    const toNodes = WAYS.map((way) => visit(podOf(lab, way), 'tcp', way.source, way.node))
    const strangers = STRANGERS.map(({ way, source, target }) => visit(podOf(lab, way), 'udp', source, target))
    const answers = await visits(lab)
    await Promise.all(strangers)
    for (const way of WAYS) stray(podOf(lab, way), way.source, way.target, 10)
    const { secondary } = await watch.stop()
    return { answers, toNodes: await Promise.all(toNodes), sources: Object.keys(secondary) }
  }

  const GOOD = {
    answers: ANSWERS,
    toNodes: ['192.0.2.11', '2001:db8:1::11'],
    sources: WAYS.map(({ egressIP }) => egressIP).sort(),
  }

  /** Writes the bundle of the node without one entry. */
  function without(path: string, key: string): string {
    const language = languageAt(path)
    const rest = language.parse(textOf(path)).filter((entry) => language.key(entry) !== key)
    const files = [...ALL].flatMap(([name, text]): Artefact[] => {
      const own = /^nodes\/node-a\/(.*)/.exec(name)?.[1]
      if (own === undefined || own === 'bundle.json' || own.startsWith('guard.')) return []
      return [{ path: own, text: own === path ? language.print(rest) : text, phases: PHASES }]
    })
    const folder = join(lab.dir, 'without')
    mkdirSync(folder, { recursive: true })
    for (const file of files) writeFileSync(join(folder, file.path), file.text)
    writeFileSync(join(folder, 'bundle.json'), printManifest(bundleManifest(node.name, files, {})))
    return folder
  }

  /** Takes a rule from the host: no agent takes a bundle in which one of a table's rules is missing. */
  function dropRule({ family, table, chain, index }: NftEntry & { readonly kind: 'rule' }): void {
    const listed = JSON.parse(node.namespace.exec('nft', ['-j', '-a', 'list', 'chain', family, table, chain]).stdout)
    const handles = listed.nftables.flatMap(({ rule }: { rule?: { handle: number } }) => (rule ? [rule.handle] : []))
    node.namespace.exec('nft', ['delete', 'rule', family, table, chain, 'handle', String(handles[index])])
  }

  it('together make the packets right', async () => {
    await converge(node, whole)
    expect(await outcome()).toEqual(GOOD)
  })

  it.each(NEEDED.map((needed) => [`${needed.path} ${needed.key}`, needed] as const))(
    'are needed: without %s packets go wrong',
    async (_, needed) => {
      const { path, key, entry } = needed
      if ('kind' in entry && entry.kind === 'rule') dropRule(entry)
      else await converge(node, without(path, key))
      const found = await outcome()
      await converge(node, whole)
      expect(found).not.toEqual(GOOD)
    },
  )

  it('are needed, and so is the setting that makes the rule for marked packets count for the way back', async () => {
    node.namespace.exec('sysctl', ['-qw', 'net.ipv4.conf.all.src_valid_mark=0'])
    expect((await outcome()).toNodes).toEqual(['no answer', '2001:db8:1::11'])
    await converge(node, whole)
    expect(await outcome()).toEqual(GOOD)
  })
})
