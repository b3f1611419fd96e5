import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { type Report, run } from '../../src/agent/run.js'
import { bundleDigest, bundleManifest, printManifest } from '../../src/model/bundle.js'
import { artefacts, NODE, withFile, writeBundle } from './bundles.js'

const ETH1 = 'network(198.51.100.0/24)'
const rule = (over: object): string =>
  `[\n${JSON.stringify({ priority: 6000, src: '10.244.1.3/32', table: `1000+ifindex(${ETH1})`, ...over })}\n]`
const route = (over: object): string => `[\n${JSON.stringify({ dst: '10.96.0.0/16', dev: 'br-ex', table: 'main', ...over })}\n]`

const root = mkdtempSync(join(tmpdir(), 'egretta-refusals-'))
const folder = join(root, 'out', 'nodes', NODE)
afterAll(() => rmSync(root, { recursive: true }))

// Refusals come before the host is looked at: an empty PATH would make everything else fail otherwise.
const diff = (over: Partial<Parameters<typeof run>[0]> = {}): Promise<Report> =>
  run({
    command: 'diff',
    bundle: folder,
    node: NODE,
    phase: 'steady',
    stateDir: join(root, 'state'),
    rundir: root,
    maxRemove: 50,
    exec: { path: root },
    ...over,
  })

async function refusal(over: Partial<Parameters<typeof run>[0]> = {}): Promise<string> {
  const report = await diff(over)
  expect(report).toMatchObject({ changes: [], pending: [], exitCode: 1 })
  expect(report.problems.every(({ severity, remedy }) => severity === 'error' && remedy !== '')).toBe(true)
  return report.problems.map(({ code, message }) => `${code}: ${message}`).join('\n')
}

describe('a bundle is refused', () => {
  beforeEach(() => {
    writeBundle(folder)
  })

  it('when its folder is not there, is empty, or has no manifest', async () => {
    expect(await refusal({ bundle: join(root, 'nowhere') })).toMatch(/InvalidBundle: the bundle folder .*nowhere is not there/)
    rmSync(join(folder, 'bundle.json'))
    expect(await refusal()).toMatch(/has no bundle.json/)
    mkdirSync(join(root, 'out', 'nodes'), { recursive: true })
    expect(await refusal({ bundle: join(root, 'out') }), 'the folder of all nodes').toMatch(/out has no bundle.json/)
    writeBundle(folder, {}, [])
    expect(await refusal()).toMatch(/is empty/)
    rmSync(join(folder, 'bundle.json'))
    expect(await refusal()).toMatch(/is empty/)
  })

  it('when it is that of another node', async () => {
    expect(await refusal({ node: 'node-b' })).toMatch(/WrongNode: the bundle is that of node node-a, this is node-b/)
  })

  it('when its format is unknown', async () => {
    const manifest = { ...bundleManifest(NODE, artefacts(), {}), formatVersion: 2 } as never
    writeFileSync(join(folder, 'bundle.json'), JSON.stringify({ ...(manifest as object), digest: bundleDigest(manifest) }))
    expect(await refusal()).toMatch(/formatVersion 2/)
  })

  it('when its digest is wrong', async () => {
    const manifest = { ...bundleManifest(NODE, artefacts(), {}), node: 'node-b' }
    writeFileSync(join(folder, 'bundle.json'), printManifest(manifest))
    expect(await refusal({ node: 'node-b' })).toMatch(/digest/)
  })

  it('when a file was changed, is missing, or stands beside it', async () => {
    writeFileSync(join(folder, 'addresses.json'), '[]\n')
    expect(await refusal()).toMatch(/addresses.json is not the one that bundle.json describes/)
    rmSync(join(folder, 'addresses.json'))
    expect(await refusal()).toMatch(/addresses.json of bundle.json is missing/)
    writeBundle(folder)
    writeFileSync(join(folder, 'rules.json'), '[]\n')
    expect(await refusal()).toMatch(/does not list the file rules.json/)
  })

  it('when a path leaves the folder, or a file is a symbolic link', async () => {
    for (const path of ['../addresses.json', '/etc/passwd', 'a/../../b']) {
      const manifest = bundleManifest(NODE, withFile(artefacts(), { path, text: '[]\n', phases: ['steady'] }), {})
      writeFileSync(join(folder, 'bundle.json'), printManifest(manifest))
      expect(await refusal()).toMatch(/not a plain file name/)
    }
    writeBundle(folder)
    rmSync(join(folder, 'addresses.json'))
    symlinkSync('/etc/hostname', join(folder, 'addresses.json'))
    expect(await refusal()).toMatch(/symbolic link/)
  })

  it('when it has a file that this agent does not know', async () => {
    writeBundle(folder, {}, withFile(artefacts(), { path: 'firewall.json', text: '[]\n', phases: ['steady'] }))
    expect(await refusal()).toMatch(/does not know the file firewall.json/)
  })

  const hostile: readonly (readonly [what: string, path: string, text: string, said: RegExp])[] = [
    [
      'a table of others',
      'nftables.json',
      '{"nftables":[\n{"add":{"table":{"family":"inet","name":"filter"}}}\n]}',
      /inet filter is not one/,
    ],
    [
      'the table of the guard in the base',
      'nftables.json',
      '{"nftables":[\n{"add":{"table":{"family":"netdev","name":"ovn-kubernetes-egressip"}}}\n]}',
      /not one of egretta's/,
    ],
    ['a flush', 'nftables.json', '{"nftables":[\n{"flush":{"ruleset":null}}\n]}', /nftables.json: line 2/],
    [
      'a guard that is none',
      'guard.nftables.json',
      '{"nftables":[\n{"add":{"table":{"family":"netdev","name":"ovn-kubernetes-egressip"}}}\n]}',
      /is not the guard/,
    ],
    ['the cookie of ovnkube', 'openflow.br-ex.flows', 'cookie=0xdeff105,table=0,priority=0,actions=drop\n', /cookie 0xdeff105/],
    ['no cookie', 'openflow.br-ex.flows', 'table=0,priority=0,actions=drop\n', /cookie 0x0/],
    ['a flow of the base as a guard', 'guard.openflow.br-ex.flows', 'cookie=0xe6e70001,priority=0,actions=drop\n', /cookie 0xe6e70001/],
    [
      'a guard that drops more than announcements',
      'guard.openflow.br-ex.flows',
      'cookie=0x305,priority=60000,actions=drop\n',
      /guard.openflow.br-ex.flows: these are not the guard flows/,
    ],
    [
      'a guard of a port that is no patch port',
      'guard.openflow.br-ex.flows',
      'cookie=0x305,priority=498,in_port=uplink(br-ex),dl_dst=ff:ff:ff:ff:ff:ff,arp,arp_op=1,actions=drop\n',
      /these are not the guard flows/,
    ],
    ['flows of br-int', 'openflow.br-int.flows', 'cookie=0xe6e70001,priority=0,actions=drop\n', /br-int belongs to OVN/],
    ['a whole network', 'addresses.json', '[\n{"address":"192.0.2.50/24","dev":"br-ex"}\n]', /not a single global address/],
    ['a loopback address', 'addresses.json', '[\n{"address":"127.0.0.2/32","dev":"lo"}\n]', /not a single global address/],
    [
      'words for ip in a device',
      'addresses.json',
      '[\n{"address":"192.0.2.50/32","dev":"br-ex\\naddr flush"}\n]',
      /not the name of a network device/,
    ],
    [
      'words for ip in a neighbor',
      'neighbors.json',
      '[\n{"dst":"192.0.2.9","lladdr":"02:00:00:00:00:01","dev":"a b"}\n]',
      /not the name of a network device/,
    ],
    [
      'an address that is not the second of its network',
      'addresses.json',
      '[\n{"address":"169.254.0.3/17","dev":"br-ex"}\n]',
      /169.254.0.3\/17/,
    ],
    [
      'a masquerade address on an interface by its network',
      'addresses.json',
      `[\n{"address":"169.254.0.2/17","dev":"${ETH1}"}\n]`,
      /name of a net/,
    ],
    ['an egress IP on an uplink', 'addresses.json', '[\n{"address":"192.0.2.50/32","dev":"uplink(br-ex)"}\n]', /not the name/],
    ['a rule for everybody', 'rules.json', rule({ src: '0.0.0.0/0' }), /6000 from 0.0.0.0\/0 .* is not one/],
    ['a rule before all others', 'rules.json', rule({ priority: 0 }), /is not one that egretta renders/],
    ['a rule that leads to the main table', 'rules.json', rule({ table: 'main' }), /lookup main" is not one/],
    ['a rule for another mark', 'rules.json', rule({ priority: 5999, src: '0.0.0.0/0', fwmark: '0x1', table: 'main' }), /fwmark 0x1/],
    ['a rule with a low table', 'rules.json', rule({ table: `200+ifindex(${ETH1})` }), /is not one that egretta renders/],
    ['a default route', 'routes.json', route({ dst: '0.0.0.0/0', gateway: '192.0.2.1' }), /"0.0.0.0\/0 table main" is not one/],
    ['a route of the table of local addresses', 'routes.json', route({ table: '255' }), /table 255" is not one/],
    ['a route whose scope is a command', 'routes.json', route({ scope: 'link\naddr flush dev br-ex' }), /is not a scope/],
    ['a route with an MTU that no kernel takes', 'routes.json', route({ mtu: 2 ** 40 }), /main" is not one/],
    ['a route with a metric', 'routes.json', route({ metric: 1 }), /metric 1" is not one/],
    ['a route of a type', 'routes.json', route({ dev: undefined, type: 'unreachable' }), /main" is not one/],
    ['a route of an unknown type', 'routes.json', route({ type: 'local' }), /unknown type "local"/],
    ['a route that leads nowhere by a device', 'routes.json', route({ type: 'unreachable' }), /has no "dev"/],
    ['a table that no kernel has', 'rules.json', rule({ table: `4294967295+ifindex(${ETH1})` }), /is not one that egretta renders/],
    ['a route to a device that is a command', 'routes.json', route({ dev: 'br-ex\nflush' }), /is not one that egretta renders/],
    [
      'a copy of the routes of another interface',
      'routes.json',
      route({ dst: `routes-of(${ETH1})`, family: 'inet', dev: ETH1, table: '1000+ifindex(network(192.0.2.0/24))' }),
      /is not one that egretta renders/,
    ],
    [
      'a flag of a port that is no patch port',
      'openflow.br-ex.ports.json',
      '[\n{"port":"1","flag":"no-flood"}\n]',
      /"1" is not the patch port/,
    ],
    ['flags of br-int', 'openflow.br-int.ports.json', '[\n{"port":"patch(blue)","flag":"no-flood"}\n]', /br-int belongs to OVN/],
    ['what is no JSON', 'neighbors.json', '[\n{"dst":\n]', /neighbors.json: line/],
  ]

  it.each(hostile)('when it holds %s', async (_, path, text, said) => {
    const phases = path.startsWith('guard.') ? (['shutdown'] as const) : (['steady'] as const)
    writeBundle(folder, {}, withFile(artefacts(), { path, text, phases }))
    expect(await refusal()).toMatch(said)
  })

  it('when a flow of its guard does something else', async () => {
    const text = artefacts().find(({ path }) => path === 'guard.openflow.br-ex.flows')?.text ?? ''
    for (const [from, to] of [
      ['actions=NORMAL', 'actions=FLOOD'],
      ['priority=498', 'priority=500'],
      [',arp_op=1', ''],
    ] as const) {
      expect(text).toContain(from)
      const file = { path: 'guard.openflow.br-ex.flows', text: text.replace(from, to), phases: ['shutdown'] as const }
      writeBundle(folder, {}, withFile(artefacts(), file))
      expect(await refusal()).toMatch(/these are not the guard flows/)
    }
  })

  it('when a rule or an element hides in the table of egress IPs', async () => {
    const secondary = [{ network: '198.51.100.0/24', egressIP: '198.51.100.50', pods: ['10.244.1.3'] }]
    writeBundle(folder, { secondary })
    expect((await diff()).problems.map(({ code }) => code)).not.toContain('InvalidBundle')
    const text = artefacts({ secondary }).find(({ path }) => path === 'nftables.json')?.text ?? ''
    const rules = text.split('\n').filter((line) => line.includes('"chain":"egress-ip-sec-filter"'))
    expect(rules.length).toBeGreaterThan(0)
    for (const spoiled of [
      text.replace(rules[0] ?? '', `${(rules[0] ?? '').replace('"drop":null', '"accept":null')}`),
      text.replaceAll(ETH1, 'eth1'),
      text.replace('"prio":101', '"prio":99'),
      text.replace('"198.51.100.50"', '"none"'),
    ]) {
      expect(spoiled).not.toBe(text)
      writeBundle(folder, { secondary }, withFile(artefacts({ secondary }), { path: 'nftables.json', text: spoiled, phases: ['steady'] }))
      expect(await refusal()).toMatch(/nftables.json: this is not the table that egretta renders/)
    }
  })

  it('when a rule hides in its guard', async () => {
    const text = artefacts().find(({ path }) => path === 'guard.nftables.json')?.text ?? ''
    const lines = text.split('\n')
    const drop = '{"add":{"rule":{"family":"netdev","table":"ovn-kubernetes-egressip","chain":"egressip-drop","expr":[{"drop":null}]}}}'
    lines.splice(-2, 0, `,${drop}`)
    writeBundle(folder, {}, withFile(artefacts(), { path: 'guard.nftables.json', text: lines.join('\n'), phases: ['shutdown'] }))
    expect(await refusal()).toMatch(/is not the guard that egretta renders/)
  })
})

describe('a host is refused', () => {
  it('when others may write to the state folder', async () => {
    writeBundle(folder)
    const stateDir = join(root, 'open')
    mkdirSync(stateDir)
    chmodSync(stateDir, 0o777)
    expect(await refusal({ command: 'apply', stateDir })).toMatch(/NoPermission: others may write to .*open/)
    chmodSync(stateDir, 0o700)
    if (process.geteuid?.() === 0) {
      chownSync(stateDir, 65534, 65534)
      expect(await refusal({ command: 'apply', stateDir })).toMatch(/NoPermission: others may write to/)
    }
    expect(readdirSync(stateDir)).toEqual([])
  })

  it('when a program is missing', async () => {
    writeBundle(folder)
    expect(await refusal()).toMatch(/MissingTool: (ip|nft) is not installed/)
    expect((await diff()).problems[0]?.remedy).toMatch(/Install the package/)
  })
})
