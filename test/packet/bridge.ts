import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { patchPort } from '../../src/host/symbols.js'
import type { ExternalBridge } from '../../src/model/node-state.js'
import { type PipelineFlow, pipelineFlows } from '../../src/render/flows.js'
import { type Flow, flow, openflow, printFlow, withPorts } from '../../src/syntax/openflow.js'
import { patchOf, uplinkOf } from '../../src/syntax/symbols.js'
import { atExit } from '../lab/clean-up.js'
import { createNamespace, type Namespace, run } from '../lab/netns.js'
import { addBridge, addPatch, type OpenVSwitch, startOvs } from '../lab/ovs.js'
import { NEXT_HOP, NODE, type Scenario } from './scenario.js'
import { readTrace } from './trace.js'

/** A packet as a bridge gets it. */
export interface Sent {
  /** `uplink`, `LOCAL` or `patch(NETWORK)`. */
  readonly in: string
  /** The rest of the flow expression, without the VLAN tag. */
  readonly packet: string
  /** Its VLAN tag, 0 for none. */
  readonly vlan: number
  /** The bridge has not learned yet behind which port its own MAC is. */
  readonly unlearned: boolean
  /** What conntrack says each time it is asked: `trk,est`. */
  readonly tracked: readonly string[]
}

/** What became of a packet: the flows that it met, and what the data path did with it, see Trace. */
export interface Outcome {
  readonly met: readonly PipelineFlow[]
  readonly effects: readonly string[]
}

/** The external bridge of a scenario on a real Open vSwitch, with its rendered flows. */
export interface TracedBridge {
  readonly flows: readonly PipelineFlow[]
  trace(sent: Sent): Outcome
  /** What `act` finds while the bridge lacks this one flow. */
  without<T>(missing: PipelineFlow, act: () => T): T
}

/** The bridges of all scenarios on one Open vSwitch. */
export interface TracedBridges {
  readonly of: ReadonlyMap<string, TracedBridge>
  close(): void
}

/** Longer than any trace takes: one that comes back to where it was would hold ovs-vswitchd for ever. */
const PATIENCE = '--timeout=10'

/**
 * Builds the external bridge of each scenario: an uplink, the patch ports of its networks to br-int, and the flows that are rendered for it.
 * What comes out of a network's patch port leaves br-int through a port of that network alone, so that the data path shows where a packet went.
 */
export function buildBridges(scenarios: readonly Scenario[]): TracedBridges {
  const dir = mkdtempSync(join(tmpdir(), 'eg-trace-'))
  const namespace = createNamespace('trace')
  // The kernel would send router solicitations, and the bridges would learn from them.
  namespace.exec('sysctl', ['-qw', 'net.ipv6.conf.default.disable_ipv6=1'])
  const forget = atExit(() => rmSync(dir, { recursive: true, force: true }))
  const ovs = startOvs(namespace, dir)
  addBridge(namespace, ovs, 'br-int')
  const networks = new Set(scenarios.flatMap(({ bridge }) => portsOf(bridge)))
  for (const name of networks) ovs.vsctl('add-port', 'br-int', exitOf(name), '--', 'set', 'interface', exitOf(name), 'type=internal')
  for (const scenario of scenarios) addScenario(namespace, ovs, scenario)
  connect(ovs, dir, scenarios)
  const names = dataPathPorts(dir)
  return {
    of: new Map(scenarios.map((scenario) => [scenario.name, tracedBridge(ovs, dir, scenario, names)])),
    close: () => {
      namespace.close()
      forget()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const bridgeName = ({ name }: Scenario): string => `x-${name}`
const uplinkName = ({ name }: Scenario): string => `u-${name}`
const exitOf = (network: string): string => `to-${network}`
const control = (dir: string): string => join(dir, 'ovs-vswitchd.ctl')
const appctl = (dir: string, ...words: readonly string[]): string => run('ovs-appctl', [PATIENCE, '-t', control(dir), ...words]).stdout
/** Names of the networks with a port, the default one first. */
const portsOf = ({ networks, closed }: ExternalBridge): readonly string[] => [...networks, ...closed].map(({ name }) => name)
const patchesOf = (scenario: Scenario): readonly { readonly network: string; readonly port: string }[] =>
  portsOf(scenario.bridge).map((network) => ({ network, port: patchPort(bridgeName(scenario), network, NODE) }))

function addScenario(namespace: Namespace, ovs: OpenVSwitch, scenario: Scenario): void {
  const { bridge } = scenario
  const [name, uplink] = [bridgeName(scenario), uplinkName(scenario)]
  addBridge(namespace, ovs, name, bridge.mac)
  ovs.vsctl('add-port', name, uplink, '--', 'set', 'interface', uplink, 'type=internal')
  // The host sends and takes untagged frames. What NORMAL carries to it and from it, such as ARP, is tagged only where its port is an access port.
  if (bridge.vlan !== 0) ovs.vsctl('set', 'port', name, `tag=${bridge.vlan}`)
  for (const network of portsOf(bridge)) {
    const port = addPatch(ovs, name, `${network === 'default' ? '' : `${network}_`}${NODE}`)
    if (network !== 'default') noFlood(ovs, name, ovs.vsctl('get', 'interface', port, 'ofport'))
  }
}

/** The flag exists in OpenFlow 1.0 alone: with a later version ovs-ofctl succeeds and sets nothing. */
function noFlood({ rundir }: OpenVSwitch, bridge: string, port: string): void {
  run('ovs-ofctl', ['-O', 'OpenFlow10', 'mod-port', `unix:${rundir}/${bridge}.mgmt`, port, 'no-flood'])
}

/** br-int: from the patch port of a network to the port of that network. */
function connect(ovs: OpenVSwitch, dir: string, scenarios: readonly Scenario[]): void {
  const numbers = ofports(ovs)
  const lines = scenarios.flatMap((scenario) =>
    patchesOf(scenario).map(({ network, port }) => {
      const peer = port.replace(/^(patch)-(.*)-to-(br-int)$/, '$1-$3-to-$2')
      return `in_port=${numbers.get(peer)},actions=output:${numbers.get(exitOf(network))}\n`
    }),
  )
  writeFileSync(join(dir, 'int.flows'), lines.join(''))
  ovs.ofctl('replace-flows', 'br-int', join(dir, 'int.flows'))
}

/** OpenFlow ports by name, of all bridges: every port here has a name of its own. */
function ofports(ovs: OpenVSwitch): ReadonlyMap<string, string> {
  const rows = ovs.vsctl('--format=csv', '--no-headings', '--columns=name,ofport', 'list', 'interface').split('\n')
  return new Map(rows.map((row) => row.replaceAll('"', '').split(',') as [string, string]))
}

/** Names of the ports of the data path: what a packet that leaves there has reached. */
function dataPathPorts(dir: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const [, name = '', number = ''] of appctl(dir, 'dpif/show').matchAll(/^ {4}(\S+) \d+\/(\d+): /gm)) {
    const network = /^to-(.*)$/.exec(name)?.[1]
    names.set(number, network ? patchOf(network) : name.startsWith('u-') ? 'uplink' : name.startsWith('x-') ? 'LOCAL' : name)
  }
  return names
}

function tracedBridge(ovs: OpenVSwitch, dir: string, scenario: Scenario, names: ReadonlyMap<string, string>): TracedBridge {
  const name = bridgeName(scenario)
  const numbers = ofports(ovs)
  const ports = new Map([
    [uplinkOf(name), numbers.get(uplinkName(scenario)) as string],
    ...patchesOf(scenario).map(({ network, port }): [string, string] => [patchOf(network), numbers.get(port) as string]),
  ])
  const flows = pipelineFlows({ node: NODE, bridge: name, externalBridge: scenario.bridge })
  const { key } = openflow(name)
  const real = flows.map(({ row, flow: one }) => ({ row, flow: withPorts(one, ports) }))
  const byKey = new Map(real.map((one) => [key(one.flow), one]))
  const load = (list: readonly { readonly flow: Flow }[]): void => {
    const file = join(dir, `${name}.flows`)
    writeFileSync(file, list.map((one) => `${printFlow(one.flow)}\n`).join(''))
    ovs.ofctl('replace-flows', name, file)
  }
  load(real)
  const { vlan, mac } = scenario.bridge
  const learn = () => appctl(dir, 'fdb/add', name, name, String(vlan), mac)
  learn()
  appctl(dir, 'fdb/add', name, uplinkName(scenario), String(vlan), NEXT_HOP)
  return {
    flows,
    trace: (sent) => {
      const from = sent.in === 'uplink' ? ports.get(uplinkOf(name)) : (ports.get(sent.in) ?? sent.in)
      const packet = `in_port=${from},${sent.packet}${sent.vlan === 0 ? '' : `,dl_vlan=${sent.vlan}`}`
      if (sent.unlearned) appctl(dir, 'fdb/del', name, String(vlan), mac)
      const text = appctl(dir, 'ofproto/trace', name, packet, ...sent.tracked.flatMap((state) => ['--ct-next', state]))
      if (sent.unlearned) learn()
      const { met, effects } = readTrace(text, names, sent.vlan)
      const known = met.map((one) => {
        const found = byKey.get(key(flow({ bridge: name, ...one, actions: '' })))
        if (!found) throw new Error(`no row for a flow in\n${text}`)
        return found
      })
      return { met: known, effects }
    },
    without: (missing, act) => {
      load(real.filter((one) => one !== missing))
      try {
        return act()
      } finally {
        load(real)
      }
    },
  }
}
