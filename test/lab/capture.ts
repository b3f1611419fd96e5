import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressOf } from '../../src/model/address.js'
import { type Namespace, until } from './netns.js'

/**
 * What one frame says about an address:
 * `question`: somebody else asks who has it;
 * `answer`: a reply to such a question, from a station that says it has it;
 * `claim`: any other frame with the address as its sender (an ARP request or announcement, a neighbor solicitation from it or a
 * duplicate address detection for it, an unsolicited neighbor advertisement).
 */
export type Kind = 'question' | 'answer' | 'claim'

export interface Heard {
  /** Milliseconds since 1970, with fractions. */
  readonly at: number
  /** Ethernet source. */
  readonly mac: string
  readonly kind: Kind
  /** RFC 5952 */
  readonly address: string
}

export interface Capture {
  /** What was heard so far, in order of time. */
  read(): readonly Heard[]
  /** Ends the capture and gives what was heard, in order of time. */
  stop(): Promise<readonly Heard[]>
}

/** Records ARP and neighbor discovery on a device, as frames arrive there. Resolves when tcpdump listens. */
export async function capture(namespace: Namespace, device: string, file: string): Promise<Capture> {
  const recording = await record(namespace, device, file, 'arp or icmp6')
  const hear = (frames: readonly Recorded[]) => frames.flatMap(({ at, frame }) => heard(at, frame))
  return { read: () => hear(recording.read()), stop: async () => hear(await recording.stop()) }
}

/** One frame of a capture; `at` in milliseconds since 1970. */
export interface Recorded {
  readonly at: number
  readonly frame: Buffer
}

/**
 * Records the frames of a device that pass a filter (pcap-filter(7)), the first 200 bytes of each; with `direction` only those that leave it
 * or arrive. Resolves when tcpdump listens.
 */
export async function record(
  namespace: Namespace,
  device: string,
  file: string,
  filter: string,
  direction: 'in' | 'out' | 'inout' = 'inout',
): Promise<{ read(): readonly Recorded[]; stop(): Promise<readonly Recorded[]> }> {
  const options = ['-i', device, '-n', '-s', '200', '-U', '--immediate-mode', '-B', '8192', '-Z', 'root', '-Q', direction, '-w', file]
  const child = namespace.spawn('tcpdump', [...options, filter], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.on('data', (bytes: Buffer) => {
    said += bytes.toString()
  })
  await until('tcpdump that listens', 10, () => {
    if (child.exitCode !== null) throw new Error(`tcpdump: ${said}`)
    return said.includes('listening on')
  })
  const read = (): readonly Recorded[] => [...packets(readFileSync(file))]
  return {
    read,
    stop: async () => {
      await sleep(200)
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      const dropped = /(\d+) packets? dropped by kernel/.exec(said)?.[1]
      if (dropped !== '0') throw new Error(`tcpdump lost packets: ${said}`)
      return read()
    },
  }
}

/** The packets of a capture file in the classic format of libpcap (man 5 pcap-savefile), either byte order, micro- or nanoseconds. */
export function* packets(file: Buffer): Generator<Recorded> {
  const magic = file.readUInt32LE(0).toString(16)
  const little = magic === 'a1b2c3d4' || magic === 'a1b23c4d'
  const word = (offset: number): number => (little ? file.readUInt32LE(offset) : file.readUInt32BE(offset))
  const perMilli = word(0) === 0xa1b23c4d ? 1e6 : 1e3
  for (let offset = 24; offset + 16 <= file.length; ) {
    const length = word(offset + 8)
    const frame = file.subarray(offset + 16, offset + 16 + length)
    if (frame.length < length) return
    yield { at: word(offset) * 1000 + word(offset + 4) / perMilli, frame }
    offset += 16 + length
  }
}

/** What a frame says: an ARP packet (RFC 826), a neighbor solicitation or advertisement (RFC 4861), else nothing. */
export function heard(at: number, frame: Buffer): readonly Heard[] {
  const mac = frame.toString('hex', 6, 12).replace(/..(?=.)/g, '$&:')
  const type = frame.length >= 14 ? frame.readUInt16BE(12) : 0
  const say = (kind: Kind, family: 4 | 6, from: number): Heard => ({ at, mac, kind, address: text(frame, family, from) })
  if (type === 0x0806 && frame.length >= 42) {
    const [sender, target] = [text(frame, 4, 28), text(frame, 4, 38)]
    const answers = frame.readUInt16BE(20) === 2 && target !== sender && !frame.subarray(0, 6).equals(BROADCAST)
    if (answers) return [say('answer', 4, 28)]
    return [...(sender === '0.0.0.0' ? [] : [say('claim', 4, 28)]), ...(target === sender ? [] : [say('question', 4, 38)])]
  }
  if (type !== 0x86dd || frame.length < 78 || frame[20] !== 58) return []
  if (frame[54] === 136) return [say((frame[58] ?? 0) & SOLICITED ? 'answer' : 'claim', 6, 62)]
  if (frame[54] !== 135) return []
  if (text(frame, 6, 22) === '::') return [say('claim', 6, 62)]
  return [say('claim', 6, 22), say('question', 6, 62)]
}

const BROADCAST = Buffer.alloc(6, 0xff)
const SOLICITED = 0x40

const text = (frame: Buffer, family: 4 | 6, from: number): string =>
  addressOf(family, BigInt(`0x${frame.toString('hex', from, from + (family === 4 ? 4 : 16))}`)).text
