import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PipelineFlow } from '../../src/render/flows.js'
import { PIPELINE } from '../../src/render/pipeline.js'
import { describeWith } from '../requires.js'
import { buildBridges, type Outcome, type TracedBridge, type TracedBridges } from './bridge.js'
import { EGRESS } from './egress.js'
import { INGRESS } from './ingress.js'
import { NEIGHBORS } from './neighbors.js'
import { expectedEffects, type Packet, sent } from './packet.js'
import { REPLIES } from './replies.js'
import { SCENARIOS, type Scenario, WORDS, type Words } from './scenario.js'
import { SERVICES } from './services.js'

const PACKETS: readonly Packet[] = [...EGRESS, ...SERVICES, ...INGRESS, ...REPLIES, ...NEIGHBORS]

/** Rows that no packet can reach here, and why. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  reassemble: 'the userspace data path puts no fragments together: one would come back to table 0 as a fragment, again and again',
}

/** Flows without which every packet fares as it does with them, and why they are there. */
const UNNOTICED: Readonly<Record<string, string>> = {
  'question-to-all IPv6':
    'no other row looks at solicitations to everyone, so NORMAL it is in any case; without IPv6 the row would say less',
}

/** A packet in a scenario and a family. */
interface Case {
  readonly name: string
  readonly packet: Packet
  readonly scenario: Scenario
  readonly words: Words
}

const CASES: ReadonlyMap<Packet, readonly Case[]> = new Map(
  PACKETS.map((packet) => [
    packet,
    SCENARIOS.filter(({ bridge }) => packet.on?.(bridge) ?? true).flatMap((scenario) =>
      WORDS.filter(({ family }) => family === (packet.only ?? family)).map((words) => ({
        name: `${scenario.name} IPv${words.family}`,
        packet,
        scenario,
        words,
      })),
    ),
  ]),
)
const ALL: readonly Case[] = [...CASES.values()].flat()

/** The row of a flow, and the family of its packets where it has one. */
function placeOf({ row, flow }: PipelineFlow): string {
  const protocol = flow.match.find(([, value]) => value === '')?.[0]
  return protocol === undefined ? row.id : `${row.id} IPv${protocol.endsWith('6') ? 6 : 4}`
}

describeWith(['root', 'linux', 'ip', 'ovs'], 'the flow table of the external bridge', () => {
  let bridges: TracedBridges
  const outcomes = new Map<Case, Outcome>()

  beforeAll(() => {
    bridges = buildBridges(SCENARIOS)
  })
  afterAll(() => bridges.close())

  const bridgeOf = ({ name }: Scenario) => bridges.of.get(name) as TracedBridge
  const trace = (one: Case): Outcome => bridgeOf(one.scenario).trace(sent(one.packet, one.scenario, one.words))
  function outcomeOf(one: Case): Outcome {
    const outcome = outcomes.get(one) ?? trace(one)
    outcomes.set(one, outcome)
    return outcome
  }
  const expected = (one: Case): readonly string[] => expectedEffects(one.packet, one.scenario, one.words)
  /** The flows that packets meet, each with the packets that meet it, by place. */
  function meetings(): ReadonlyMap<string, readonly { readonly flow: PipelineFlow; readonly one: Case }[]> {
    const found = new Map<string, { readonly flow: PipelineFlow; readonly one: Case }[]>()
    for (const one of ALL) {
      for (const flow of outcomeOf(one).met) found.set(placeOf(flow), [...(found.get(placeOf(flow)) ?? []), { flow, one }])
    }
    return found
  }

  it.each(PACKETS)('$name', (packet) => {
    const cases = CASES.get(packet) as readonly Case[]
    expect(cases).not.toEqual([])
    const found = cases.map((one) => ({ one, outcome: outcomeOf(one) }))
    expect(
      found.map(({ one, outcome }) => ({ in: one.name, rows: outcome.met.map(({ row }) => row.id), effects: outcome.effects })),
    ).toEqual(cases.map((one) => ({ in: one.name, rows: packet.rows, effects: expected(one) })))
  })

  it('has a packet for each row, in each family of its flows, but for rows that are listed with a reason', () => {
    const rendered = new Set(SCENARIOS.flatMap((scenario) => bridgeOf(scenario).flows.map(placeOf)))
    const rowOf = (place: string): string => place.split(' ')[0] as string
    expect([...meetings().keys()].sort()).toEqual([...rendered].filter((place) => !UNREACHABLE[rowOf(place)]).sort())
    expect([...new Set([...meetings().keys()].map(rowOf)), ...Object.keys(UNREACHABLE)].sort()).toEqual(PIPELINE.map(({ id }) => id).sort())
  })

  it('has in each row and family a flow without which a packet fares otherwise, but for those that are listed with a reason', () => {
    const unnoticed = [...meetings()].filter(
      ([, met]) =>
        !met.some(({ flow, one }) => {
          const { effects } = bridgeOf(one.scenario).without(flow, () => trace(one))
          return JSON.stringify(effects) !== JSON.stringify(expected(one))
        }),
    )
    expect(unnoticed.map(([place]) => place)).toEqual(Object.keys(UNNOTICED))
  })
})
