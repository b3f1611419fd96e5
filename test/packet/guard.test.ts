import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Address, parseAddress } from '../../src/model/address.js'
import { guardFlows, guardTable } from '../../src/syntax/guard.js'
import { nftables } from '../../src/syntax/nftables.js'
import { printFlow, withPorts } from '../../src/syntax/openflow.js'
import { cable, createNamespace, type Namespace, run } from '../lab/netns.js'
import { addBridge, addPatch, type OpenVSwitch, startOvs } from '../lab/ovs.js'
import { describeWith } from '../requires.js'

const addressesOf = (...texts: readonly string[]): readonly Address[] => texts.flatMap((text) => parseAddress(text) ?? [])
const MAC = '02:00:00:00:00:0a'

describeWith(['root', 'linux', 'ip', 'ovs'], 'the GARP guard on a bridge', () => {
  let namespace: Namespace
  let ovs: OpenVSwitch
  let folder: string
  let patch: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'eg-garp-'))
    namespace = createNamespace('garp')
    ovs = startOvs(namespace, folder)
    addBridge(namespace, ovs, 'br-ex', MAC)
    addBridge(namespace, ovs, 'br-int')
    patch = ovs.vsctl('get', 'interface', addPatch(ovs, 'br-ex', 'node-a'), 'ofport')
    const flows = guardFlows('br-ex', 'node-a', addressesOf('192.0.2.11', '2001:db8::11'), ['default'])
    const file = join(folder, 'guard.flows')
    writeFileSync(file, flows.map((flow) => `${printFlow(withPorts(flow, new Map([['patch(default)', patch]])))}\n`).join(''))
    ovs.ofctl('add-flows', 'br-ex', file)
  })
  afterAll(() => {
    namespace.close()
    rmSync(folder, { recursive: true })
  })

  /** The actions of the flow that a packet meets in table 0 of br-ex. */
  const meets = (port: string, packet: string): string => {
    const trace = run('ovs-appctl', [
      '-t',
      join(folder, 'ovs-vswitchd.ctl'),
      'ofproto/trace',
      'br-ex',
      `in_port=${port},dl_src=${MAC},${packet}`,
    ])
    return /^ *0\. .*\n((?: {4}.*\n)+)/m.exec(trace.stdout)?.[1]?.trim().split('\n')[0]?.trim() ?? trace.stdout
  }
  const request = (sender: string, to = 'ff:ff:ff:ff:ff:ff') => `dl_dst=${to},arp,arp_op=1,arp_spa=${sender},arp_tpa=${sender}`
  const advertisement = (target: string, to = '33:33:00:00:00:01') => `dl_dst=${to},icmp6,icmpv6_type=136,nd_target=${target}`

  it.each([
    ["the node's own IPv4 address", request('192.0.2.11'), 'NORMAL'],
    ['another IPv4 address', request('192.0.2.50'), 'drop'],
    ["the node's own IPv6 address", advertisement('2001:db8::11'), 'NORMAL'],
    ['another IPv6 address', advertisement('2001:db8::50'), 'drop'],
    ['another address, but to one station', request('192.0.2.50', '02:00:00:00:00:99'), 'NORMAL'],
    ['another IPv6 address, as an answer to one station', advertisement('2001:db8::50', '02:00:00:00:00:99'), 'NORMAL'],
  ])('an announcement from the patch port of %s', (_, packet, actions) => expect(meets(patch, packet)).toMatch(new RegExp(`^${actions}`)))

  it('lets the host itself announce what it wants', () => {
    expect(meets('LOCAL', request('192.0.2.50'))).toMatch(/^NORMAL/)
    expect(meets('LOCAL', advertisement('2001:db8::50'))).toMatch(/^NORMAL/)
  })
})

describeWith(['root', 'linux', 'ip', 'nft', 'arping', 'ndisc6', 'tcpdump'], 'the shutdown guard on a device', () => {
  let node: Namespace
  let client: Namespace
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'egretta-guard-'))
    node = createNamespace('silent')
    client = createNamespace('client')
    cable({ namespace: node, device: 'ens3', mac: MAC }, { namespace: client, device: 'eth0' })
    for (const address of ['192.0.2.11/24', '192.0.2.50/32']) node.exec('ip', ['address', 'add', address, 'dev', 'ens3'])
    for (const address of ['2001:db8::11/64', '2001:db8::50/128']) node.exec('ip', ['address', 'add', address, 'dev', 'ens3', 'nodad'])
    client.exec('ip', ['address', 'add', '192.0.2.2/24', 'dev', 'eth0'])
    client.exec('ip', ['address', 'add', '2001:db8::2/64', 'dev', 'eth0', 'nodad'])
  })
  afterAll(() => {
    node.close()
    client.close()
    rmSync(folder, { recursive: true })
  })

  /** Whether the node answers the client for an address. */
  const answers = (address: string): boolean =>
    address.includes(':')
      ? client.exec('ndisc6', ['-q', '-n', '-r', '2', '-w', '300', address, 'eth0'], { mayFail: true }).stdout.trim() !== ''
      : client.exec('arping', ['-f', '-w', '1', '-I', 'eth0', address], { mayFail: true }).status === 0

  /** How many frames of the node that match the filter the client sees in a while after `act`, which may return what to end then. */
  async function framesAfter(filter: string, act: () => ChildProcess | null): Promise<number> {
    const all = `ether src ${MAC} and ${filter}`
    const capture = client.spawn('tcpdump', ['-i', 'eth0', '-n', '-l', '--immediate-mode', all], { stdio: ['ignore', 'pipe', 'pipe'] })
    let seen = ''
    capture.stdout?.on('data', (data: Buffer) => {
      seen += data.toString()
    })
    await new Promise<void>((resolve) => capture.stderr?.on('data', (data: Buffer) => String(data).includes('listening on') && resolve()))
    const speaking = act()
    await new Promise((resolve) => setTimeout(resolve, 1200))
    speaking?.kill()
    capture.kill()
    return seen.split('\n').filter((line) => line !== '').length
  }

  /** Frames of neighbor discovery that the client sees from the node while the node sends something from the address. */
  function claims(address: string): Promise<number> {
    const [to, filter] = address.includes(':')
      ? ['2001:db8::2', `icmp6 and ip6 src ${address}`]
      : ['192.0.2.2', `arp and arp[14:4] = ${[...address.split('.')].reduce((sum, part) => sum * 256 + Number(part), 0)}`]
    node.exec('ip', ['neighbor', 'flush', 'dev', 'ens3'])
    return framesAfter(filter, () =>
      node.spawn('perl', [join(import.meta.dirname, '../lab/speak.pl'), 'ens3', address, to, '5'], { stdio: 'ignore' }),
    )
  }

  /** Frames of duplicate address detection that the client sees when the node's kernel gets the address anew. */
  const probes = (address: string): Promise<number> =>
    framesAfter('icmp6 and ip6 src ::', () => {
      node.exec('ip', ['address', 'del', `${address}/128`, 'dev', 'ens3'], { mayFail: true })
      node.exec('ip', ['address', 'add', `${address}/128`, 'dev', 'ens3'])
      return null
    })

  describe('without it', () => {
    it.each(['192.0.2.11', '192.0.2.50', '2001:db8::11', '2001:db8::50'])('the node answers for %s', (address) => {
      expect(answers(address)).toBe(true)
    })

    it.each(['192.0.2.50', '2001:db8::50'])('the node asks for its peers as %s', async (address) => {
      expect(await claims(address)).toBeGreaterThan(0)
    })

    it('the kernel probes whether another station has an address that it gets', async () => {
      expect(await probes('2001:db8::50')).toBeGreaterThan(0)
    })
  })

  describe('with it', () => {
    beforeAll(() => {
      const file = join(folder, 'guard.json')
      const silenced = addressesOf('192.0.2.50', '2001:db8::50').map((address) => ({ address, for: 'EgressIP/eip-a' }))
      writeFileSync(file, nftables.print(guardTable(silenced, 'ens3', '1.0.6')))
      node.exec('nft', ['-j', '-f', file])
    })

    it.each(['192.0.2.11', '2001:db8::11'])('the node still answers for its own %s', (address) => expect(answers(address)).toBe(true))

    it.each(['192.0.2.50', '2001:db8::50'])('the node is silent for %s', (address) => expect(answers(address)).toBe(false))

    it.each(['192.0.2.50', '2001:db8::50'])('the node does not ask for its peers as %s', async (address) => {
      expect(await claims(address)).toBe(0)
    })

    it('the kernel does not probe for an egress IP, but for any other address', async () => {
      expect(await probes('2001:db8::50')).toBe(0)
      expect(await probes('2001:db8::77')).toBeGreaterThan(0)
    })
  })
})
