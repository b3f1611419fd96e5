import { describe, expect, it } from 'vitest'
import { viewExplanation } from '../../src/plan/explain-view.js'
import { PLAIN } from '../../src/plan/style.js'
import { clusterObject, egressIPObject, NODES, namespaceObject, nodeObject, podObject } from '../constructs/sources.js'
import { type Asking, asked, dump } from './explaining.js'

const SHOP = namespaceObject('shop', { env: 'prod' })
const WEB = podObject('shop', 'web', ['10.128.11.5'])
const EIP = egressIPObject('eip', ['192.0.2.50'], { status: { items: [{ egressIP: '192.0.2.50', node: 'node-b' }] } })
const MANY = Array.from({ length: 12 }, (_, i) => nodeObject({ name: `node-${i + 10}`, host: i + 20, ready: false }))
type Kind = Parameters<typeof asked>[0]
const view = (kind: Kind, name: string, objects: readonly object[], style = PLAIN, asking: Asking = {}) =>
  viewExplanation(asked(kind, name, dump(...objects), asking), style)

describe('viewExplanation', () => {
  it('shows an address: the answer, the reason, the other nodes, the pods, the entries', () => {
    const objects = [...NODES.slice(0, 2), nodeObject({ name: 'node-c', host: 13, ready: false }), SHOP, WEB, EIP]
    expect(view('ip', '192.0.2.50', objects)).toBe(`192.0.2.50 is used by 1 pod (shop/web), through eip on node-b.

192.0.2.50  eip  on node-b  primary network 192.0.2.0/24  stays
  why there: node-b has it already, and an assignment that is valid never moves (Kept)
  could also be on: node-a (holds 0)
  why not elsewhere:
    node-c  NotReady  is not Ready
  pods:
    shop/web  default network
  entries:
    node-b  addresses.json       192.0.2.50/32 dev br-ex
    node-b  guard.nftables.json  element netdev ovn-kubernetes-egressip egressip-v4 192.0.2.50
`)
  })
  it('counts the excluded nodes by reason where they are many', () => {
    const text = view('ip', '192.0.2.50', [...NODES, ...MANY, SHOP, EIP])
    expect(text).toContain('    12 nodes  NotReady  are not Ready: node-10, node-11, node-12 and 9 more\n')
  })
  it('shows a refusal with its problem', () => {
    const text = view('ip', '198.51.100.1', [...NODES, SHOP, egressIPObject('eip', ['198.51.100.1'])])
    expect(text.split('\n')[0]).toBe('198.51.100.1 is used by no pod: it is on no node (eip: NoHostingNetwork).')
    expect(text).toContain('  why on no node:\n    node-a  NoHostingNetwork  has no network that contains it\n')
    expect(text).toContain('Problems:\n  dump.json:1:')
    expect(text).not.toContain('entries:')
  })
  it('says why a prediction has no entries', () => {
    const objects = [clusterObject({ placement: 'advisory' }), ...NODES, SHOP, egressIPObject('eip', ['192.0.2.50'])]
    expect(view('ip', '192.0.2.50', objects)).toContain(
      '  entries: none: where the cluster decides the placement, hosts are rendered from its status\n',
    )
  })

  it('shows a pod, and that an overlap has no guarantee', () => {
    const other = egressIPObject('zip', ['192.0.2.60'])
    expect(view('pod', 'shop/web', [...NODES, SHOP, WEB, EIP, other])).toMatch(
      /^shop\/web leaves with 192\.0\.2\.50, through eip\.\n\non node-a, the default network, Running\n {2}10\.128\.11\.5 {2}-> {2}192\.0\.2\.50 on node-b\nalso selected by zip, in vain: the older object wins, then the first by name; OVN-Kubernetes itself guarantees neither\n/,
    )
  })
  it('shows a pod that nothing selects', () => {
    expect(view('pod', 'shop/web', [...NODES, namespaceObject('shop', {}), WEB, EIP])).toBe(
      `shop/web leaves with 192.0.2.11 (the address of its node node-a): no namespaceSelector matches its namespace shop.

on node-a, the default network, Running
  10.128.11.5  ->  192.0.2.11 of node-a
not selected: no namespaceSelector matches its namespace shop (NoNamespaceMatch)
`,
    )
  })

  it('shows a node', () => {
    const text = view('node', 'node-b', [...NODES, SHOP, WEB, EIP], PLAIN, { options: { down: ['node-b'] } })
    const [about, bundle] = text.split('bundle:\n')
    expect(about).toBe(`node-b holds no egress IP.

state: Ready, unreachable (--down)
load: 0 IPv4, 0 IPv6; capacity: no limit
could take 0 further addresses of the intent
probed: yes, egressNodeSelector of eip matches it

leaves it:
  192.0.2.50  eip  to node-a

may not host:
  Unreachable  192.0.2.50 of eip

`)
    expect(bundle).toMatch(/^ {2}guard\.openflow\.br-ex\.flows +\d+ entries +from Node\/node-b$/m)
    expect(bundle).not.toContain('EgressIP/')
  })

  it('shows an EgressIP with its pods once', () => {
    const text = view('object', 'eip', [...NODES, SHOP, WEB, EIP])
    expect(text.match(/shop\/web/g)).toHaveLength(1)
    expect(text).toContain('stands: in the intent (dump.json:1:')
    expect(text).toContain('egressNodeSelector: k8s.ovn.org/egress-assignable matches 3 nodes\n')
  })

  it('warns of an empty egressNodeSelector where it shows the probe set', () => {
    const spec = { egressIPs: ['192.0.2.50'], namespaceSelector: {}, egressNodeSelector: {} }
    const text = view('probes', '', [...NODES, SHOP, { ...EIP, spec }])
    expect(text).toContain('warning: egressNodeSelector of eip is empty, so every Ready node of the cluster is probed every 5 s')
    expect(text).toContain('  {}  3 nodes  of eip\n')
    expect(text).toContain('  node-a  yes, egressNodeSelector of eip matches it\n')
    expect(view('object', 'eip', [...NODES, SHOP, { ...EIP, spec }])).toContain(
      'egressNodeSelector: {} matches 3 nodes: the whole cluster is probed\n',
    )
  })

  it('keeps prose to the width of a terminal, and colours only when asked to', () => {
    const objects = [...NODES, SHOP, WEB, EIP, egressIPObject('zip', ['192.0.2.60'])]
    const narrow = view('pod', 'shop/web', objects, { color: false, width: 50 })
    expect(Math.max(...narrow.split('\n').map((line) => line.length))).toBeLessThanOrEqual(50)
    const coloured = view('ip', '192.0.2.50', objects, { color: true, width: 200 })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes are what is tested
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(view('ip', '192.0.2.50', objects, { color: false, width: 200 }))
  })
})
