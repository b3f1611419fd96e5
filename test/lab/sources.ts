import { addressOf } from '../../src/model/address.js'
import { type Recorded, record } from './capture.js'
import type { Namespace } from './netns.js'

/** A packet as it left a network card. */
export interface Sent {
  /** Milliseconds since 1970, with fractions. */
  readonly at: number
  /** `tcp`, `udp`, `icmp`, or the number of another protocol. */
  readonly protocol: string
  /** RFC 5952 */
  readonly source: string
  readonly destination: string
}

export interface Watch {
  /** Ends the watch and gives what was sent, in order of time. Throws when the capture lost packets. */
  stop(): Promise<readonly Sent[]>
}

/** Watches the packets that leave a device: TCP, UDP and echo requests, whatever their source is. Resolves when it listens. */
export async function watchSent(namespace: Namespace, device: string, file: string): Promise<Watch> {
  const echo = '(icmp and icmp[0] == 8) or (icmp6 and ip6[40] == 128)'
  const recording = await record(namespace, device, file, `tcp or udp or ${echo}`, 'out')
  return { stop: async () => (await recording.stop()).flatMap((recorded) => sent(recorded) ?? []) }
}

const PROTOCOLS: Readonly<Record<number, string>> = { 1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmp' }

/** What an untagged frame of IPv4 or IPv6 carries; undefined for others. */
function sent({ at, frame }: Recorded): Sent | undefined {
  const family = { 2048: 4, 34525: 6 }[frame.readUInt16BE(12)] as 4 | 6 | undefined
  if (family === undefined) return undefined
  const [length, from, protocol] = family === 4 ? [4, 26, 23] : [16, 22, 20]
  const text = (start: number): string => addressOf(family, BigInt(`0x${frame.toString('hex', start, start + length)}`)).text
  const number = frame[protocol] ?? 0
  return { at, protocol: PROTOCOLS[number] ?? String(number), source: text(from), destination: text(from + length) }
}

/** How many packets each source sent. */
export function countSources(packets: readonly Sent[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const { source } of packets) counts.set(source, (counts.get(source) ?? 0) + 1)
  return Object.fromEntries([...counts].sort())
}
