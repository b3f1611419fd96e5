import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addresses } from '../../src/syntax/addresses.js'
import { SyntaxFault } from '../../src/syntax/language.js'
import { languageOf } from '../../src/syntax/languages.js'
import { neighbors } from '../../src/syntax/neighbors.js'
import { anyAddress, anyDevice, anyFor, anyMac, anyPrefix } from './arbitrary.js'
import { obeysItsLaws, refusesWhatIsDamaged } from './laws.js'

const someFor = fc.option(anyFor(), { nil: null })

describe('addresses.json', () => {
  it('keeps entries over print and parse, whatever their order', () => {
    obeysItsLaws(addresses, fc.array(fc.record({ address: anyPrefix(), dev: anyDevice(), for: someFor })))
  })

  it('has one entry per line, IPv4 first, then by value', () => {
    const text = `[
  {"address":"192.0.2.9/32","dev":"br-ex","for":"EgressIP/b"},
  {"address":"192.0.2.50/32","dev":"br-ex","for":"EgressIP/a"},
  {"address":"2001:db8::50/128","dev":"br-ex"}
]
`
    expect(addresses.print([...addresses.parse(text)].reverse())).toBe(text)
    expect(addresses.print([])).toBe('[]\n')
  })

  it('is refused with a line where it is damaged', () => {
    refusesWhatIsDamaged(
      addresses,
      '[\n  {"address":"192.0.2.9/32","dev":"br-ex","for":"EgressIP/b"},\n  {"address":"2001:db8::50/128","dev":"br-ex"}\n]\n',
    )
    refusesWhatIsDamaged(neighbors, '[\n  {"dst":"169.254.0.1","lladdr":"0a:58:a9:fe:00:01","dev":"br-ex","for":"Node/node-a"}\n]\n')
  })

  it('reads any spelling of an address', () => {
    expect(addresses.parse('[{"address":"2001:DB8:0:0::50/128","dev":"br-ex"}]').map(addresses.key)).toEqual(['2001:db8::50/128 dev br-ex'])
  })

  it.each([
    ['[\n  {"address":"192.0.2.50","dev":"br-ex"}\n]', 'line 2: "192.0.2.50" is not an address with a prefix length'],
    ['[\n  {"address":"192.0.2.50/32","dev":"br-ex"},\n  {"address":"192.0.2.51/32"}\n]', 'line 3: "dev" is missing'],
    ['[\n  {"address":"192.0.2.50/32","dev":"br-ex","valid":1}\n]', 'line 2: unknown field "valid"'],
    ['[\n  "192.0.2.50/32"\n]', 'line 2: expected an object'],
    ['{}', 'line 1: expected an array'],
  ])('refuses %s', (text, message) => {
    expect(() => addresses.parse(text)).toThrow(new SyntaxFault(Number(/\d+/.exec(message)), message.replace(/^line \d+: /, '')))
  })

  it('names the line where the text stops being JSON', () => {
    expect(() => addresses.parse('[\n  {"address":"192.0.2.50/32","dev":"br-ex"},\n  {"address":oops}\n]\n')).toThrow(/^line 3: not JSON/)
  })
})

describe('neighbors.json', () => {
  it('keeps entries over print and parse, whatever their order', () => {
    obeysItsLaws(neighbors, fc.array(fc.record({ dst: anyAddress(), lladdr: anyMac(), dev: anyDevice(), for: someFor })))
  })

  it('takes a neighbor with another hardware address for another meaning of the same key', () => {
    const [a, b] = neighbors.parse(
      '[{"dst":"169.254.0.1","lladdr":"0A:58:A9:FE:00:01","dev":"br-ex"},{"dst":"169.254.0.1","lladdr":"0a:58:a9:fe:00:02","dev":"br-ex","for":"Node/a"}]',
    )
    if (!a || !b) throw new Error('two entries')
    expect(neighbors.key(a)).toBe(neighbors.key(b))
    expect(neighbors.same(a, b)).toBe(false)
    expect(neighbors.same(a, { ...a, for: 'Node/a' })).toBe(true)
    expect(a.lladdr).toBe('0a:58:a9:fe:00:01')
  })

  it('refuses what is no hardware address', () => {
    expect(() => neighbors.parse('[\n{"dst":"169.254.0.1","lladdr":"0a:58:a9:fe:00","dev":"br-ex"}]')).toThrow(
      'line 2: "0a:58:a9:fe:00" is not a hardware address',
    )
  })
})

describe('languageOf', () => {
  it.each([
    ['addresses.json', 'addresses'],
    ['neighbors.json', 'neighbors'],
    ['nftables.json', 'nftables'],
    ['guard.nftables.json', 'nftables'],
    ['openflow.br-ex.flows', 'openflow'],
    ['guard.openflow.br.ex.flows', 'openflow'],
  ])('knows %s', (path, subsystem) => {
    expect(languageOf(path)?.subsystem).toBe(subsystem)
    expect(languageOf(path)?.language.subsystem).toBe(subsystem)
  })

  it('binds the flows of a file to its bridge', () => {
    expect(languageOf('guard.openflow.breth0.flows')?.language.parse('priority=1,actions=drop')).toMatchObject([{ bridge: 'breth0' }])
  })

  it.each(['bundle.json', 'openflow.flows', 'other.nftables.json', 'openflow.a/b.flows', 'x/addresses.json'])('knows no %s', (path) => {
    expect(languageOf(path)).toBeNull()
  })
})
