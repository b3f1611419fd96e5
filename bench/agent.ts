// What the agent costs on a host of its own: a namespace with Open vSwitch, 10,000 flows, 10,000 elements and 2,000 neighbors.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, hardwareAddress, parseAddress, parsePrefix } from '../src/model/address.js'
import { type Artefact, bundleManifest, type Phase, printManifest } from '../src/model/bundle.js'
import { OWN_COOKIE } from '../src/model/numbers.js'
import { egressTable } from '../src/syntax/egress-nat.js'
import { guardFlows, guardTable } from '../src/syntax/guard.js'
import { neighbors } from '../src/syntax/neighbors.js'
import { nftables } from '../src/syntax/nftables.js'
import { flow, openflow } from '../src/syntax/openflow.js'
import { machine } from '../test/contract/machine.js'
import { addPatch } from '../test/lab/ovs.js'
import { run } from './process.js'

export interface HostSize {
  readonly flows: number
  readonly elements: number
  readonly neighbors: number
}

/** What `passes.ts` measured, in seconds; `cpu` in percent of a core and `peak` in MiB. */
export interface Measured {
  readonly passes: readonly { readonly pass: number; readonly raw: number }[]
  readonly changes: readonly { readonly pass: number; readonly raw: number }[]
  readonly changed: number
  readonly idle: { readonly seconds: number; readonly cpu: number; readonly memory: number }
}

const NODE = 'node-a'
const BRIDGE = 'br-ex'
const NETWORK = '198.51.100.0/24'
const ALWAYS: readonly Phase[] = ['steady', 'startup', 'shutdown']

const ip = (text: string): Address => {
  const address = parseAddress(text)
  if (!address) throw new Error(text)
  return address
}
const at = (first: string, index: number): Address => ip(first.replace('X.Y', `${index >> 8}.${index & 255}`))

/**
 * The files of a bundle in which one entry of a hundred depends on `variant`: a third of those is another entry, two thirds are there with
 * another meaning.
 */
function filesOf({ flows, elements, neighbors: many }: HostSize, variant: 0 | 1): readonly Artefact[] {
  const isOther = (index: number) => index % 100 === 99
  /** The number of an entry: one of those that are not in the other bundle stands behind them all. */
  const numberOf = (index: number, count: number) => (isOther(index) && index % 300 === 299 ? count + 2 * index + variant : index)
  const turn = (index: number) => (isOther(index) ? variant : 0)
  const list = (count: number) => Array.from({ length: count }, (_, index) => ({ index, number: numberOf(index, count) }))
  const base = list(flows).map(({ index, number }) =>
    flow({
      bridge: BRIDGE,
      priority: 105,
      cookie: OWN_COOKIE + 1n,
      match: `ip,in_port=patch(default),dl_src=02:00:00:00:00:01,pkt_mark=0x${(50_000 + number).toString(16)},nw_dst=0.0.0.0/0`,
      actions: `ct(commit,zone=64000,nat(src=192.0.2.${200 + turn(index)}),exec(set_field:0x1->ct_mark)),output:uplink(br-ex)`,
      comment: `EgressIP/eip-${index}`,
    }),
  )
  const pods = list(elements).map(({ index, number }) => ({
    pod: at('10.128.X.Y'.replace('128', String(128 + (number >> 16))), number & 0xffff),
    device: `network(${NETWORK})`,
    address: ip(`198.51.100.${10 + turn(index)}`),
    for: `EgressIP/eip-${index}`,
  }))
  const permanent = list(many).map(({ index, number }) => ({
    dst: at('169.254.X.Y', number),
    lladdr: turn(index) === 1 ? '0a:58:00:00:00:01' : hardwareAddress(at('169.254.X.Y', number)),
    dev: BRIDGE,
    for: `Node/${NODE}`,
  }))
  const subnet = parsePrefix('10.128.0.0/14')
  return [
    { path: `openflow.${BRIDGE}.flows`, text: openflow(BRIDGE).print(base), phases: ALWAYS },
    { path: 'nftables.json', text: nftables.print(egressTable('shared', subnet ? [subnet] : [], pods)), phases: ALWAYS },
    { path: 'neighbors.json', text: neighbors.print(permanent), phases: ALWAYS },
    {
      path: `guard.openflow.${BRIDGE}.flows`,
      text: openflow(BRIDGE).print(guardFlows(BRIDGE, NODE, [ip('192.0.2.11')], ['default'])),
      phases: ['startup', 'shutdown'],
    },
    {
      path: 'guard.nftables.json',
      text: nftables.print(guardTable([{ address: ip('192.0.2.200'), for: 'EgressIP/eip-0' }], `uplink(${BRIDGE})`, '1.0.6')),
      phases: ['shutdown'],
    },
  ]
}

/** Measures on a host that is made for it; needs root, Open vSwitch, nft and nsenter. */
export function measureAgent(size: HostSize, runs: number, idle: number): Measured {
  const host = machine('bench', { ovs: true })
  const { ovs, namespace, folder } = host
  if (!ovs) throw new Error('no Open vSwitch')
  try {
    ovs.vsctl('add-br', 'br-int', '--', 'set', 'bridge', 'br-int', 'datapath_type=netdev')
    ovs.vsctl('add-port', BRIDGE, 'ens3')
    addPatch(ovs, BRIDGE, NODE)
    namespace.exec('ip', ['link', 'add', 'eth1', 'type', 'veth', 'peer', 'name', 'far1'])
    namespace.exec('ip', ['link', 'set', 'eth1', 'up'])
    namespace.exec('ip', ['addr', 'add', '198.51.100.1/24', 'dev', 'eth1'])
    for (const variant of [0, 1] as const) {
      const files = filesOf(size, variant)
      const bundle = join(folder, String(variant), 'nodes', NODE)
      mkdirSync(bundle, { recursive: true })
      for (const { path, text } of files) writeFileSync(join(bundle, path), text)
      writeFileSync(join(bundle, 'bundle.json'), printManifest(bundleManifest(NODE, files, {})))
    }
    const program = [join(import.meta.dirname, 'passes.ts'), folder, ovs.rundir, BRIDGE, NODE, String(runs), String(idle)]
    const { stdout } = run(['--import', 'tsx', ...program], host.prefix)
    return JSON.parse(stdout) as Measured
  } finally {
    host.close()
  }
}
