import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/model/address.js'
import { guardTable } from '../../src/syntax/guard.js'
import { anonymous, type Json } from '../../src/syntax/nft-json.js'
import { deviceSymbols, type NftEntry, nftables, replaceCommands, withDevices } from '../../src/syntax/nftables.js'
import { anyAddress, anyDevice, anyFor } from './arbitrary.js'
import { obeysItsLaws, refusesWhatIsDamaged } from './laws.js'

const table = { family: 'inet', table: 'egretta' } as const
const wrap = (...objects: readonly object[]) => JSON.stringify({ nftables: objects })
const add = (object: object) => ({ add: object })

/** Whether a command means what the listing of the real thing says, key by key. */
function expectSame(asked: string, listed: string): void {
  const [desired, observed] = [nftables.parse(asked), nftables.parse(listed)]
  expect(observed.map(nftables.key).sort()).toEqual(desired.map(nftables.key).sort())
  const byKey = new Map(observed.map((entry) => [nftables.key(entry), entry]))
  for (const entry of desired) expect(nftables.same(entry, byKey.get(nftables.key(entry)) as NftEntry), nftables.key(entry)).toBe(true)
}

describe('what nft 1.0.6 prints back (recorded)', () => {
  const inTable = { family: 'inet', table: 'egretta' }
  const rule = (expr: readonly object[], more: object = {}) => ({ rule: { ...inTable, chain: 'c', ...more, expr } })
  const th = { payload: { base: 'th', offset: 64, len: 128 } }
  const match = (left: object, right: unknown) => ({ match: { op: '==', left, right } })

  it.each([
    [
      'handles and the comments of tables, chains and sets',
      [{ table: { family: 'inet', name: 'egretta', comment: 'x' } }, { chain: { ...inTable, name: 'c', comment: 'y' } }],
      [
        { metainfo: { version: '1.0.6' } },
        { table: { family: 'inet', name: 'egretta', handle: 4 } },
        { chain: { ...inTable, name: 'c', handle: 2 } },
      ],
    ],
    [
      'a base chain without its device',
      [{ chain: { family: 'netdev', table: 't', name: 'c', type: 'filter', hook: 'ingress', dev: 'ens3', prio: 0 } }],
      [{ chain: { family: 'netdev', table: 't', name: 'c', handle: 1, type: 'filter', hook: 'ingress', prio: 0, policy: 'accept' } }],
    ],
    [
      'a single value in place of an anonymous set of one, without leading zeros',
      [rule([match(th, { set: ['0x00640000000000000000000000000050'] }), { drop: null }])],
      [rule([match(th, '0x640000000000000000000000000050'), { drop: null }], { handle: 9 })],
    ],
    [
      'small raw values as numbers, and sets in its own order',
      [rule([match(th, { set: ['0xfe800000000000000000000000000005', '0x00000000000000000000000000000005'] })])],
      [rule([match(th, { set: [5, '0xfe800000000000000000000000000005'] })])],
    ],
    ['a mark in decimal', [rule([match({ meta: { key: 'mark' } }, '0x3f1')])], [rule([match({ meta: { key: 'mark' } }, 1009)])]],
    [
      'counters with their counts',
      [rule([{ counter: null }, { drop: null }])],
      [rule([{ counter: { packets: 7, bytes: 420 } }, { drop: null }])],
    ],
    [
      'elements inside their set, addresses in short spelling',
      [
        { set: { ...inTable, name: 's', type: 'ipv6_addr', flags: ['timeout', 'interval'] } },
        { element: { ...inTable, name: 's', elem: ['2001:DB8:0::50', { elem: { val: '2001:db8::51', comment: 'EgressIP/a' } }] } },
      ],
      [
        {
          set: {
            ...inTable,
            name: 's',
            type: 'ipv6_addr',
            handle: 2,
            flags: ['interval', 'timeout'],
            elem: [{ elem: { val: '2001:db8::51', comment: 'EgressIP/a' } }, '2001:db8::50'],
          },
        },
      ],
    ],
    [
      'a map with its pairs',
      [
        { map: { ...inTable, name: 'm', type: ['ipv4_addr', 'ifname'], map: 'ipv4_addr' } },
        { element: { ...inTable, name: 'm', elem: [[{ concat: ['10.0.0.2', 'eth1'] }, '10.10.10.50']] } },
      ],
      [
        {
          map: {
            ...inTable,
            name: 'm',
            type: ['ipv4_addr', 'ifname'],
            handle: 1,
            map: 'ipv4_addr',
            elem: [[{ concat: ['10.0.0.2', 'eth1'] }, '10.10.10.50']],
          },
        },
      ],
    ],
  ])('%s', (_, asked, listed) => {
    expectSame(wrap(...asked.map(add)), wrap(...listed))
  })

  it('reads raw values of 64 bits without rounding', () => {
    const listed = `{"nftables":[{"rule":{"family":"inet","table":"egretta","chain":"c","comment":"12345678901234567890",
      "expr":[{"match":{"op":"==","left":{"payload":{"base":"th","offset":64,"len":128}},"right":1311768467463790321}}]}}]}`
    expect(nftables.parse(listed)).toMatchObject([
      { comment: '12345678901234567890', expr: [{ match: { right: '0x0000000000000000123456789abcdef1' } }] },
    ])
  })
})

describe('meaning', () => {
  const chain = (dev: string | null): NftEntry => ({
    kind: 'chain',
    ...table,
    name: 'c',
    hook: { type: 'filter', hook: 'ingress', prio: 0, policy: 'accept', dev },
  })

  it('compares devices only where both are known', () => {
    expect(nftables.same(chain('ens3'), chain(null))).toBe(true)
    expect(nftables.same(chain(null), chain('ens3'))).toBe(true)
    expect(nftables.same(chain('ens3'), chain('ens4'))).toBe(false)
  })

  it('tells apart rules in another order, other policies, other elements of a map', () => {
    const drop: NftEntry = { kind: 'rule', ...table, chain: 'c', index: 0, expr: [{ drop: null }], comment: null }
    expect(nftables.same(drop, { ...drop, expr: [{ accept: null }] })).toBe(false)
    expect(nftables.key(drop)).not.toBe(nftables.key({ ...drop, index: 1 }))
    const element: NftEntry = { kind: 'element', ...table, set: 'm', map: true, value: '10.0.0.1', to: '10.0.0.2', comment: null }
    expect(nftables.key(element)).toBe(nftables.key({ ...element, to: '10.0.0.3' }))
    expect(nftables.same(element, { ...element, to: '10.0.0.3' })).toBe(false)
  })

  it('replaces the symbol of a device', () => {
    expect(deviceSymbols(chain('uplink(br-ex)')).map(({ of }) => of)).toEqual(['br-ex'])
    expect(withDevices(chain('uplink(br-ex)'), new Map([['uplink(br-ex)', 'ens3']]))).toEqual(chain('ens3'))
    expect(deviceSymbols(chain('ens3'))).toEqual([])
  })

  it('replaces the symbol of a device in the key of an element, and nowhere else', () => {
    const element = (device: string): NftEntry => ({
      kind: 'element',
      ...table,
      set: 'm',
      map: true,
      value: { concat: ['10.0.0.1', device] },
      to: '198.51.100.50',
      comment: 'EgressIP/network(198.51.100.0/24)',
    })
    const symbol = 'network(198.51.100.0/24)'
    expect(deviceSymbols(element(symbol)).map(({ name, of }) => [name, of])).toEqual([['network', '198.51.100.0/24']])
    expect(withDevices(element(symbol), new Map([[symbol, 'eth1']]))).toEqual(element('eth1'))
    expect(deviceSymbols(element('eth1'))).toEqual([])
    expect(withDevices(element('eth1'), new Map([[symbol, 'eth1']]))).toEqual(element('eth1'))
    expect(nftables.parse(nftables.print([element(symbol)])).filter(({ kind }) => kind === 'element')).toEqual([element(symbol)])
  })

  it('keeps objects that it has no words for, so that they are not overlooked in a table of ours', () => {
    const listed = wrap({ counter: { ...table, name: 'n', handle: 3, packets: 0, bytes: 0 } })
    expect(nftables.parse(listed)).toEqual([{ kind: 'other', ...table, type: 'counter', name: 'n', body: { packets: 0, bytes: 0 } }])
  })
})

describe('replacing a table', () => {
  it('adds, deletes and adds the table before anything else, then what is named before what names it', () => {
    const entries = nftables.parse(
      wrap(
        add({ rule: { ...table, chain: 'c', expr: [{ jump: { target: 'd' } }] } }),
        add({ element: { ...table, name: 's', elem: ['192.0.2.1'] } }),
        add({ set: { ...table, name: 's', type: 'ipv4_addr' } }),
        add({ chain: { ...table, name: 'd' } }),
        add({ chain: { ...table, name: 'c' } }),
      ),
    )
    const commands = replaceCommands(entries).map((text) => JSON.parse(text) as Record<string, object>)
    expect(commands.map((command) => Object.entries(command).map(([verb, object]) => `${verb} ${Object.keys(object)[0]}`)[0])).toEqual([
      'add table',
      'delete table',
      'add table',
      'add chain',
      'add chain',
      'add set',
      'add element',
      'add rule',
    ])
  })

  it.each([
    [
      '{"nftables":[\n{"add":{"table":{"family":"inet","name":"t"}}},\n{"add":{"rule":{"family":"inet","table":"t","chain":"c"}}}\n]}',
      'line 3: rule without expr',
    ],
    ['{"nftables":[\n{"flush":{"ruleset":null}}\n]}', 'line 2: expected an object'],
    [
      '{"nftables":[\n{"flush":{"table":{"family":"inet","name":"t"}}}\n]}',
      'line 2: the command flush table has no place in a rendered file',
    ],
    [
      '{"nftables":[\n{"add":{"chain":{"family":"inet","table":"t","name":"c","type":"filter","hook":"input","prio":"filter"}}}\n]}',
      'line 2: a base chain needs a numeric prio',
    ],
    ['{"nftables":[\n{"add":\n]}', 'line 2: not JSON'],
    ['[]', 'line 1: expected {"nftables":[…]}'],
  ])('refuses %s', (text, message) => {
    expect(() => nftables.parse(text)).toThrow(message)
  })
})

describe('laws', () => {
  const comment = fc.option(anyFor(), { nil: null })
  const element = fc.tuple(anyAddress(), comment).map(
    ([address, said]): NftEntry => ({
      kind: 'element',
      ...table,
      set: `s${address.family}`,
      map: false,
      value: address.text,
      to: null,
      comment: said,
    }),
  )
  const pair = fc.tuple(anyAddress(4), anyAddress(4), fc.constantFrom('eth1', 'eth2')).map(
    ([from, to, dev]): NftEntry => ({
      kind: 'element',
      ...table,
      set: 'm',
      map: true,
      value: { concat: [from.text, dev] },
      to: to.text,
      comment: null,
    }),
  )
  const chain = anyDevice().map(
    (dev): NftEntry => ({ kind: 'chain', ...table, name: 'c', hook: { type: 'filter', hook: 'ingress', prio: 0, policy: 'accept', dev } }),
  )
  const expr: fc.Arbitrary<readonly Json[]> = fc
    .uniqueArray(anyAddress(), { minLength: 1, maxLength: 4, selector: ({ text }) => text })
    .map((addresses) => [
      { match: { op: '==', left: { payload: { protocol: 'ip6', field: 'saddr' } }, right: anonymous(addresses.map(({ text }) => text)) } },
      { drop: null },
    ])
  const rules = fc
    .array(fc.tuple(expr, comment), { maxLength: 4 })
    .map((list) => list.map(([body, said], index): NftEntry => ({ kind: 'rule', ...table, chain: 'c', index, expr: body, comment: said })))
  const entries = fc
    .tuple(fc.array(fc.oneof(element, pair), { maxLength: 8 }), chain, rules)
    .map(([elements, base, list]): readonly NftEntry[] => [
      { kind: 'table', ...table },
      base,
      { kind: 'set', ...table, name: 's4', type: 'ipv4_addr', map: null, flags: [], options: {} },
      { kind: 'set', ...table, name: 'm', type: ['ipv4_addr', 'ifname'], map: 'ipv4_addr', flags: ['interval'], options: { size: 9 } },
      ...elements,
      ...list,
    ])

  it('are refused with a line where they are damaged', () => {
    const silenced = ['192.0.2.50', '2001:db8::50']
      .flatMap((text) => parseAddress(text) ?? [])
      .map((address) => ({ address, for: 'EgressIP/a' }))
    refusesWhatIsDamaged(nftables, nftables.print(guardTable(silenced, 'ens3', '1.0.6')))
  })

  it('keeps entries over print and parse, whatever their order', () => {
    obeysItsLaws(nftables, entries)
  })
})
