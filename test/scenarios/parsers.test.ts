import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createNamespace, type Namespace, run } from '../lab/netns.js'
import { describeWith } from '../requires.js'
import { goldenOf, scenarios } from './scenario.js'

/** A golden file, its symbols replaced by a port number and by a device: what only a host knows. Textual, so that our own parser has no part in it. */
const files = scenarios().flatMap((scenario) =>
  [...goldenOf(scenario)].map(([path, text]) => ({
    path: `${scenario.name}/${path}`,
    text: path.endsWith('.flows') ? text.replace(/(patch|uplink)\([^)]*\)/g, '1') : text.replace(/uplink\([^)]*\)/g, 'ens3'),
  })),
)
const flows = files.filter(({ path }) => path.endsWith('.flows'))
const nftables = files.filter(({ path }) => path.endsWith('nftables.json'))
/** The form for nft 1.0.9 and later, which nft 1.0.6 cannot read; test/syntax compares it structurally. */
const newer = (file: { readonly text: string }) => file.text.includes('"taddr"')

describeWith(['ovs'], 'every golden flow file', () => {
  it('exists', () => expect(flows.length).toBeGreaterThan(0))

  it.each(flows)('$path passes ovs-ofctl parse-flows', ({ text }) => {
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

  it('exists', () => expect(nftables.filter((file) => !newer(file)).length).toBeGreaterThan(0))

  it.each(nftables.filter((file) => !newer(file)))('$path passes nft -c', ({ text }) => {
    const file = join(folder, 'golden.json')
    writeFileSync(file, text)
    expect(namespace.exec('nft', ['-c', '-j', '-f', file], { mayFail: true })).toMatchObject({ status: 0, stderr: '' })
  })
})
