import { describe, expect, it } from 'vitest'
import { obstacles, recordPass, recordSource } from '../../src/agent/status.js'
import { printStatus } from '../../src/agent/status-report.js'
import { problem } from '../../src/model/problem.js'
import { at, EMPTY, end, holds, READY, report, seen } from './statuses.js'

const FLUSH = { subsystem: 'nftables', source: 'nftables', who: 'process 712 (nft) changed table inet egretta' } as const
const failed = [problem('CommandFailed', { message: 'nft -j -f - failed' })]

describe('a node', () => {
  it('is ready when a pass of the steady phase left nothing to do, and says why it is not before', () => {
    expect([EMPTY.ready, obstacles(EMPTY)]).toEqual([false, ['no pass has ended yet']])
    expect(recordPass(EMPTY, report({ phase: 'startup' }), end(0)).ready).toBe(false)
    expect([READY.ready, obstacles(READY)]).toEqual([true, []])
    expect(recordPass(READY, report({ phase: 'shutdown' }), end(1)).ready).toBe(false)
  })

  it('is not ready while one part of it fails, differs or waits, and ready when that is over', () => {
    const pending = [{ subsystem: 'openflow', key: 'k', reason: 'br-ex has no port named eth1' }] as const
    const cases = [
      report({ exitCode: 1, problems: failed }),
      report({ exitCode: 2, seen: seen({ rules: holds({ ownership: 'verify', observed: 'bb' }) }) }),
      report({ exitCode: 4, pending }),
    ]
    const reasons = cases.map((each) => obstacles(recordPass(READY, each, end(1))))
    expect(reasons).toEqual([
      ['CommandFailed: nft -j -f - failed'],
      ['rules does not hold what the bundle says'],
      ['openflow: 1 waiting, the first because br-ex has no port named eth1'],
    ])
    for (const each of cases) expect(recordPass(recordPass(READY, each, end(1)), report(), end(2)).ready).toBe(true)
  })

  it('keeps what it knew when a pass was refused before it looked', () => {
    const held = [{ address: '192.0.2.50', interface: 'br-ex' }]
    const before = recordPass(READY, report({ seen: seen({}, held) }), end(1))
    const { seen: _, ...refused } = report({ exitCode: 1, problems: failed })
    const after = recordPass(before, refused, end(2, { bundle: null }))
    expect(after.subsystems).toEqual(before.subsystems)
    expect([after.held, after.bundle]).toEqual([before.held, before.bundle])
    expect(after.passes).toEqual({ count: 3, failed: 1, lastSeconds: 0.25, lastEnd: '2026-01-01T00:00:02.000Z' })
  })

  it('is not asked for what is off', () => {
    const { nftables: _, ...rest } = seen().subsystems
    const status = recordPass(EMPTY, report({ seen: { subsystems: rest, held: null } }), end(0))
    expect([status.ready, status.subsystems.nftables.ownership, status.subsystems.nftables.desired]).toEqual([true, 'off', null])
  })

  it('goes on, and says so, while its source cannot be read', () => {
    const text = 'fatal: unable to access https://bot:s3cret@git.example.com/x.git/'
    const status = recordSource(recordSource(READY, text, at(5)), text, at(9))
    expect(status.ready).toBe(true)
    expect(status.sourceError).toEqual({
      since: '2026-01-01T00:00:05.000Z',
      text: 'fatal: unable to access https://***@git.example.com/x.git/',
    })
    expect(recordSource(status, null, at(10)).sourceError).toBe(null)
  })

  it('never tells the secrets of its source', () => {
    const bundle = { digest: 'd1', source: 'git+https://token@git.example.com/x.git#main', revision: 'c0ffee' }
    expect(recordPass(READY, report(), end(1, { bundle })).bundle?.source).toBe('git+https://***@git.example.com/x.git#main')
  })
})

describe('a subsystem', () => {
  it('says what it was brought to and when; one that is only verified was brought to nothing', () => {
    const changes = [{ subsystem: 'rules', key: 'k' }] as const
    const managed = recordPass(EMPTY, report({ changes }), end(3)).subsystems.rules
    expect([managed.applied, managed.lastChange]).toEqual(['aa', '2026-01-01T00:00:03.000Z'])
    const verify = { rules: holds({ ownership: 'verify', observed: 'bb', differed: 'k' }) }
    const verified = recordPass(EMPTY, report({ changes, exitCode: 2, seen: seen(verify) }), end(3)).subsystems.rules
    expect([verified.applied, verified.lastChange, verified.observed]).toEqual([null, null, 'bb'])
  })

  it('keeps its last error with its time when it works again', () => {
    const broken = recordPass(READY, report({ exitCode: 1, problems: failed, seen: seen({ nftables: holds({ error: 'no' }) }) }), end(1))
    const { lastError, lastErrorTime } = recordPass(broken, report(), end(2)).subsystems.nftables
    expect([lastError, lastErrorTime]).toEqual(['no', '2026-01-01T00:00:01.000Z'])
  })

  it('counts what waits by what it waits for', () => {
    const wait = (key: string, reason: string) => ({ subsystem: 'openflow', key, reason }) as const
    const pending = [wait('a', 'no br-ex'), wait('b', 'no eth1'), wait('c', 'no br-ex')]
    expect(recordPass(READY, report({ exitCode: 4, pending }), end(1)).subsystems.openflow).toMatchObject({
      pending: 3,
      waits: [
        { reason: 'no br-ex', count: 2, key: 'a' },
        { reason: 'no eth1', count: 1, key: 'b' },
      ],
    })
  })
})

describe('drift', () => {
  const differed = seen({ nftables: holds({ differed: 'table inet egretta' }) })
  const repair = report({ seen: differed, changes: [{ subsystem: 'nftables', key: 'table inet egretta' }] })
  const drift = (...args: Parameters<typeof recordPass>) => recordPass(...args).subsystems.nftables

  it('is counted with who did it, and with the first entry that was lost', () => {
    const { drift: count, lastDrift } = drift(READY, repair, end(7, { events: [FLUSH] }))
    expect([count, lastDrift]).toEqual([1, { time: '2026-01-01T00:00:07.000Z', who: FLUSH.who, key: 'table inet egretta' }])
    expect(drift(READY, repair, end(7)).lastDrift?.who).toBe('somebody whom no watch saw')
  })

  it('is what was found, not what was seen: a change of others that changed nothing of ours is none', () => {
    expect(drift(READY, report(), end(1, { events: [FLUSH] }))).toMatchObject({ drift: 0, lastDrift: null })
  })

  it('is neither the first pass, nor another bundle, nor another phase', () => {
    expect(drift(EMPTY, repair, end(1)).drift).toBe(0)
    expect(drift(READY, repair, end(1, { bundle: { digest: 'd2', source: '/bundles', revision: null } })).drift).toBe(0)
    expect(drift(READY, { ...repair, phase: 'shutdown' }, end(1)).drift).toBe(0)
  })

  it('is counted once while a repair fails', () => {
    const stuck = report({ exitCode: 1, problems: failed, seen: seen({ nftables: holds({ differed: 'k', observed: 'bb' }) }) })
    const once = recordPass(READY, stuck, end(1))
    expect([once.subsystems.nftables.drift, drift(once, stuck, end(2)).drift, drift(once, repair, end(3)).drift]).toEqual([1, 1, 1])
  })

  it('is not what an order changes, such as the release of an address', () => {
    const pending = [{ subsystem: 'addresses', key: '192.0.2.50/32 dev br-ex', reason: 'released' }] as const
    const less = holds({ desired: 'cc', observed: 'cc', differed: 'k' })
    const { nftables, addresses } = recordPass(
      READY,
      report({ exitCode: 4, pending, seen: seen({ nftables: less, addresses: less }) }),
      end(1),
    ).subsystems
    expect([nftables.drift, addresses.drift]).toEqual([0, 0])
  })

  it('is what a host changes under it, such as the number of an interface that came again, where a watch saw it', () => {
    const moved = report({ seen: seen({ routes: holds({ desired: 'cc', observed: 'cc', differed: 'k' }) }) })
    const events = [{ subsystem: 'routes', source: 'kernel', who: 'interface eth1 was deleted' }] as const
    expect(recordPass(READY, moved, end(1, { events })).subsystems.routes.lastDrift?.who).toBe('interface eth1 was deleted')
  })

  it('is a bridge that vanishes, once, and not its return', () => {
    const pending = [{ subsystem: 'openflow', key: 'k', reason: 'there is no bridge br-ex' }] as const
    const gone = report({ exitCode: 4, pending, seen: seen({ openflow: holds({ desired: 'e0', observed: 'e0' }) }) })
    const event = (who: string) => ({ events: [{ subsystem: 'openflow', source: 'ovsdb', who }] as const })
    const first = recordPass(READY, gone, end(1, event('bridge br-ex was deleted')))
    expect(first.subsystems.openflow.lastDrift).toMatchObject({ who: 'bridge br-ex was deleted', key: 'k' })
    const back = report({ seen: seen({ openflow: holds({ differed: 'k' }) }), changes: [{ subsystem: 'openflow', key: 'k' }] })
    const last = recordPass(recordPass(first, gone, end(2)), back, end(3, event('bridge br-ex was made')))
    expect([last.subsystems.openflow.drift, last.ready]).toEqual([1, true])
  })
})

describe('egress IPs held', () => {
  it('are held since they came, and since they came again', () => {
    const held = (...addresses: readonly string[]) =>
      report({
        seen: seen(
          {},
          addresses.map((address) => ({ address, interface: 'br-ex' })),
        ),
      })
    const since = (status: typeof READY) => status.held.map((each) => `${each.address} ${each.since.slice(17, 19)}`)
    const first = recordPass(READY, held('192.0.2.50'), end(1))
    const second = recordPass(first, held('192.0.2.50', '2001:db8::50'), end(2))
    expect(since(second)).toEqual(['192.0.2.50 01', '2001:db8::50 02'])
    expect(since(recordPass(recordPass(second, held('2001:db8::50'), end(3)), held('192.0.2.50'), end(4)))).toEqual(['192.0.2.50 04'])
  })
})

describe('the text of a status', () => {
  it('says in its first line whether the node is ready, and below what is in the way', () => {
    expect(printStatus(READY).split('\n')[0]).toBe('node-a: ready (steady, egretta-agent 1.2.3)')
    const events = [{ ...FLUSH, who: 'process 712 (\u001b[2J) changed table inet egretta' }]
    const broken = report({
      exitCode: 1,
      problems: failed,
      seen: seen({ nftables: holds({ differed: 'table', observed: 'bb', error: 'no' }) }),
    })
    expect(printStatus(recordPass(READY, broken, end(60, { events })))).toMatchInlineSnapshot(`
      "node-a: not ready (steady, egretta-agent 1.2.3)
      bundle: d1 from /bundles
      passes: 2, 1 failed, the last ended 2026-01-01T00:01:00.000Z after 0.25 s

        subsystem  state    entries  pending  drift  last change  desired
        nftables   differs  1        0        1      -            aa       observed bb
        openflow   holds    1        0        0      -            aa
        neighbors  holds    1        0        0      -            aa
        addresses  holds    1        0        0      -            aa
        routes     holds    1        0        0      -            aa
        rules      holds    1        0        0      -            aa

      last drift:
        nftables  2026-01-01T00:01:00.000Z  process 712 (?[2J) changed table inet egretta; first lost: table

      last errors:
        nftables  2026-01-01T00:01:00.000Z  no

      not ready because:
        CommandFailed: nft -j -f - failed
        nftables does not hold what the bundle says

      error CommandFailed: nft -j -f - failed
        → See what the command says, then run again.
      "
    `)
  })

  it('lists twenty addresses and says how many more there are', () => {
    const held = Array.from({ length: 25 }, (_, index) => ({ address: `192.0.2.${index + 50}`, interface: 'br-ex' }))
    const lines = printStatus(recordPass(READY, report({ seen: seen({}, held) }), end(1))).split('\n')
    expect(lines.filter((line) => line.includes('since'))).toHaveLength(20)
    expect(lines).toContain('  and 5 more')
  })
})
