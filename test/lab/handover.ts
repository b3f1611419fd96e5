import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { capture, type Heard } from './capture.js'
import { CLIENT, CLIENT_CARD, type LabNode, type Network } from './network.js'
import { announce, ask, speak } from './probe.js'

/** Questions a second and address. */
const ASKED = 20
/** How often a second the old node's own traffic has to find its peer. */
const SPOKEN = 5

/** Addresses that go from one node to another, and what the agents of the two nodes do about it. */
export interface Move {
  readonly addresses: readonly string[]
  readonly from: LabNode
  readonly to: LabNode
  /** The new node takes its new bundle. */
  take(): void
  /** The old node takes its new bundle, which no longer has the addresses. */
  release(): void
  /** The old node takes the shutdown phase of its old bundle; null: it is not guarded. */
  readonly guard: (() => void) | null
}

/** How often something was heard about one address. */
export interface Count {
  readonly questions: number
  readonly oldAnswers: number
  readonly newAnswers: number
  readonly oldClaims: number
}

export interface Report {
  readonly guarded: boolean
  readonly addresses: readonly {
    readonly address: string
    /** Until the hand-over began. */
    readonly before: Count
    /** While both nodes hold the address. */
    readonly during: Count
    /** Since the old node let go. */
    readonly after: Count
    /** From the moment the guard stood to the end; null without a guard. */
    readonly sinceGuard: Count | null
    /** Milliseconds from the last answer of the old node before the new one's first, to that one; null when one of them never answered. */
    readonly silence: number | null
  }[]
}

/**
 * Moves the addresses while a client asks for each of them 20 times a second and the old node has traffic to send from each of
 * them, and counts at the client who speaks for them. `seconds`: how long to listen before, during and after.
 */
export async function handOver(
  network: Network,
  move: Move,
  seconds: readonly [before: number, during: number, after: number],
): Promise<Report> {
  const listening = await capture(network.client, CLIENT_CARD, join(network.dir, `${move.guard ? 'guarded' : 'unguarded'}.pcap`))
  const running = move.addresses.flatMap((address) => {
    const client = address.includes(':') ? CLIENT.ipv6 : CLIENT.ipv4
    return [
      ask(network.client, CLIENT_CARD, client, [address], ASKED),
      speak(move.from.namespace, move.from.bridge, address, client, SPOKEN),
    ]
  })
  const start = Date.now()
  await sleep(seconds[0] * 1000)
  const begin = Date.now()
  move.guard?.()
  const guard = Date.now()
  move.take()
  for (const address of move.addresses) announce(move.to.namespace, move.to.bridge, address)
  const taken = Date.now()
  await sleep(seconds[1] * 1000)
  const release = Date.now()
  move.release()
  const released = Date.now()
  await sleep(seconds[2] * 1000)
  const end = Date.now()
  for (const each of running) each.stop()
  const heard = await listening.stop()
  const [from, to] = [move.from.mac, move.to.mac]
  return {
    guarded: move.guard !== null,
    addresses: move.addresses.map((address) => {
      const about = heard.filter((one) => one.address === address)
      return {
        address,
        before: count(about, from, to, start, begin),
        during: count(about, from, to, taken, release),
        after: count(about, from, to, released, end),
        sinceGuard: move.guard ? count(about, from, to, guard, Number.POSITIVE_INFINITY) : null,
        silence: silence(about, from, to),
      }
    }),
  }
}

/** Counts what was heard in a window. */
export function count(heard: readonly Heard[], from: string, to: string, start: number, end: number): Count {
  const within = heard.filter(({ at }) => at >= start && at < end)
  const number = (kind: Heard['kind'], mac: string | null): number =>
    within.filter((one) => one.kind === kind && (mac === null || one.mac === mac)).length
  return {
    questions: number('question', null),
    oldAnswers: number('answer', from),
    newAnswers: number('answer', to),
    oldClaims: number('claim', from),
  }
}

function silence(heard: readonly Heard[], from: string, to: string): number | null {
  const answers = heard.filter(({ kind }) => kind === 'answer')
  const first = answers.find(({ mac }) => mac === to)
  const last = answers.findLast(({ at, mac }) => mac === from && first !== undefined && at < first.at)
  return first && last ? first.at - last.at : null
}

/**
 * What is wrong with the pair of runs; empty when all is well. The guarded run must not hear the old node once the guard stands,
 * and the unguarded one must hear it: else the measurement could not have failed.
 */
export function faults(unguarded: Report, guarded: Report): readonly string[] {
  const found: string[] = []
  for (const { address, sinceGuard, before, during } of guarded.addresses) {
    if (!sinceGuard || sinceGuard.oldAnswers > 0) found.push(`${address}: the guarded old node answered ${sinceGuard?.oldAnswers} times`)
    if (!sinceGuard || sinceGuard.oldClaims > 0) found.push(`${address}: the guarded old node spoke for it ${sinceGuard?.oldClaims} times`)
    if (before.oldClaims === 0) found.push(`${address}: the old node did not even try to speak before the guard`)
    if (during.newAnswers < during.questions * 0.8)
      found.push(`${address}: the new node answered ${during.newAnswers} of ${during.questions} questions`)
  }
  for (const { address, during } of unguarded.addresses) {
    if (during.oldAnswers < during.questions * 0.8) {
      found.push(
        `${address}: without the guard the old node should have answered, yet did ${during.oldAnswers} times of ${during.questions}`,
      )
    }
  }
  return found
}

/** The reports as a table: one line per address and run. */
export function table(reports: readonly Report[], from: LabNode, to: LabNode): string {
  const cell = ({ questions, oldAnswers, newAnswers, oldClaims }: Count): string[] =>
    [questions, oldAnswers, newAnswers, oldClaims].map(String)
  const head = ['', 'address', ...['before', 'during', 'after'].flatMap((window) => [window, '', '', ''])]
  const under = ['', '', ...Array.from({ length: 3 }, () => ['asked', 'old', 'new', 'claims']).flat()]
  const rows = reports.flatMap(({ guarded, addresses }) =>
    addresses.map(({ address, before, during, after }) => [
      guarded ? 'guarded' : 'unguarded',
      address,
      ...[before, during, after].flatMap(cell),
    ]),
  )
  const all = [head, under, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => (column > 1 && row === head ? 0 : (row[column] ?? '').length))))
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) => (column < 2 || row === head ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)))
      .join('  ')
  return [
    `old = answers of ${from.name} (${from.mac}), new = answers of ${to.name} (${to.mac}),`,
    `claims = ARP, NS and NA of ${from.name} with the address as sender`,
    '',
    ...all.map((row) => line(row).trimEnd()),
  ].join('\n')
}

/** How long each address was silent: from the last answer of the old node to the first of the new one, as one sentence. */
export function silences(report: Report): string {
  const each = report.addresses.map(
    ({ address, silence }) => `${address} ${silence === null ? 'never' : `${(silence / 1000).toFixed(1)} s`}`,
  )
  return `From the old node's last answer to the new node's first: ${each.join(', ')}.`
}
