import { afterAll, beforeAll, expect, it } from 'vitest'
import { hostNftables } from '../../src/host/nftables.js'
import { diff } from '../../src/plan/diff.js'
import type { NftEntry } from '../../src/syntax/nftables.js'
import { describeWith } from '../requires.js'
import { execOn, type Machine, machine } from './machine.js'
import { nftables } from './samples.js'

describeWith(['root', 'linux', 'ip', 'nft'], 'elements of the map of egress IPs', () => {
  let host: Machine

  beforeAll(() => {
    host = machine('elements', { ovs: false })
  })
  afterAll(() => host.close())

  const ofEgress = (entries: readonly NftEntry[]) => entries.filter(({ table }) => table === 'egretta')
  const reach = async (desired: readonly NftEntry[]) => {
    const subsystem = hostNftables(execOn(host))
    const { changes } = diff(subsystem.language, desired, (await subsystem.observe()).own)
    await subsystem.apply(changes)
    expect(diff(subsystem.language, desired, (await subsystem.observe()).own).changes).toEqual([])
    return changes
  }
  /** The table without its elements, with the handles that the kernel gave its objects: other ones after it was replaced. */
  const objects = () => host.namespace.exec('nft', ['-a', '-t', 'list', 'table', 'inet', 'egretta']).stdout

  it('come, change and go without the table being replaced', async () => {
    await reach(ofEgress(nftables.some))
    const before = objects()
    expect((await reach(ofEgress(nftables.more))).map(({ op }) => op)).toEqual(['add', 'add'])
    expect((await reach(ofEgress(nftables.changed ?? []))).map(({ op }) => op).sort()).toEqual(['add', 'update'])
    expect((await reach(ofEgress(nftables.some))).map(({ op }) => op)).toEqual(['delete', 'delete', 'delete'])
    expect(objects()).toBe(before)
  })
})
