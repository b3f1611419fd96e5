import { describe, expect, it } from 'vitest'
import { NO_ENTRIES, SUBSYSTEMS } from '../../src/agent/entries.js'
import { applyPart, type Goal, type Host, observe, planPart } from '../../src/agent/reconcile.js'
import { type FakeSubsystem, fakeSubsystem } from '../../src/host/fake.js'
import { addresses } from '../../src/syntax/addresses.js'
import type { Language } from '../../src/syntax/language.js'
import type { Entry } from '../../src/syntax/languages.js'
import { neighbors } from '../../src/syntax/neighbors.js'
import { nftables } from '../../src/syntax/nftables.js'
import { openflow } from '../../src/syntax/openflow.js'
import { routes } from '../../src/syntax/routes.js'
import { rules } from '../../src/syntax/rules.js'
import * as samples from '../contract/samples.js'

const any = <E extends Entry>(language: Language<E>) => language as unknown as Language<Entry>

function fakeHost() {
  const log: string[] = []
  const fakes = {
    nftables: fakeSubsystem(any(nftables)),
    openflow: fakeSubsystem(any(openflow(''))),
    neighbors: fakeSubsystem(any(neighbors)),
    addresses: fakeSubsystem(any(addresses)),
    routes: fakeSubsystem(any(routes)),
    rules: fakeSubsystem(any(rules)),
  }
  const logged = (name: string, fake: FakeSubsystem<Entry>): FakeSubsystem<Entry> => ({
    ...fake,
    apply: async (changes) => {
      for (const { op } of changes) log.push(`${op} ${name}`)
      await fake.apply(changes)
    },
  })
  const host: Host = {
    nftables: logged('nftables', fakes.nftables),
    openflow: logged('openflow', fakes.openflow),
    neighbors: logged('neighbors', fakes.neighbors),
    addresses: logged('addresses', fakes.addresses),
    routes: logged('routes', fakes.routes),
    rules: logged('rules', fakes.rules),
    conntrack: {
      keeps: false,
      forget: async (connections) => {
        log.push(...connections.map(() => 'end connections'))
      },
    },
  }
  const text = async () => {
    const parts = await Promise.all(SUBSYSTEMS.map(async (name) => host[name].language.print((await host[name].observe()).own)))
    return parts.join('')
  }
  return { host, fakes, log, text }
}

const base = (entries: Partial<Goal['entries']>): Goal => ({
  part: 'base',
  entries: { ...NO_ENTRIES, ...entries },
  waiting: new Set(),
  subsystems: SUBSYSTEMS,
  stale: [],
  awaited: [],
})

const own = {
  nftables: samples.nftables.more.filter(({ table }) => table === 'egretta'),
  openflow: samples.openflow.more.filter(({ cookie }) => cookie !== 0x305n),
  neighbors: samples.neighbors.some,
  addresses: samples.addresses.some,
  routes: samples.routes.some,
  rules: samples.rules.some,
}

async function apply(host: Host, goal: Goal) {
  const before = await observe(host, goal.subsystems)
  return (await applyPart(host, goal, before, planPart(host, goal, before))).problems
}

const order = (log: readonly string[]) => log.filter((line, index) => line !== log[index - 1])

describe('a pass', () => {
  it('adds what prevents a leak first and flows last, and removes in the opposite order', async () => {
    const { host, log } = fakeHost()
    expect(await apply(host, base(own))).toEqual([])
    expect(order(log)).toEqual(['add nftables', 'add neighbors', 'add addresses', 'add routes', 'add rules', 'add openflow'])
    log.length = 0
    expect(await apply(host, base({}))).toEqual([])
    expect(order(log)).toEqual([
      'delete nftables',
      'end connections',
      'delete rules',
      'delete routes',
      'delete addresses',
      'delete neighbors',
      'delete openflow',
      'end connections',
      'delete nftables',
    ])
  })

  it.each(SUBSYSTEMS)('puts back what it found when a step of %s fails', async (name) => {
    for (const upTo of [0, 1]) {
      const { host, fakes, text } = fakeHost()
      await apply(host, base({ neighbors: samples.neighbors.more, addresses: samples.addresses.more }))
      const before = await text()
      fakes[name].fail = upTo
      const problems = await apply(host, base(own))
      expect(problems.map(({ code }) => code)).toEqual(['CommandFailed'])
      expect(await text()).toBe(before)
      expect(await apply(host, base(own))).toEqual([])
    }
  })

  it('says so when the host does not keep what was applied', async () => {
    const { host } = fakeHost()
    const forgetful: Host = { ...host, neighbors: { ...host.neighbors, apply: async () => {} } }
    const [problem] = await apply(forgetful, base(own))
    expect(problem).toMatchObject({ code: 'NotConverged', severity: 'error' })
    expect(problem?.message).toContain('neighbors')
  })

  it('neither changes nor counts the guard in a pass of the base, and the other way round', async () => {
    const { host } = fakeHost()
    const guard: Goal = {
      ...base({ nftables: samples.nftables.some.filter(({ family }) => family === 'netdev'), openflow: samples.openflow.some }),
      part: 'guard',
      subsystems: ['nftables', 'openflow'],
    }
    expect(await apply(host, guard)).toEqual([])
    expect(await apply(host, base(own))).toEqual([])
    expect(planPart(host, guard, await observe(host, SUBSYSTEMS)).changes).toEqual([])
    expect(await apply(host, base({}))).toEqual([])
    expect(planPart(host, guard, await observe(host, SUBSYSTEMS)).changes).toEqual([])
  })

  it('leaves what the host has under the key of an entry that waits', async () => {
    const { host } = fakeHost()
    await apply(host, base(own))
    const key = neighbors.key(own.neighbors[0] as (typeof own.neighbors)[number])
    const waiting = { ...base({ ...own, neighbors: own.neighbors.slice(1) }), waiting: new Set([`neighbors ${key}`]) }
    expect(planPart(host, waiting, await observe(host, SUBSYSTEMS)).changes).toEqual([])
  })
  it('takes a flow away that waits for its port: the number may be given to another network', async () => {
    const { host } = fakeHost()
    await apply(host, base(own))
    const [first, ...others] = own.openflow
    const { key } = host.openflow.language
    const waiting = { ...base({ ...own, openflow: others }), waiting: new Set([`openflow ${key(first as Entry)}`]) }
    expect(planPart(host, waiting, await observe(host, SUBSYSTEMS)).changes).toMatchObject([{ op: 'delete', from: first }])
  })
})
