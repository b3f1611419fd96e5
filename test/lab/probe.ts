import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Namespace } from './netns.js'

const script = (name: string): string => join(import.meta.dirname, name)

/** Something that goes on until it is stopped. */
export interface Running {
  stop(): void
}

const running = (child: ChildProcess): Running => ({ stop: () => void child.kill('SIGTERM') })

/**
 * Asks for addresses of one family, one after the other, `rate` questions a second, from `source` on `device`: ARP requests or neighbor
 * solicitations as raw frames.
 */
export const ask = (namespace: Namespace, device: string, source: string, targets: readonly string[], rate: number): Running =>
  running(namespace.spawn('perl', [script('ask.pl'), device, source, String(rate), ...targets], { stdio: ['ignore', 'ignore', 'inherit'] }))

/**
 * Sends traffic from `source` to `peer`, and lets the kernel forget the peer's MAC each time, so that it has to ask for it with
 * `source` as the sender: a node that still wants to speak for an address.
 */
export const speak = (namespace: Namespace, device: string, source: string, peer: string, rate: number): Running =>
  running(namespace.spawn('perl', [script('speak.pl'), device, source, peer, String(rate)], { stdio: ['ignore', 'ignore', 'inherit'] }))

/**
 * Says that `address` is here now, three times a second apart: IPv4 as gratuitous ARP request and reply, IPv6 as unsolicited
 * neighbor advertisement to all nodes (what ndptool's `-U` means; it refuses `-D` beside it). Does not wait.
 */
export function announce(namespace: Namespace, device: string, address: string): void {
  if (address.includes(':')) {
    const advertise = `ndptool -t na -U -i ${device} -T ${address} send`
    namespace.spawn('sh', ['-c', `${advertise}; sleep 1; ${advertise}; sleep 1; ${advertise}`], { stdio: 'ignore' })
    return
  }
  for (const form of ['-U', '-A']) namespace.spawn('arping', ['-q', form, '-c', '3', '-I', device, address], { stdio: 'ignore' })
}
