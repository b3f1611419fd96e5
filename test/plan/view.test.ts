import { describe, expect, it } from 'vitest'
import type { Inputs } from '../../src/model/inputs.js'
import { problem } from '../../src/model/problem.js'
import { hasDifferences } from '../../src/plan/index.js'
import { objectChange } from '../../src/plan/object-change.js'
import { countProblems } from '../../src/plan/phrases.js'
import { PLAIN, wrap } from '../../src/plan/style.js'
import { viewPlan, viewProblems } from '../../src/plan/view.js'
import { CHANGING, inputs, kept, LOSSES, notes, other, planOf, refusal, refused, source } from './plans.js'

describe('viewPlan', () => {
  it('has one line for each change, refusals with the reason and what to do, hosts and a summary', () => {
    expect(viewPlan(CHANGING, notes, PLAIN)).toBe(`Plan for 2 EgressIPs with 4 addresses on 3 nodes
placement: enforced, because Cluster.spec.placement says so; egretta decides which node has an address

  + 192.0.2.51    eip-a    on node-a         primary network 192.0.2.0/24
  ~ 2001:db8::51  eip-a    node-b -> node-c  primary network 2001:db8::/64, predicted
      3 pods use it: their established connections break; node-c does not have the network shop_blue yet, as far as the topology shows: traffic of its pods may wait until it is rendered there
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
    const refusals = lines.filter((line) => line.startsWith('  ! '))
    expect(refusals).toHaveLength(1)
    const others = lines.filter((line) => !refusals.includes(line))
    expect(Math.max(...others.map((line) => line.length))).toBeLessThanOrEqual(60)
    expect(lines).toContain('  + 192.0.2.51    eip-a    on node-a')
    expect(lines).toContain('      primary network 192.0.2.0/24')
  })
  it('says of every move how many pods use the address, and that their connections break', () => {
    const moved = { egressIP: '192.0.2.50', object: 'eip-a', node: 'node-c', from: 'node-b' }
    const said = (pods: number, networks: readonly string[] = []) =>
      viewPlan(
        planOf({
          assignments: [{ ...kept, change: 'move', node: 'node-c', from: 'node-b' }],
          disruptions: [{ ...moved, pods, networks }],
        }),
        notes,
        PLAIN,
      ).split('\n')[4]
    expect(said(0)).toBe('      no pod uses it')
    expect(said(1)).toBe('      1 pod uses it: its established connections break')
    expect(said(2, ['a', 'b'])).toBe(
      '      2 pods use it: their established connections break; node-c does not have the networks a and b yet, as far as the topology shows: traffic of their pods may wait until they are rendered there',
    )
  })
  it('does not say that no pod is affected where the inputs have none', () => {
    const without = { inputs: { ...inputs, topology: { ...inputs.topology, pods: [] } }, objects: [] }
    const plan = planOf({
      summary: { ...CHANGING.summary, podsAffected: 0 },
      assignments: [{ ...kept, change: 'move', node: 'node-c', from: 'node-b' }],
      disruptions: [{ egressIP: '192.0.2.50', object: 'eip-a', node: 'node-c', from: 'node-b', pods: 0, networks: [] }],
    })
    const text = viewPlan({ ...plan, summary: { ...plan.summary, moved: 1 } }, without, PLAIN)
    expect(text).toContain('0 hosts change, how many pods change their source address is unknown (no pods in the inputs).')
    expect(text).not.toMatch(/no pod uses|0 pods/)
  })
  it('says with which options it was made, and with what it is compared', () => {
    const options = { drain: ['node-a'], down: ['node-b'], rebalance: 'all' as const }
    const text = viewPlan(planOf({ options, previous: { name: 'old.json', inputDigest: '1'.repeat(64) } }), notes, PLAIN)
    expect(text).toContain(
      '\noptions: --drain node-a --down node-b --rebalance\ncompared with old.json instead of the current assignment\n',
    )
  })
  it('colours the symbols, and only them and titles, when asked to', () => {
    const text = viewPlan(CHANGING, notes, { color: true, width: 200 })
    expect(text).toContain('\u001b[32m+\u001b[39m 192.0.2.51')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes are what is tested
    expect(text.replace(/\u001b\[\d+m/g, '')).toBe(viewPlan(CHANGING, notes, { color: false, width: 200 }))
  })
  it('says what the loss of one node would mean, where that was asked', () => {
    expect(viewPlan(planOf({ nMinusOne: LOSSES }), notes, PLAIN)).toContain(`Without one node:
  2 of 3 egress nodes cannot be lost: not all addresses would find another.
  ! node-a  2 of its 3 addresses would find no other node
      192.0.2.50 of eip-a (CapacityExhausted) and 192.0.2.51 of eip-b (CapacityExhausted)
      capacity for 2 addresses more on its other candidates would do
  ! node-b  its address would find no other node
      192.0.2.52 of eip-b (AntiColocation)
  1 more node would do: one like node-a (for node-a); for node-b one node does not do
`)
    const fine = { egressNodes: 3, losses: [], spares: [] }
    expect(viewPlan(planOf({ nMinusOne: fine }), notes, PLAIN)).toContain(
      'Without one node:\n  Without any one of 3 egress nodes every address that has a node would still have one.\n',
    )
    expect(viewPlan(planOf({ nMinusOne: { ...fine, egressNodes: 0 } }), notes, PLAIN)).toContain('  There is no egress node to lose.\n')
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
