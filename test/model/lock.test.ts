import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf } from '../../src/model/address.js'
import type { Placement } from '../../src/model/assignment.js'
import { type Lock, nextLock, parseLock, printLock } from '../../src/model/lock.js'
import { egressIP, file, lock, plain, read } from './texts.js'

const A = '192.0.2.50'
const B = '192.0.2.51'
const parse = (text: string) => parseLock({ file: 'egretta.lock.json', text, role: 'both' })

const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?$/)
const text = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((value) => addressOf(4, value).text),
  fc.bigInt({ min: 1n << 64n, max: (1n << 128n) - 1n }).map((value) => addressOf(6, value).text),
)
const holding = fc.record({ node: name, seen: fc.option(name) })
const locks: fc.Arbitrary<Lock> = fc
  .dictionary(
    name,
    fc.record(
      { mark: fc.integer({ min: 50000, max: 55000 }), addresses: fc.dictionary(text, holding, { noNullPrototype: true }) },
      { requiredKeys: ['addresses'] },
    ),
  )
  .map(lock)

describe('a lock', () => {
  it('survives print and parse', () => {
    fc.assert(
      fc.property(locks, (written) => {
        const { lock: again, problems } = parse(printLock(written))
        expect(problems).toEqual([])
        expect(again).toEqual(written)
      }),
    )
  })

  it('is printed alike whatever the order it was made in', () => {
    fc.assert(
      fc.property(locks, (written) => {
        const turned = lock(
          Object.fromEntries(
            Object.entries(written.objects)
              .reverse()
              .map(([key, value]) => [key, { ...value, addresses: Object.fromEntries(Object.entries(value.addresses).reverse()) }]),
          ),
        )
        expect(printLock(parse(printLock(turned)).lock as Lock)).toBe(printLock(parse(printLock(written)).lock as Lock))
      }),
    )
  })

  it('is read with addresses in any spelling', () => {
    const written = JSON.stringify(lock({ e: { addresses: { '2001:DB8:0::1': { node: 'n', seen: null } } } }))
    expect(parse(written).lock?.objects.e?.addresses).toEqual({ '2001:db8::1': { node: 'n', seen: null } })
  })

  it.each([
    ['', 1, 'not valid JSON'],
    ['{\n  "apiVersion": 1,\n}', 3, 'not valid JSON'],
    ['{\n<<<<<<< HEAD\n}', 2, 'merge conflict'],
    [JSON.stringify({ ...lock({}), kind: 'Plan' }, null, 1), 3, 'kind must be Lock'],
    [JSON.stringify({ ...lock({}), apiVersion: 'egretta.dev/v2' }, null, 1), 2, 'is of another version: egretta.dev/v2'],
    [JSON.stringify({ ...lock({}), objects: [] }, null, 1), 4, 'objects must be a mapping'],
    [JSON.stringify(lock({ e: { addresses: { x: { node: 'n', seen: null } } } }), null, 1), 7, '"x", which is not an address'],
    [JSON.stringify(lock({ e: { addresses: { [A]: { node: '', seen: null } } } }), null, 1), 8, 'addresses["192.0.2.50"].node'],
  ])('that is none is refused, with the place: %j', (written, line, message) => {
    const { lock: none, problems } = parse(written)
    expect(none).toBeNull()
    expect(problems).toMatchObject([{ code: 'UnreadableInput', source: { file: 'egretta.lock.json', line } }])
    expect(problems[0]?.message).toContain(message)
  })

  it('of another version is not to be removed, but read by the program that wrote it', () => {
    const { problems } = parse(JSON.stringify({ ...lock({}), apiVersion: 'egretta.dev/v1' }))
    expect(problems[0]?.remedy).toBe('Run the egretta that wrote it, or a newer one.')
  })

  it('may begin with a byte order mark', () => expect(parse(`\uFEFF${printLock(lock({}))}`).lock).toEqual(lock({})))
})

describe('who has an address now', () => {
  const there = (status: Readonly<Record<string, string>>) => file('topology', egressIP('eip-a', [A, B], { status }))
  const wanted = file('intent', egressIP('eip-a', [A, B]))
  const decided = (node: string, seen: string | null) => lock({ 'eip-a': { addresses: { [A]: { node, seen } } } })

  it.each([
    ['the status as the lock has seen it: the lock wins', { [A]: 'node-a' }, decided('node-b', 'node-a'), 'node-b'],
    ['another status than the lock has seen: it is newer', { [A]: 'node-c' }, decided('node-b', 'node-a'), 'node-c'],
    ['a status where the lock has seen none', { [A]: 'node-c' }, decided('node-b', null), 'node-c'],
    ['no status, as the lock has seen', {}, decided('node-b', null), 'node-b'],
    ['a status that is gone since', {}, decided('node-b', 'node-a'), undefined],
    ['a status and no lock', { [A]: 'node-a' }, null, 'node-a'],
  ])('%s', (_, status, written, node) => {
    expect(plain(read([wanted, there(status)], written).current)['eip-a']?.[A]).toBe(node)
  })

  it('is what the lock says when the topology does not have the object', () => {
    expect(plain(read([wanted], decided('node-b', 'node-a')).current)).toEqual({ 'eip-a': { [A]: 'node-b' } })
  })

  it('is what the status says where ovnkube decides', () => {
    const advisory = file('topology', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: ovn-kubernetes, name: ovn-config}\n')
    expect(plain(read([wanted, there({ [A]: 'node-a' }), advisory], decided('node-b', 'node-a')).current)).toEqual({
      'eip-a': { [A]: 'node-a' },
    })
  })

  it('may be one node for two addresses of an object', () => {
    expect(plain(read([wanted, there({ [A]: 'node-a', [B]: 'node-a' })], decided('node-b', 'node-a')).current)).toEqual({
      'eip-a': { [A]: 'node-b', [B]: 'node-a' },
    })
  })
})

describe('a removed address', () => {
  it('is one that a status or the lock has and the object no longer asks for', () => {
    const inputs = read(
      [file('intent', egressIP('eip-a', [A])), file('topology', egressIP('eip-a', [A, B], { status: { [A]: 'node-a', [B]: 'node-b' } }))],
      lock({ 'eip-a': { addresses: { [A]: { node: 'node-a', seen: null }, '192.0.2.52': { node: 'node-c', seen: null } } } }),
    )
    expect(inputs.intent.removed).toEqual([
      { object: 'eip-a', egressIP: B, node: 'node-b' },
      { object: 'eip-a', egressIP: '192.0.2.52', node: 'node-c' },
    ])
  })

  it('is one of a locked object that is nowhere any more', () => {
    const inputs = read(
      [file('intent', egressIP('eip-a', [A]))],
      lock({ gone: { addresses: { [B]: { node: 'node-b', seen: 'node-b' } } } }),
    )
    expect(inputs.intent.removed).toEqual([{ object: 'gone', egressIP: B, node: 'node-b' }])
  })

  it('is none of an object that is wrong: what it asks for is not known', () => {
    const broken = egressIP('eip-a', [A]).replace('namespaceSelector', 'namespaceSelecter')
    const inputs = read([file('intent', broken)], lock({ 'eip-a': { addresses: { [B]: { node: 'node-b', seen: null } } } }))
    expect(inputs.intent.removed).toEqual([])
  })

  it('is asked for in another spelling and so is none', () => {
    const inputs = read(
      [file('intent', egressIP('eip-a', ['2001:DB8::0:1']))],
      lock({ 'eip-a': { addresses: { '2001:db8::1': { node: 'node-b', seen: null } } } }),
    )
    expect(inputs.intent.removed).toEqual([])
  })
})

describe('the next lock', () => {
  const assignment = (object: string, egressIP: string, node: string | null) =>
    ({ object, egressIP, node }) as Placement['assignments'][number]
  const placement = (assignments: Placement['assignments'], marks: readonly [string, number][] = []): Placement => ({
    assignments,
    marks: new Map(marks),
    unassigned: [],
    optimalityGap: 0,
    problems: [],
  })

  it('holds what was decided, what the status said, and the marks', () => {
    const inputs = read([
      file('intent', egressIP('eip-b', [B]), egressIP('eip-a', ['2001:db8::1', A])),
      file('topology', egressIP('eip-a', [A], { status: { [A]: 'node-c' } })),
    ])
    const decided = placement(
      [assignment('eip-a', '2001:db8::1', 'node-a'), assignment('eip-a', A, 'node-b'), assignment('eip-a', '192.0.2.99', null)],
      [['eip-b', 50003]],
    )
    expect(nextLock(inputs, decided)).toEqual(
      lock({
        'eip-a': { addresses: { [A]: { node: 'node-b', seen: 'node-c' }, '2001:db8::1': { node: 'node-a', seen: null } } },
        'eip-b': { mark: 50003, addresses: {} },
      }),
    )
  })

  it('keeps the mark of an object that is wrong for now, and forgets one that is gone', () => {
    const before = lock({
      'eip-a': { mark: 50001, addresses: { [A]: { node: 'node-a', seen: null } } },
      gone: { mark: 50002, addresses: {} },
    })
    const inputs = read([file('intent', egressIP('eip-a', [A]).replace('namespaceSelector', 'x'))], before)
    expect(nextLock(inputs, placement([]))).toEqual(lock({ 'eip-a': { mark: 50001, addresses: {} } }))
  })

  it('read back makes every address stay', () => {
    const files = [file('intent', egressIP('eip-a', [A])), file('topology', egressIP('eip-a', [A], { status: { [A]: 'node-c' } }))]
    const next = nextLock(read(files), placement([assignment('eip-a', A, 'node-b')]))
    expect(plain(read(files, parse(printLock(next)).lock).current)).toEqual({ 'eip-a': { [A]: 'node-b' } })
  })
})
