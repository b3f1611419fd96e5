import { describe, expect, it } from 'vitest'
import { tooManyRemovals } from '../../src/agent/removals.js'
import { type Address, type Prefix, parseAddress, parsePrefix } from '../../src/model/address.js'
import type { Change } from '../../src/model/change.js'
import { OWN_COOKIE } from '../../src/model/numbers.js'
import { diff } from '../../src/plan/diff.js'
import { egressTable } from '../../src/syntax/egress-nat.js'
import type { Entry } from '../../src/syntax/languages.js'
import { type NftEntry, nftables } from '../../src/syntax/nftables.js'
import { type Flow, flow, openflow } from '../../src/syntax/openflow.js'

const COUNT = 20
const marked = (port: number, nat = '192.0.2.50') =>
  Array.from({ length: COUNT }, (_, index) =>
    flow({
      bridge: 'br-ex',
      priority: 105,
      cookie: OWN_COOKIE,
      match: `in_port=${port},ip,pkt_mark=${50_000 + index}`,
      actions: `ct(commit,zone=64000,nat(src=${nat}),exec(set_field:0x4->ct_mark)),output:1`,
    }),
  )

/** Codes of the problems when a bridge that holds `from` is to hold `to`. */
function problems(from: readonly Flow[], to: readonly Flow[], over: { awaited?: readonly Entry[]; moved?: readonly string[] } = {}) {
  const { changes } = diff(openflow(''), to, from)
  const observed = { openflow: { own: from, foreign: [] } }
  const { awaited = [], moved = [] } = over
  return tooManyRemovals(changes as readonly Change<Entry>[], observed, awaited, new Set(moved), 50).map(({ code }) => code)
}

describe('flows that a run would remove', () => {
  it('do not count where the same row comes back with another port', () => {
    expect(problems(marked(2), marked(3))).toEqual([])
    expect(problems(marked(2), marked(3).slice(0, 12))).toEqual([])
    expect(problems(marked(2), marked(3).slice(0, 5))).toEqual(['TooManyRemovals'])
    const others = marked(3).map((each) => ({ ...each, priority: 104 }))
    expect(problems(marked(2), others), 'another row').toEqual(['TooManyRemovals'])
  })

  it('do not count where they wait for their port', () => {
    expect(problems(marked(2), [])).toEqual(['TooManyRemovals'])
    expect(problems(marked(2), [], { awaited: marked(2) })).toEqual([])
  })

  it('do not count where another node has the address', () => {
    expect(problems(marked(2), [], { moved: ['192.0.2.50'] })).toEqual([])
    expect(problems(marked(2), [], { moved: ['192.0.2.51'] })).toEqual(['TooManyRemovals'])
  })
})

describe('what others put into the table of egress IPs', () => {
  const subnet = parsePrefix('10.244.0.0/16') as Prefix
  const pods = Array.from({ length: 40 }, (_, index) => ({
    pod: parseAddress(`10.244.1.${index}`) as Address,
    device: 'eth1',
    address: parseAddress('198.51.100.50') as Address,
    for: 'EgressIP/eip-a',
  }))
  const table = egressTable('local', [subnet], pods)
  const rule = (index: number, chain = 'egress-ip-sec-filter') =>
    ({ kind: 'rule', family: 'inet', table: 'egretta', chain, index, expr: [{ accept: null }], comment: null }) as const
  const problemsOf = (own: readonly NftEntry[], to = table) => {
    const changes = diff(nftables, to, own).changes as readonly Change<Entry>[]
    return tooManyRemovals(changes, { nftables: { own, foreign: [] } }, [], new Set(), 50).map(({ code }) => code)
  }
  const isFilter = (entry: NftEntry) => entry.kind === 'rule' && entry.chain === 'egress-ip-sec-filter'

  it('does not keep the leak filter from coming back', () => {
    const flushed = table.filter((entry) => !isFilter(entry))
    const many = Array.from({ length: 200 }, (_, index) => rule(index))
    expect(problemsOf([...flushed, ...many])).toEqual([])
    const repeated = table
      .filter(isFilter)
      .flatMap((entry) => (entry.kind === 'rule' ? Array.from({ length: 200 }, (_, index) => ({ ...entry, index })) : []))
    expect(problemsOf([...flushed, ...repeated]), 'our own rule, again and again').toEqual([])
    const chains = Array.from(
      { length: 200 },
      (_, index) => ({ kind: 'chain', family: 'inet', table: 'egretta', name: `c${index}`, hook: null }) as const,
    )
    expect(problemsOf([...flushed, ...chains, ...chains.map(({ name }) => rule(0, name))])).toEqual([])
    const moved = table.map((entry) => (isFilter(entry) && entry.kind === 'rule' ? { ...entry, index: entry.index + 200 } : entry))
    expect(problemsOf([...moved, ...many]), 'before our rules').toEqual([])
  })

  it('does not hide that the pods go', () => {
    const many = Array.from({ length: 200 }, (_, index) => rule(index + 10))
    expect(problemsOf([...table, ...many], egressTable('local', [subnet], []))).toEqual(['TooManyRemovals'])
    expect(problemsOf([...table, ...many], [])).toEqual(['TooManyRemovals'])
  })
})
