import { describe, expect, it } from 'vitest'
import { tooManyRemovals } from '../../src/agent/removals.js'
import type { Change } from '../../src/model/change.js'
import { OWN_COOKIE } from '../../src/model/numbers.js'
import { diff } from '../../src/plan/diff.js'
import type { Entry } from '../../src/syntax/languages.js'
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
