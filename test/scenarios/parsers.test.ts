import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addressOf, hex128, parseAddress } from '../../src/model/address.js'
import { createNamespace, type Namespace, run } from '../lab/netns.js'
import { describeWith } from '../requires.js'
import { goldenOf, scenarios } from './scenario.js'

/** A golden file, its symbols replaced by a port number and by devices: what only a host knows. Textual, so that our own parser has no part in it. */
const files = scenarios().flatMap((scenario) =>
  [...goldenOf(scenario)].map(([path, text]) => ({
    path: `${scenario.name}/${path}`,
    text: path.endsWith('.flows')
      ? text.replace(/(patch|uplink)\([^)]*\)/g, '1')
      : text.replace(/uplink\([^)]*\)/g, 'ens3').replace(/network\([^)]*\)/g, 'ens5'),
  })),
)
const flows = files.filter(({ path }) => path.endsWith('.flows'))
const nftables = files.filter(({ path }) => path.endsWith('nftables.json'))
const titled = (some: typeof files) => some.map(({ path, text }) => [path, text] as const)
/** The form for nft 1.0.9 and later, which the nft 1.0.6 of Debian 12 cannot read. */
const isNewer = (file: { readonly text: string }) => file.text.includes('"taddr"')
const [newer, older] = [nftables.filter(isNewer), nftables.filter((file) => !isNewer(file))]

/** What stands in a raw rule where a node has no IPv6 address to compare with. */
const UNSPECIFIED = addressOf(6, 0n)

/** The newer form, its named target address replaced by the raw one and the set by its elements. */
function asOlder(text: string): string {
  const v6 = [...text.matchAll(/"name":"egressip-v6","elem":\[\{"elem":\{"val":"([^"]+)"/g)].map(([, address]) =>
    parseAddress(String(address)),
  )
  const values = v6.flatMap((address) => (address ? [hex128(address)] : []))
  const right = JSON.stringify(values.length > 1 ? { set: values } : (values[0] ?? hex128(UNSPECIFIED)))
  return text.replaceAll(
    '"left":{"payload":{"protocol":"icmpv6","field":"taddr"}},"right":"@egressip-v6"',
    `"left":{"payload":{"base":"th","offset":64,"len":128}},"right":${right}`,
  )
}

describeWith(['ovs'], 'every golden flow file', () => {
  it('exists', () => expect(flows.length).toBeGreaterThan(0))

  it.each(titled(flows))('%s passes ovs-ofctl parse-flows', (_, text) => {
    const { status, stderr, stdout } = run('ovs-ofctl', ['-O', 'OpenFlow14', 'parse-flows', '-'], { input: text, mayFail: true })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout.split('\n').filter((line) => /actions=|ADD/.test(line))).toHaveLength(
      text.split('\n').filter((line) => /^[^#]/.test(line)).length,
    )
  })
})

describeWith(['root', 'linux', 'nft', 'ip'], 'every golden nftables file', () => {
  let folder: string
  let namespace: Namespace

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'egretta-golden-'))
    namespace = createNamespace('golden')
    const devices = new Set(nftables.flatMap(({ text }) => [...text.matchAll(/"dev":\s*"([^"]+)"/g)].map(([, device]) => String(device))))
    // Dummy devices are not on every kernel; veth pairs are.
    for (const device of devices) namespace.exec('ip', ['link', 'add', device, 'type', 'veth', 'peer', 'name', `${device}-peer`])
  })
  afterAll(() => {
    namespace.close()
    rmSync(folder, { recursive: true })
  })

  const check = (text: string) => {
    const file = join(folder, 'golden.json')
    writeFileSync(file, text)
    return namespace.exec('nft', ['-c', '-j', '-f', file], { mayFail: true })
  }

  it('exists', () => expect(older.length).toBeGreaterThan(0))

  it.each(titled(older))('%s passes nft -c', (_, text) => {
    expect(check(text)).toMatchObject({ status: 0, stderr: '' })
  })

  // What is not run here is one expression: the same file with the older form of it is.
  it.each(titled(newer))('%s passes nft -c but for icmpv6 taddr, which needs nft 1.0.9', (_, text) => {
    expect(asOlder(text)).not.toContain('taddr')
    expect(check(asOlder(text))).toMatchObject({ status: 0, stderr: '' })
  })
})

it('only the scenario of nft 1.0.9 has files that nft 1.0.6 cannot read', () => {
  expect(newer.map(({ path }) => path)).toEqual(
    ['node-a', 'node-b'].map((node) => `test/scenarios/nft-1.0.9/nodes/${node}/guard.nftables.json`),
  )
})
