import { describe, expect, it } from 'vitest'
import type { Assignment, Unassigned } from '../../src/model/assignment.js'
import type { Inputs } from '../../src/model/inputs.js'
import { problem } from '../../src/model/problem.js'
import type { Plan } from '../../src/plan/index.js'
import { hasDifferences } from '../../src/plan/index.js'
import { objectChange } from '../../src/plan/object-change.js'
import { PLAIN, wrap } from '../../src/plan/style.js'
import { countProblems, viewPlan, viewProblems } from '../../src/plan/view.js'

const kept: Assignment = {
  egressIP: '192.0.2.50',
  object: 'eip-a',
  node: 'node-a',
  network: '192.0.2.0/24',
  networkType: 'primary',
  interface: null,
  change: 'keep',
  from: null,
  certain: true,
}
const refusal: Unassigned = {
  egressIP: '192.0.2.12',
  object: 'eip-b',
  reason: 'NoAvailableNode',
  message: 'None of the two matching nodes can take 192.0.2.12.',
  from: 'node-b',
  reasons: { NotReady: 1, Unreachable: 1 },
  nodes: [
    { node: 'node-b', reason: 'NotReady' },
    { node: 'node-c', reason: 'Unreachable' },
  ],
}
const source = { file: 'intent/b.yaml', line: 6, column: 7 }
const refused = problem('NoAvailableNode', { object: 'eip-b', message: refusal.message, source })
const other = problem('InvalidNode', { object: 'Node/node-d', message: 'node-d has an annotation that is no JSON.', source: null })

function planOf(over: Partial<Plan>): Plan {
  const assignments = over.assignments ?? [kept]
  const count = (change: string) => assignments.filter((one) => one.change === change).length
  const unassigned = over.unassigned ?? []
  const assigned = assignments.length - count('remove')
  return {
    apiVersion: 'egretta.dev/v1alpha1',
    kind: 'Plan',
    inputDigest: '0'.repeat(64),
    placement: 'enforced',
    summary: {
      addresses: assigned + unassigned.length,
      assigned,
      unassigned: unassigned.length,
      kept: count('keep'),
      added: count('add'),
      moved: count('move'),
      removed: count('remove'),
      podsAffected: 1,
    },
    assignments,
    unassigned,
    steps: [],
    nodes: [],
    problems: [],
    ...over,
  }
}

const inputs = {
  intent: { objects: [{}, {}], invalid: [], foreign: [], removed: [] },
  topology: { nodes: [{}, {}, {}], ignored: new Map() },
  cluster: { placementReason: 'Cluster.spec.placement says so' },
} as unknown as Inputs
const notes = { inputs, objects: [] }

const CHANGING = planOf({
  assignments: [
    kept,
    { ...kept, egressIP: '192.0.2.51', change: 'add' },
    { ...kept, egressIP: '2001:db8::51', change: 'move', node: 'node-c', from: 'node-b', network: '2001:db8::/64', certain: false },
    { ...kept, egressIP: '192.0.2.60', object: 'eip-old', change: 'remove', node: null, network: null, networkType: null, from: 'node-b' },
  ],
  unassigned: [refusal],
  nodes: [
    { node: 'node-a', changes: { addresses: { add: 1, update: 0, delete: 0 }, openflow: { add: 2, update: 1, delete: 3 } } },
    { node: 'node-bb', changes: { addresses: { add: 0, update: 0, delete: 1 } } },
  ],
  problems: [refused, other],
})

describe('viewPlan', () => {
  it('has one line for each change, refusals with the reason and what to do, hosts and a summary', () => {
    expect(viewPlan(CHANGING, notes, PLAIN)).toBe(`Plan for 2 EgressIPs with 4 addresses on 3 nodes
placement: enforced, because Cluster.spec.placement says so; egretta decides which node has an address

  + 192.0.2.51    eip-a    on node-a         primary network 192.0.2.0/24
  ~ 2001:db8::51  eip-a    node-b -> node-c  primary network 2001:db8::/64, predicted
  - 192.0.2.60    eip-old  from node-b

  ! 192.0.2.12  eip-b  NoAvailableNode  leaves node-b  intent/b.yaml:6:7
      None of the two matching nodes can take 192.0.2.12.
      nodes: node-b NotReady, node-c Unreachable
      ${refused.remedy}

Hosts:
  node-a   addresses +1, openflow +2 ~1 -3
  node-bb  addresses -1

Problems:
  warning InvalidNode Node/node-d: node-d has an annotation that is no JSON.
      ${other.remedy}

Plan: 1 to add, 1 to move, 1 to remove, 1 kept, 1 refused; 2 hosts change, 1 pod changes its source address.
1 error, 1 warning.
`)
  })
  it('says plainly that nothing changes', () => {
    expect(viewPlan(planOf({}), notes, PLAIN)).toBe(`Plan for 2 EgressIPs with 1 address on 3 nodes
placement: enforced, because Cluster.spec.placement says so; egretta decides which node has an address

No changes. 1 address stays where it is.
`)
    const lines = viewPlan(planOf({ unassigned: [{ ...refusal, from: null }], problems: [refused] }), notes, PLAIN).split('\n')
    expect(lines).toContain('No changes. 1 address stays where it is, 1 refused.')
  })
  it('counts what is not ours and what is of no concern', () => {
    const foreign = [{ status: new Map([['192.0.2.80', 'node-a']]) }, { status: new Map([['192.0.2.81', 'node-a']]) }]
    const crowded = {
      ...inputs,
      intent: { ...inputs.intent, foreign },
      topology: {
        ...inputs.topology,
        ignored: new Map([
          ['Service', 2],
          ['Deployment', 1],
        ]),
      },
    } as unknown as Inputs
    const text = viewPlan(planOf({}), { inputs: crowded, objects: [] }, PLAIN)
    expect(text).toContain('2 other EgressIPs of the cluster keep their 2 addresses; the intent does not mention them\n')
    expect(text).toContain('objects of no concern: 1 Deployment, 2 Service\n')
  })
  it('keeps to the width of a terminal', () => {
    const lines = viewPlan(CHANGING, notes, { color: false, width: 60 }).split('\n')
    const prose = lines.filter((line) => !/^ {2}[-+~!] /.test(line))
    expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(60)
  })
  it('colours the symbols, and only them and titles, when asked to', () => {
    const text = viewPlan(CHANGING, notes, { color: true, width: 200 })
    expect(text).toContain('\u001b[32m+\u001b[39m 192.0.2.51')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes are what is tested
    expect(text.replace(/\u001b\[\d+m/g, '')).toBe(viewPlan(CHANGING, notes, { color: false, width: 200 }))
  })
  it('shows how one object changed', () => {
    const change = objectChange('eip-a', { spec: { egressIPs: ['192.0.2.50'] } }, { spec: { egressIPs: ['192.0.2.50', '192.0.2.51'] } })
    expect(change?.lines.filter((line) => line.startsWith('+'))).toEqual(['+    "192.0.2.51"'])
    expect(objectChange('eip-a', { a: 1 }, { a: 1 })).toBeNull()
    const many = Array.from({ length: 40 }, (_, i) => `192.0.2.${i}`)
    expect(objectChange('eip-a', { spec: [] }, { spec: many })?.lines).toEqual(['  40 lines of its spec differ; see its manifest'])
    expect(viewPlan(CHANGING, { inputs, objects: change ? [change] : [] }, PLAIN)).toContain('Objects:\n  EgressIP/eip-a\n')
    const alone = viewPlan(planOf({}), { inputs, objects: change ? [change] : [] }, PLAIN)
    expect(alone).toContain('1 kept; 1 object changes, 0 hosts change, 1 pod changes its source address.')
    expect(alone).not.toContain('No changes')
  })
})

describe('viewProblems', () => {
  it('begins each problem with its place, as editors and CI read it', () => {
    expect(viewProblems([refused], PLAIN)).toBe(
      `intent/b.yaml:6:7: error NoAvailableNode eip-b: ${refused.message}\n    ${refused.remedy}\n`,
    )
    expect(countProblems([refused, other, other])).toBe('1 error, 2 warnings')
  })
})

describe('what stands in a file', () => {
  const evil = 'x\u001b[2J\r\n::error::\u202ey'
  const shown = 'x\\u001b[2J\\u000d\\u000a::error::\\u202ey'

  it('steers no terminal and begins no line', () => {
    const found = problem('InvalidAddress', { object: evil, message: evil, source: { ...source, file: evil } })
    expect(viewProblems([found], PLAIN)).toContain(`${shown}:6:7: error InvalidAddress ${shown}: ${shown}\n`)
    const refusals = [{ ...refusal, egressIP: evil, object: evil, message: evil }]
    const assignments = [{ ...kept, change: 'remove' as const, object: evil, from: evil }]
    const objects = [{ object: evil, lines: [`+ ${evil}`] }]
    const text = viewPlan(planOf({ unassigned: refusals, assignments }), { inputs, objects }, PLAIN)
    expect(text.split(shown)).toHaveLength(8)
    expect(text).not.toMatch(/[^\P{Cc}\n]|\u202e/u)
  })
})

describe('hasDifferences', () => {
  it('counts changed addresses, lost addresses and changed hosts, not what is kept or was refused before', () => {
    expect(hasDifferences(planOf({}), [])).toBe(false)
    expect(hasDifferences(planOf({ unassigned: [{ ...refusal, from: null }] }), [])).toBe(false)
    expect(hasDifferences(planOf({ unassigned: [refusal] }), [])).toBe(true)
    expect(hasDifferences(CHANGING, [])).toBe(true)
    expect(hasDifferences(planOf({ nodes: CHANGING.nodes }), [])).toBe(true)
    expect(hasDifferences(planOf({}), [{ object: 'eip-a', lines: ['+ x'] }])).toBe(true)
  })
})

describe('wrap', () => {
  it('breaks at blanks and leaves longer words alone', () => {
    expect(wrap({ color: false, width: 10 }, '  ', 'one two three-hundred four')).toEqual(['  one two', '  three-hundred', '  four'])
  })
})
