import { join } from 'node:path'
import type { Namespace } from './netns.js'
import type { Running } from './probe.js'

const script = (name: string): string => join(import.meta.dirname, name)

/** Port of the stations that say which source they saw. */
export const STATION_PORT = 7
/** A port where nobody listens. */
const DISCARD_PORT = 9

/** Starts a station on the addresses; it answers TCP and UDP with the source that it saw. Resolves when it listens. */
export async function serve(namespace: Namespace, addresses: readonly string[]): Promise<Running> {
  const child = namespace.spawn('perl', [script('station.pl'), String(STATION_PORT), ...addresses], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve())
    child.once('exit', (code) => reject(new Error(`station.pl ended with ${code}`)))
  })
  return { stop: () => void child.kill('SIGTERM') }
}

/**
 * The source that a station says it saw when `source` of the namespace comes, over TCP or UDP; for ICMP `answered`, which no station
 * can say more about. `no answer` where nothing comes for a second and a half.
 */
export async function visit(
  namespace: Namespace,
  protocol: 'tcp' | 'udp' | 'icmp',
  source: string,
  target: string,
  sourcePort?: number,
): Promise<string> {
  const words = [protocol, source, target, String(STATION_PORT), ...(sourcePort === undefined ? [] : [String(sourcePort)])]
  const child = namespace.spawn('perl', [script('visit.pl'), ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout?.on('data', (bytes: Buffer) => {
    said += bytes.toString()
  })
  const status = await new Promise((resolve) => child.once('close', resolve))
  return status === 0 ? said.trim() : 'no answer'
}

/** Sends UDP to a port where nobody listens, `rate` packets a second: every packet a `new` flow, or all of them `one`. */
export function stream(namespace: Namespace, flows: 'new' | 'one', source: string, target: string, rate: number): Running {
  const args = [script('stream.pl'), flows, source, target, String(DISCARD_PORT), String(rate)]
  const child = namespace.spawn('perl', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  return { stop: () => void child.kill('SIGTERM') }
}

/** Sends resets of connections that never were: connection tracking calls them invalid and does not translate their source. */
export const stray = (namespace: Namespace, source: string, target: string, count: number): void =>
  void namespace.exec('perl', [script('stray.pl'), source, target, String(count)])
