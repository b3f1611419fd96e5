import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from '../model/address.js'
import { symbolsIn, uplinkOf } from '../syntax/symbols.js'
import { type Exec, failure, HostFault, output } from './exec.js'
import { announcement, probe, tagged } from './frames.js'
import { type HostNames, isMissing, linkOf, type Missing, portOf } from './symbols.js'

/** Where the stations are that an address concerns: behind the uplink of a bridge of Open vSwitch, or behind a device. */
export type Wire =
  | { readonly kind: 'device'; readonly device: string }
  | {
      readonly kind: 'bridge'
      readonly bridge: string
      /** OVS_RUNDIR */
      readonly rundir: string
      /** MAC of the bridge, with which the node answers there. */
      readonly mac: string
      /** OpenFlow port of the uplink. */
      readonly port: number
      /** Tag of what goes out there; 0 for none. */
      readonly vlan: number
      /** The device of the uplink; null where the kernel has none, as with DPDK. */
      readonly device: string | null
    }

/** The wire of a device that has addresses. `vlan` is the gateway VLAN where it is a bridge. Fails with HostFault. */
export async function wireOf(exec: Exec, rundir: string, host: HostNames, dev: string, vlan: number): Promise<Wire | Missing> {
  const bridge = host.bridges?.find(({ name }) => name === dev)
  const [symbol] = symbolsIn(uplinkOf(dev))
  if (!bridge || !symbol) {
    const link = linkOf(host, dev)
    return isMissing(link) ? link : { kind: 'device', device: link.name }
  }
  const [port, link] = [portOf(host, bridge, symbol), linkOf(host, symbol)]
  if (isMissing(port)) return port
  const [listed] = JSON.parse(await output(exec, 'ip', ['-j', 'link', 'show', 'dev', dev])) as readonly { readonly address?: string }[]
  if (listed?.address === undefined) return { missing: `${dev} has no MAC` }
  const device = isMissing(link) ? null : link.name
  return { kind: 'bridge', bridge: dev, rundir, mac: listed.address, port: port.ofport, vlan, device }
}

export type Message = 'probe' | 'announcement'

/** Programs that send. */
export interface Sending {
  /** Waits until they have ended, or for so many milliseconds. Fails with the HostFault of the first that failed by then. */
  within(milliseconds: number): Promise<void>
}

/**
 * Sends a message about each address out of a wire; resolves when everything is on its way. Through a bridge: frames of our own, all of them
 * in one message to ovs-vswitchd, past its flows. Elsewhere arping and ndptool, a program for each address; arping lingers for a second
 * after it has asked. Fails with HostFault.
 */
export async function send(exec: Exec, wire: Wire, message: Message, addresses: readonly Address[]): Promise<Sending> {
  if (wire.kind === 'device') {
    return startAll(addresses.flatMap((address) => commandsOf(message, address, wire.device)).map((words) => () => runOnce(exec, words)))
  }
  const { bridge, rundir, mac, port, vlan } = wire
  const frames = addresses.flatMap((address) => (message === 'probe' ? [probe(mac, address)] : announcement(mac, address)))
  const lines = frames.map(
    (frame) => `packet-out in_port=CONTROLLER,packet=${tagged(frame, vlan).toString('hex')},actions=output:${port}\n`,
  )
  await output(exec, 'ovs-ofctl', ['-O', 'OpenFlow14', 'bundle', `unix:${join(rundir, `${bridge}.mgmt`)}`, '-'], { input: lines.join('') })
  return { within: async (milliseconds) => sleep(milliseconds) }
}

type Words = readonly [program: string, args: readonly string[]]

function commandsOf(message: Message, { family, text }: Address, device: string): readonly Words[] {
  const arping = (form: string): Words => ['arping', ['-q', form, '-c', '1', '-w', '1', '-I', device, text]]
  if (family === 4) return message === 'probe' ? [arping('-D')] : [arping('-U'), arping('-A')]
  const form = message === 'probe' ? ['-t', 'ns'] : ['-t', 'na', '-U']
  return [['ndptool', [...form, '-i', device, '-T', text, 'send']]]
}

/** What arping says when it asked in vain, and when it was answered. */
const ASKED = [0, 1]

async function runOnce(exec: Exec, [program, args]: Words): Promise<void> {
  const outcome = await exec(program, args)
  if (!ASKED.includes(outcome.code)) throw failure(program, args, outcome)
}

const AT_ONCE = 256

/** Starts all of them, no more than 256 at a time; resolves when the last one has started. */
async function startAll(tasks: readonly (() => Promise<void>)[]): Promise<Sending> {
  const running = new Set<Promise<void>>()
  const failed: HostFault[] = []
  const all: Promise<void>[] = []
  for (const task of tasks) {
    if (running.size >= AT_ONCE) await Promise.race(running)
    const one: Promise<void> = task()
      .catch((error: unknown) => {
        if (!(error instanceof HostFault)) throw error
        failed.push(error)
      })
      .finally(() => running.delete(one))
    running.add(one)
    all.push(one)
  }
  const ended = Promise.all(all)
  return {
    within: async (milliseconds) => {
      await Promise.race([ended, sleep(milliseconds)])
      if (failed[0]) throw failed[0]
    },
  }
}
