import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Limits, orderSteps, type PlanStep, type Resident, type Transfer } from '../../src/plan/order.js'

const UNLIMITED: Limits = { ip: null, ipv4: null, ipv6: null }
const of = (limits: Readonly<Record<string, Partial<Limits>>>) => (node: string) => ({ ...UNLIMITED, ...limits[node] })
const told = (steps: readonly PlanStep[]) =>
  steps.map(({ action, egressIP, from, to }) => `${action} ${egressIP} ${from ?? '-'} ${to ?? '-'}`)
const transfer = (egressIP: string, from: string | null, to: string | null, object = `eip-${egressIP}`): Transfer => ({
  egressIP,
  object,
  from,
  to,
})
const standing = (transfers: readonly Transfer[]): readonly Resident[] =>
  transfers.flatMap(({ egressIP, object, from }) => (from === null ? [] : [{ egressIP, object, node: from }]))
const [p, q, r] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as [string, string, string]

describe('orderSteps', () => {
  it('removes first, then moves and adds, without waiting where there is room', () => {
    const transfers = [transfer(p, null, 'a'), transfer(q, 'a', 'b'), transfer(r, 'b', null)]
    expect(told(orderSteps(transfers, standing(transfers), of({})))).toEqual([`remove ${r} b -`, `add ${p} - a`, `move ${q} a b`])
  })

  it('empties a full node before it fills it, and waits in between', () => {
    const transfers = [transfer(p, 'a', 'b'), transfer(q, 'b', 'c')]
    const steps = orderSteps(transfers, standing(transfers), of({ a: { ip: 1 }, b: { ip: 1 }, c: { ip: 1 } }))
    expect(told(steps)).toEqual([`move ${q} b c`, `wait ${q} b -`, `move ${p} a b`])
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3])
  })

  it('swaps two full nodes by removing one address first', () => {
    const transfers = [transfer(p, 'a', 'b'), transfer(q, 'b', 'a')]
    const steps = orderSteps(transfers, standing(transfers), of({ a: { ip: 1 }, b: { ip: 1 } }))
    expect(told(steps)).toEqual([`remove ${p} a -`, `wait ${p} a -`, `move ${q} b a`, `wait ${q} b -`, `add ${p} - b`])
  })

  it('looks at the family that is full', () => {
    const six = '2001:db8::1'
    const transfers = [transfer(p, 'a', 'b'), transfer(six, 'b', 'c')]
    expect(told(orderSteps(transfers, standing(transfers), of({ b: { ipv4: 1, ipv6: 1 } })))).toEqual([`move ${p} a b`, `move ${six} b c`])
  })

  it('never has two addresses of one object on a node', () => {
    const transfers = [transfer(p, 'a', 'b', 'eip'), transfer(q, 'b', 'c', 'eip')]
    expect(told(orderSteps(transfers, standing(transfers), of({})))).toEqual([`move ${q} b c`, `wait ${q} b -`, `move ${p} a b`])
  })

  it('waits for an address that another object gives up', () => {
    const transfers = [transfer(p, 'a', null, 'old'), transfer(p, null, 'b', 'new')]
    expect(told(orderSteps(transfers, standing(transfers), of({})))).toEqual([`remove ${p} a -`, `wait ${p} a -`, `add ${p} - b`])
  })

  it('ends even where the inputs contradict themselves', () => {
    expect(told(orderSteps([transfer(p, null, 'a'), transfer(q, 'a', 'a2')], [], of({ a: { ip: 0 } })))).toEqual([
      `move ${q} a a2`,
      `wait ${q} a -`,
      `add ${p} - a`,
    ])
  })
})

const NODES = ['a', 'b', 'c', 'd']

/** A feasible change: where each address is and shall be, with capacities that both ends respect, often just so. */
const situation = fc
  .array(
    fc.record({
      from: fc.option(fc.constantFrom(...NODES), { nil: null }),
      to: fc.option(fc.constantFrom(...NODES), { nil: null }),
      object: fc.integer({ min: 0, max: 5 }),
      six: fc.boolean(),
    }),
    { maxLength: 14 },
  )
  .chain((drawn) => {
    const taken = new Set<string>()
    /** The first of two addresses of one object on a node. */
    const alone = (object: number, node: string | null, when: string) => {
      const key = `${when} ${object} ${node}`
      if (node === null || taken.has(key)) return null
      taken.add(key)
      return node
    }
    const all = drawn.map(({ from, to, object, six }, at) => ({
      egressIP: six ? `2001:db8::${at + 1}` : `192.0.2.${at + 1}`,
      object: `eip-${object}`,
      from: alone(object, from, 'before'),
      to: alone(object, to, 'after'),
    }))
    const most = (node: string, counts: (address: string) => boolean) =>
      Math.max(...(['from', 'to'] as const).map((end) => all.filter((one) => one[end] === node && counts(one.egressIP)).length))
    const limit = (node: string, counts: (address: string) => boolean) =>
      fc.option(
        fc.integer({ min: 0, max: 1 }).map((spare) => most(node, counts) + spare),
        { nil: null },
      )
    const six = (text: string) => text.includes(':')
    const limits = Object.fromEntries(
      NODES.map((node) => [
        node,
        fc.record({ ip: limit(node, () => true), ipv4: limit(node, (text) => !six(text)), ipv6: limit(node, six) }),
      ]),
    )
    return fc.record({ all: fc.constant(all), limits: fc.record(limits) })
  })

describe('the steps of any change', () => {
  it('never exceed a capacity, never have an address on two nodes or an object twice on one, and end as planned', () => {
    fc.assert(
      fc.property(situation, ({ all, limits }) => {
        const changes = all.filter(({ from, to }) => from !== to)
        const steps = orderSteps(changes, standing(all), (node) => limits[node] as Limits)
        const on = new Map(all.flatMap(({ egressIP, from }) => (from === null ? [] : [[egressIP, from]])))
        /** What has left, and still takes room: the slowest cloud there is. */
        const lingering = new Map<string, string>()
        const objectOf = new Map(all.map(({ egressIP, object }) => [egressIP, object]))
        const check = (node: string) => {
          const there = [...on, ...lingering].filter(([, at]) => at === node).map(([egressIP]) => egressIP)
          const six = there.filter((text) => text.includes(':')).length
          const { ip, ipv4, ipv6 } = limits[node] as Limits
          expect(there.length).toBeLessThanOrEqual(ip ?? there.length)
          expect(six).toBeLessThanOrEqual(ipv6 ?? six)
          expect(there.length - six).toBeLessThanOrEqual(ipv4 ?? there.length)
          expect(new Set(there.map((text) => objectOf.get(text))).size).toBe(there.length)
        }
        for (const [index, { step, action, egressIP, from, to }] of steps.entries()) {
          expect(step).toBe(index + 1)
          if (action === 'wait') {
            expect(lingering.get(egressIP)).toBe(from)
            lingering.delete(egressIP)
            continue
          }
          expect(on.get(egressIP) ?? null).toBe(from)
          if (from !== null) lingering.set(egressIP, from)
          else expect(lingering.has(egressIP)).toBe(false)
          if (to === null) on.delete(egressIP)
          else {
            on.set(egressIP, to)
            check(to)
          }
        }
        expect(Object.fromEntries(on)).toEqual(Object.fromEntries(all.flatMap(({ egressIP, to }) => (to === null ? [] : [[egressIP, to]]))))
      }),
      { numRuns: 500 },
    )
  })
})
