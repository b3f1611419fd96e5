import { describe, expect, it } from 'vitest'
import { createFollowUp } from '../../src/agent/follow-up.js'
import type { Report } from '../../src/agent/run.js'
import type { Exec } from '../../src/host/exec.js'
import { type Claim, clock } from '../../src/host/probe.js'
import { type Address, parseAddress } from '../../src/model/address.js'

const ip = (text: string): Address => parseAddress(text) as Address
const claim = (text: string): Claim => ({ address: ip(text), wire: { kind: 'device', device: 'eth1' } })

/** A host on which nobody answers, and what it was told to send. */
function quietHost() {
  const said: string[] = []
  const exec: Exec = async (command, args) => {
    if (command !== 'nft') said.push([command, ...args].filter((word) => /^(arping|-U|-A|-D|[\d.]{7,})$/.test(word)).join(' '))
    return { code: 0, stdout: '{"nftables":[]}', stderr: '' }
  }
  return { said, exec }
}

const report = (over: Partial<Report>): Report =>
  ({ node: 'node-a', phase: 'steady', changes: [], pending: [], problems: [], exitCode: 0, ...over }) as Report
const came = (...texts: readonly string[]) =>
  report({ handover: { claimed: texts.map(claim), waiting: [], due: Number.POSITIVE_INFINITY } })
const went = (text: string) =>
  report({
    changes: [
      {
        subsystem: 'addresses',
        op: 'delete',
        key: `${text}/32 dev eth1`,
        entry: null,
        from: { address: { address: ip(text), length: 32 }, dev: 'eth1', for: null },
      },
    ],
  })

describe('between passes', () => {
  it('what came is announced twice more, also when a pass comes in between', async () => {
    const { said, exec } = quietHost()
    const followUp = createFollowUp(exec)
    followUp.follow(came('192.0.2.50'))
    await followUp.rest()
    expect(said).toEqual([])
    followUp.follow(report({}))
    await followUp.announced()
    expect(said).toEqual(Array.from({ length: 2 }, () => ['arping -U 192.0.2.50', 'arping -A 192.0.2.50']).flat())
    await followUp.rest()
  })

  it('what a pass gave back is not announced any more', async () => {
    const { said, exec } = quietHost()
    const followUp = createFollowUp(exec)
    followUp.follow(came('192.0.2.50', '192.0.2.51'))
    await followUp.rest()
    followUp.follow(went('192.0.2.50'))
    await followUp.announced()
    expect(new Set(said)).toEqual(new Set(['arping -U 192.0.2.51', 'arping -A 192.0.2.51']))
  })

  it('another pass is asked for when an address that was answered for is not any more, and when the time is up', async () => {
    const { said, exec } = quietHost()
    let woken = 0
    const followUp = createFollowUp(exec, () => woken++)
    const waiting = (due: number) => report({ handover: { claimed: [], waiting: [claim('192.0.2.50')], due } })
    followUp.follow(waiting(Number.POSITIVE_INFINITY))
    await followUp.turn()
    expect([woken, said]).toEqual([1, ['arping -D 192.0.2.50']])
    followUp.follow(waiting(clock() - 1))
    await followUp.turn()
    expect([woken, said.length]).toEqual([2, 1])
    followUp.follow(report({}))
    await followUp.turn()
    expect(woken).toBe(2)
  })

  it('a host that refuses is asked again later, and nobody is woken who has told it to rest', async () => {
    const failing: Exec = async () => ({ code: 2, stdout: '', stderr: 'no' })
    let woken = 0
    const followUp = createFollowUp(failing, () => woken++)
    const both = { claimed: [claim('192.0.2.51')], waiting: [claim('192.0.2.50')], due: Number.POSITIVE_INFINITY }
    followUp.follow(report({ handover: both }))
    await Promise.all([followUp.turn(), followUp.announced()])
    expect(woken).toBe(1)
    followUp.follow(report({ handover: both }))
    await followUp.rest()
    expect(woken).toBe(1)
  })
})
