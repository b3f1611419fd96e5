import { describe, expect, it } from 'vitest'
import { NO_ENTRIES, SUBSYSTEMS } from '../../src/agent/entries.js'
import { applyPart, type Goal, type Host, observe, planPart } from '../../src/agent/reconcile.js'
import { fakeSubsystem } from '../../src/host/fake.js'
import type { Subsystem } from '../../src/host/subsystem.js'
import { type Address, hostPrefix, parseAddress, parsePrefix } from '../../src/model/address.js'
import type { SubsystemName } from '../../src/model/cluster.js'
import { addresses } from '../../src/syntax/addresses.js'
import { egressTable } from '../../src/syntax/egress-nat.js'
import type { Language } from '../../src/syntax/language.js'
import type { Entry } from '../../src/syntax/languages.js'
import { neighbors } from '../../src/syntax/neighbors.js'
import { asObject } from '../../src/syntax/nft-json.js'
import { nftables } from '../../src/syntax/nftables.js'
import { openflow } from '../../src/syntax/openflow.js'
import { routes } from '../../src/syntax/routes.js'
import { rules } from '../../src/syntax/rules.js'

const ip = (text: string): Address => parseAddress(text) as Address
const POD = ip('10.244.1.3')
const SUBNETS = [parsePrefix('10.244.0.0/16')].flatMap((prefix) => prefix ?? [])

/** What a node holds of the pod: its egress IP, the interface, the table of it. Null: nothing. */
interface Way {
  readonly egressIP: string
  readonly dev: string
  readonly table: string
}

const ETH1: Way = { egressIP: '198.51.100.50', dev: 'eth1', table: '1007' }
const WAYS: readonly (readonly [what: string, from: Way | null, to: Way | null])[] = [
  ['comes', null, ETH1],
  ['goes', ETH1, null],
  ['gets another egress IP', ETH1, { ...ETH1, egressIP: '198.51.100.51' }],
  ['gets one of another interface', ETH1, { egressIP: '203.0.113.50', dev: 'eth2', table: '1008' }],
  ['has an interface with another ifindex', ETH1, { ...ETH1, table: '1009' }],
]

function goal(way: Way | null, withTable = true): Goal {
  const at = way && { address: ip(way.egressIP), pod: POD, device: way.dev, for: 'EgressIP/eip-a' }
  const table = withTable ? egressTable('shared', SUBNETS, at ? [at] : []) : []
  const route = (gateway: Address | null, dst: string) =>
    way && {
      dst: parsePrefix(dst) ?? null,
      gateway,
      dev: way.dev,
      table: way.table,
      family: 4 as const,
      src: null,
      mtu: null,
      metric: null,
      scope: null,
      for: null,
    }
  return {
    part: 'base',
    entries: {
      ...NO_ENTRIES,
      nftables: table,
      addresses: way ? [{ address: hostPrefix(ip(way.egressIP)), dev: way.dev, for: null }] : [],
      routes: [route(null, '0.0.0.0/0')].flatMap((each) => each ?? []),
      rules: way ? [{ priority: 6000, src: hostPrefix(POD), fwmark: null, table: way.table, for: null }] : [],
    },
    waiting: new Set(),
    subsystems: SUBSYSTEMS,
    stale: [],
    awaited: [],
  }
}

type Sent = `${string} from ${string}` | 'dropped'

/** A host in memory that a packet of the pod can be sent through. */
function fakeHost(keeps: boolean) {
  const any = <E extends Entry>(language: Language<E>) => fakeSubsystem(language as unknown as Language<Entry>)
  const fakes = {
    nftables: any(nftables),
    openflow: any(openflow('')),
    neighbors: any(neighbors),
    addresses: any(addresses),
    routes: any(routes),
    rules: any(rules),
  }
  /** Addresses to which connections of the pod were translated. */
  const connections = new Set<string>()
  let failing: SubsystemName | null = null
  const seen: Sent[] = []

  /** Where a packet of the pod goes, and with which source: by the first rule whose table has a route, else by the main table. */
  async function send(translated: string | null): Promise<Sent> {
    const of = async <E>(name: SubsystemName) => (await fakes[name].observe()).own as unknown as readonly E[]
    const tables = (await of<{ table: string }>('rules')).map(({ table }) => table)
    const routed = await of<{ table: string; dev: string }>('routes')
    const dev = tables.flatMap((table) => routed.find((each) => each.table === table)?.dev ?? [])[0] ?? 'primary'
    const nft = await of<import('../../src/syntax/nftables.js').NftEntry>('nftables')
    const element = nft.find(
      (entry) => entry.kind === 'element' && JSON.stringify(asObject(entry.value)?.concat) === JSON.stringify([POD.text, dev]),
    )
    const source = translated ?? (element?.kind === 'element' ? String(element.to) : POD.text)
    const filters = nft.some((entry) => entry.kind === 'rule' && entry.chain === 'egress-ip-sec-filter')
    return source === POD.text && filters ? 'dropped' : `${dev} from ${source}`
  }

  /** A packet of each connection, and one of a new one: what the wire saw. */
  async function look(): Promise<void> {
    for (const translated of connections) seen.push(await send(translated))
    const sent = await send(null)
    seen.push(sent)
    const source = sent.split(' from ')[1]
    if (source !== undefined && source !== POD.text) connections.add(source)
  }

  const watched = (name: SubsystemName): Subsystem<Entry> => ({
    ...fakes[name],
    apply: async (changes) => {
      // One change after the other, as ip(8) makes them; nft and OpenFlow make all at one moment.
      const atOnce = name === 'nftables' || name === 'openflow'
      for (const some of atOnce ? [changes] : changes.map((change) => [change])) {
        await fakes[name].apply(some)
        await look()
      }
      if (failing === name && changes.length > 0) {
        failing = null
        fakes[name].fail = 0
        await fakes[name].apply(changes)
      }
    },
  })
  const host: Host = {
    nftables: watched('nftables'),
    openflow: watched('openflow'),
    neighbors: watched('neighbors'),
    addresses: watched('addresses'),
    routes: watched('routes'),
    rules: watched('rules'),
    conntrack: {
      keeps,
      forget: async (stale) => {
        for (const each of stale) if ('pod' in each) connections.delete(each.egressIP.text)
        await look()
      },
    },
  }
  return {
    host,
    seen,
    look,
    failAt: (name: SubsystemName) => {
      failing = name
    },
  }
}

async function reach(host: Host, to: Goal) {
  const before = await observe(host, to.subsystems)
  return applyPart(host, to, before, planPart(host, to, before))
}

describe.each([
  ['end', false],
  ['stay where the cluster says so', true],
])('a pod with an egress IP on a secondary interface whose connections %s', (_, keeps) => {
  const allowed = (...ways: readonly (Way | null)[]) =>
    new Set<Sent>(['dropped', ...ways.flatMap((way) => (way ? [`${way.dev} from ${way.egressIP}` as const] : []))])

  it.each(WAYS)('that %s leaves with no other address at any moment', async (_what, from, to) => {
    const { host, seen, look } = fakeHost(keeps)
    await reach(host, goal(from))
    await look()
    seen.length = 0
    expect((await reach(host, goal(to))).problems).toEqual([])
    expect(seen.length).toBeGreaterThan(5)
    expect(seen.filter((sent) => !allowed(from, to).has(sent))).toEqual([])
    expect(seen.at(-1)).toBe(to ? `${to.dev} from ${to.egressIP}` : 'dropped')
  })

  it.each(WAYS)('that %s does not either when a step fails and what was done is put back', async (_what, from, to) => {
    let failed = 0
    for (const name of ['nftables', 'addresses', 'routes', 'rules'] as const) {
      const { host, seen, look, failAt } = fakeHost(keeps)
      await reach(host, goal(from))
      await look()
      seen.length = 0
      failAt(name)
      const outcome = await reach(host, goal(to))
      if (outcome.problems.length === 0) continue
      failed += 1
      expect(outcome).toMatchObject({ made: [], problems: [{ code: 'CommandFailed' }] })
      expect(seen.filter((sent) => !allowed(from, to).has(sent))).toEqual([])
      expect(planPart(host, goal(from), await observe(host, SUBSYSTEMS)).changes).toEqual([])
    }
    expect(failed).toBeGreaterThan(1)
  })

  it('is dropped until its rule has gone when the whole table goes, and the filter goes last', async () => {
    const { host, seen, look } = fakeHost(keeps)
    await reach(host, goal(ETH1))
    await look()
    seen.length = 0
    expect((await reach(host, goal(null, false))).problems).toEqual([])
    // Nothing of egretta's is on the host after the last step, and nothing leads the pod there.
    expect(seen.slice(0, -1).filter((sent) => !allowed(ETH1).has(sent))).toEqual([])
    expect(seen.at(-1)).toBe(`primary from ${POD.text}`)
  })

  it('would be seen with another address if the steps came in another order', async () => {
    const { host, seen, look } = fakeHost(keeps)
    await reach(host, goal(ETH1))
    await look()
    seen.length = 0
    const { changes } = planPart(host, goal(null), await observe(host, SUBSYSTEMS))
    await host.rules.apply(changes.filter(({ subsystem }) => subsystem === 'rules'))
    expect(seen).toContain(`primary from ${ETH1.egressIP}`)
  })
})
