import { afterAll, beforeAll, expect, it } from 'vitest'
import { hostRules } from '../../src/host/rules.js'
import { diff } from '../../src/plan/diff.js'
import type { HostRule } from '../../src/syntax/rules.js'
import { describeWith } from '../requires.js'
import { execOn, type Machine, machine } from './machine.js'
import { rules } from './samples.js'

describeWith(['root', 'linux', 'ip'], 'the rule for marked packets', () => {
  const SETTING = 'net.ipv4.conf.all.src_valid_mark'
  let host: Machine

  beforeAll(() => {
    host = machine('mark-rule', { ovs: false })
  })
  afterAll(() => host.close())

  const sysctl = (...args: readonly string[]) => host.namespace.exec('sysctl', args).stdout.trim()
  const changesTo = async (desired: readonly HostRule[]) => {
    const subsystem = hostRules(execOn(host))
    const { own, foreign } = await subsystem.observe()
    const { changes } = diff(subsystem.language, desired, own, foreign)
    return { changes, apply: () => subsystem.apply(changes) }
  }
  const marked = rules.more.filter(({ fwmark }) => fwmark !== null)
  const marked4 = marked.filter(({ src }) => src.address.family === 4)

  it('of IPv6 needs no setting', async () => {
    const { apply } = await changesTo(marked.filter(({ src }) => src.address.family === 6))
    await apply()
    expect(sysctl('-n', SETTING)).toBe('0')
  })

  it('of IPv4 comes with its setting, which stays when it goes', async () => {
    await (await changesTo(marked4)).apply()
    expect(sysctl('-n', SETTING)).toBe('1')
    await (await changesTo([])).apply()
    expect((await changesTo([])).changes).toEqual([])
    expect(sysctl('-n', SETTING)).toBe('1')
  })

  it('is told to be altered when somebody takes the setting back, and then put right without being touched', async () => {
    await (await changesTo(marked4)).apply()
    sysctl('-w', `${SETTING}=0`)
    const { changes, apply } = await changesTo(marked4)
    expect(changes).toMatchObject([{ op: 'update', from: { altered: `${SETTING} is not 1` } }])
    await apply()
    expect(sysctl('-n', SETTING)).toBe('1')
    expect((await changesTo(marked4)).changes).toEqual([])
  })
})

describeWith(['root', 'linux', 'ip'], 'a rule of somebody else with the same protocol and more conditions', () => {
  it('is never deleted in the place of ours', async () => {
    const host = machine('wildcards', { ovs: false })
    try {
      const ip = (line: string) => host.namespace.exec('ip', line.split(' ')).stdout
      const subsystem = hostRules(execOn(host))
      const reach = async (desired: readonly HostRule[]) => {
        const { own, foreign } = await subsystem.observe()
        await subsystem.apply(diff(subsystem.language, desired, own, foreign).changes)
      }
      const wide = ['rule add from 10.244.1.3 iif ens3', 'rule add iif ens3 fwmark 0x3f0'] as const
      for (const [line, priority, table] of [
        [wide[0], 6000, '1007'],
        [wide[1], 5999, 'main'],
      ] as const) {
        const theirs = `${line} priority ${priority} table ${table} protocol 230`
        ip(theirs)
        await reach(rules.some)
        const before = ip('rule') + ip('-6 rule')
        await expect(reach([])).rejects.toMatchObject({
          code: 'CommandFailed',
          message: expect.stringContaining(`${priority} from`),
          remedy: `Remove that one: see ip -4 -d rule show priority ${priority}`,
        })
        expect(ip('rule') + ip('-6 rule')).toBe(before)
        ip(theirs.replace('add', 'del'))
        // One behind ours, and one that differs in what the command says are in nobody's way.
        await reach(rules.some)
        ip(theirs)
        ip(theirs.replace('protocol 230', 'protocol 231'))
        await reach([])
        expect(ip('rule')).toContain('proto 231')
        expect(ip('rule').match(/proto 230/g)).toHaveLength(1)
        ip(theirs.replace('add', 'del'))
        ip(theirs.replace('add', 'del').replace('protocol 230', 'protocol 231'))
      }
    } finally {
      host.close()
    }
  })
})

describeWith(['root', 'linux', 'ip'], 'steps of a batch', () => {
  it('count what has gone meanwhile as deleted, and stop where the kernel refuses; what was made shows', async () => {
    const host = machine('batch', { ovs: false })
    try {
      const subsystem = hostRules(execOn(host))
      const change = (op: 'add' | 'delete', last: number, table = '1007') => {
        const [sample] = rules.some as [HostRule]
        const { address } = sample.src
        const value = (address.value & ~0xffn) | BigInt(last)
        const rule = { ...sample, table, src: { length: 32, address: { ...address, value, text: `10.244.1.${last}` } } }
        const key = subsystem.language.key(rule)
        return { subsystem: 'rules' as const, op, key, entry: op === 'add' ? rule : null, from: op === 'add' ? null : rule }
      }
      await subsystem.apply([change('add', 1), change('delete', 2), change('delete', 3), change('add', 4)])
      const own = async () => (await subsystem.observe()).own.map(({ src }) => src.address.text)
      expect(await own()).toEqual(['10.244.1.1', '10.244.1.4'])
      const refused = subsystem.apply([change('add', 5), change('add', 4), change('add', 6)])
      await expect(refused).rejects.toMatchObject({
        code: 'CommandFailed',
        message: expect.stringMatching(/^6000 from 10.244.1.4\/32 .*File exists/),
      })
      expect(await own()).toEqual(['10.244.1.1', '10.244.1.4', '10.244.1.5'])
    } finally {
      host.close()
    }
  })
})
