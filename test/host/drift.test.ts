import { describe, expect, it } from 'vitest'
import { ipEvents, nftReader } from '../../src/host/drift.js'

/** What `nft monitor` says, line by line. */
function nft(...lines: readonly string[]): readonly string[] {
  const reader = nftReader()
  return lines.flatMap((line) => reader.read(line)?.who ?? [])
}

describe('nft monitor', () => {
  it('tells who flushed everything, also what is not ours', () => {
    expect(
      nft(
        'delete rule inet other c handle 2',
        'delete set inet egretta m',
        'delete chain inet egretta c',
        'delete table inet egretta',
        'delete table netdev egretta-guard',
        '# new generation 7 by process 17524 (nft)',
      ),
    ).toEqual(['process 17524 (nft) changed table inet egretta, netdev egretta-guard'])
  })

  it('tells nothing of tables of others, nor does one transaction count for the next', () => {
    const other = ['add table inet foo', 'add rule inet foo egretta ip saddr 10.0.0.1 drop', '# new generation 8 by process 9 (firewalld)']
    expect(nft(...other)).toEqual([])
    expect(nft('add element inet egretta m { 10.0.0.1 : 1.1.1.1 }', '# new generation 9 by process 10 (nft)', ...other)).toEqual([
      'process 10 (nft) changed table inet egretta',
    ])
  })

  it('knows no process where the kernel names none', () => {
    expect(nft('delete table inet egretta', '# new generation 9')).toEqual(['a process that has ended changed table inet egretta'])
  })

  it('takes a name with blanks and parentheses', () => {
    expect(nft('delete table inet egretta', '# new generation 9 by process 3 (a (b) c)')).toEqual([
      'process 3 (a (b) c) changed table inet egretta',
    ])
  })
})

describe('ip monitor', () => {
  const events = (line: string) => ipEvents(line).map(({ subsystem, who }) => `${subsystem}: ${who}`)

  it('tells what went', () => {
    expect(events('Deleted 3: v0    inet 192.0.2.5/32 scope 0 v0')).toEqual(['addresses: somebody deleted address 192.0.2.5/32 from v0'])
    expect(events('Deleted 192.0.2.9 dev v0 FAILED proto 230 ')).toEqual(['neighbors: somebody deleted neighbor 192.0.2.9 dev v0'])
    expect(events('Deleted 6000:\tfrom 10.0.0.5 lookup 100')).toEqual(['rules: somebody deleted rule 6000: from 10.0.0.5 lookup 100'])
    expect(events('Deleted 1 default via 10.9.0.1 dev v0 table 1007 proto 230 scope 0 ')).toEqual([
      'routes: somebody deleted route default via 10.9.0.1 dev v0 table 1007 proto 230 scope 0',
    ])
  })

  it('tells nothing of neighbors and routes without our mark, nor of what came', () => {
    for (const line of [
      'Deleted ff02::16 dev v0 lladdr 33:33:00:00:00:16 NOARP ',
      'Deleted 1 fe80::/64 dev v0 table 254 proto 2 scope 0 metric 256 pref medium',
      '192.0.2.9 dev v0 lladdr 02:00:00:00:00:01 PERMANENT proto 230 ',
      '3: v0    inet 192.0.2.5/32 scope 0 v0',
      '       valid_lft forever preferred_lft forever',
      '3: v0@v1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group 0 ',
    ]) {
      expect(events(line)).toEqual([])
    }
  })

  it('tells of a device that goes down what the kernel takes with it, and of one that goes everything', () => {
    expect(events('3: v0@NONE: <BROADCAST,MULTICAST> mtu 1500 qdisc noqueue state DOWN group 0 ')).toEqual([
      'neighbors: interface v0 is down',
      'routes: interface v0 is down',
    ])
    expect(
      ipEvents('Deleted 3: v0@NONE: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN group 0 ').map(({ subsystem }) => subsystem),
    ).toEqual(['nftables', 'neighbors', 'addresses', 'routes', 'rules'])
  })
})
