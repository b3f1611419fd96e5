import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Address, type Prefix, parseAddress, parsePrefix } from '../../src/model/address.js'
import { diff } from '../../src/plan/diff.js'
import { type EgressPod, egressTable } from '../../src/syntax/egress-nat.js'
import { secondaryGuardTable } from '../../src/syntax/guard.js'
import { type NftEntry, nftables, withDevices } from '../../src/syntax/nftables.js'
import { cable, createNamespace, type Namespace } from '../lab/netns.js'
import { describeWith } from '../requires.js'

const address = (text: string): Address => parseAddress(text) as Address
const prefixes = (...texts: readonly string[]): readonly Prefix[] => texts.map((text) => parsePrefix(text) as Prefix)
const pod = (of: string, device: string, egressIP: string): EgressPod => ({
  pod: address(of),
  device,
  address: address(egressIP),
  for: 'EgressIP/eip-a',
})

describeWith(['root', 'linux', 'ip', 'nft'], 'tables of secondary interfaces in the kernel', () => {
  let namespace: Namespace
  let peer: Namespace
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'egretta-tables-'))
    namespace = createNamespace('tables')
    peer = createNamespace('tables-peer')
    cable({ namespace, device: 'eth1' }, { namespace: peer, device: 'eth1' })
    cable({ namespace, device: 'eth2' }, { namespace: peer, device: 'eth2' })
  })
  afterAll(() => {
    namespace.close()
    peer.close()
    rmSync(folder, { recursive: true })
  })

  /** What differs between entries that were loaded and what nft then lists. */
  const differences = (entries: readonly NftEntry[]) => {
    const file = join(folder, 'nftables.json')
    writeFileSync(file, nftables.print(entries))
    namespace.exec('nft', ['-j', '-f', file])
    const { family, table } = entries[0] as NftEntry
    const listed = nftables.parse(namespace.exec('nft', ['-j', 'list', 'table', family, table]).stdout)
    expect(listed.length).toBeGreaterThan(1)
    return diff(nftables, entries, listed).changes
  }

  const subnets = prefixes('10.128.0.0/14', '10.244.0.0/16', '192.168.7.9/32', 'fd01::/48', 'fd02::/61', 'fd03::5/128')
  it.each([
    ['shared gateway mode, nothing held', 'shared', subnets, []],
    ['local gateway mode, nothing held', 'local', subnets, []],
    ['no pod subnet known', 'shared', [], []],
    [
      'pods of both families on two interfaces, one of which is not there',
      'local',
      subnets,
      [
        pod('10.128.0.5', 'eth1', '198.51.100.50'),
        pod('10.128.0.6', 'eth1', '198.51.100.50'),
        pod('10.128.0.5', 'absent0', '203.0.113.50'),
        pod('fd01::5', 'eth1', '2001:db8:1::50'),
        pod('fd01::0:6', 'eth2', '2001:db8:2::50'),
      ],
    ],
  ] as const)('inet egretta is listed as it was asked for: %s', (_, mode, podSubnets, pods) => {
    expect(differences(egressTable(mode, podSubnets, pods))).toEqual([])
  })

  it('inet egretta is listed as it was asked for where a symbol stood', () => {
    const entries = egressTable('shared', subnets, [pod('10.128.0.5', 'network(198.51.100.0/24)', '198.51.100.50')])
    expect(differences(entries.map((entry) => withDevices(entry, new Map([['network(198.51.100.0/24)', 'eth1']]))))).toEqual([])
  })

  it.each([
    ['one interface', ['198.51.100.50'], ['eth1']],
    ['two interfaces, both families', ['198.51.100.50', '2001:db8:1::50', '2001:db8:1::51'], ['eth1', 'eth2']],
  ])('netdev egretta-guard is listed as it was asked for: %s', (_, silenced, devices) => {
    const each = silenced.map((text) => ({ address: address(text), for: 'EgressIP/eip-a' }))
    expect(differences(secondaryGuardTable(each, devices, '1.0.6'))).toEqual([])
  })

  it('names chains of networks so that nft takes its own native listing back', () => {
    const devices = new Map([
      ['network(198.51.100.0/24)', 'eth1'],
      ['network(2001:db8:1::/64)', 'eth2'],
    ])
    const entries = secondaryGuardTable([{ address: address('198.51.100.50'), for: 'EgressIP/eip-a' }], [...devices.keys()], '1.0.6')
    expect(differences(entries.map((entry) => withDevices(entry, devices)))).toEqual([])
    const listing = namespace.exec('nft', ['list', 'table', 'netdev', 'egretta-guard']).stdout
    expect(listing).toContain('chain egressip-drop-2001.db8.1../64 {')
    expect(namespace.exec('nft', ['-c', '-f', '-'], { input: listing }).status).toBe(0)
  })
})
