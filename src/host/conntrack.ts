import { join } from 'node:path'
import { type Address, type Family, parseAddress } from '../model/address.js'
import { type Exec, failure, HostFault, output } from './exec.js'
import { listFolder, readText } from './files.js'
import type { Bridge } from './ovsdb.js'

/** Connections that were translated to an egress IP: those of a pod, or those of a bridge in one zone of conntrack. */
export type Translated =
  | { readonly egressIP: Address; readonly pod: Address }
  | { readonly egressIP: Address; readonly bridge: string; readonly zone: number }

/** The connections of a host. No subsystem: none is ever desired. */
export interface Conntrack {
  /** Whether established connections keep their egress IP when their pod, or their mark, is given another one. */
  readonly keeps: boolean
  /**
   * Ends connections: what the kernel, or the datapath of Open vSwitch, remembers of them is deleted, so that the next packet is judged as
   * the first of a connection. None may be left. Fails with HostFault.
   */
  forget(connections: readonly Translated[]): Promise<void>
}

/** The connections of this host; those of a bridge are where its datapath is: in the kernel, or in ovs-vswitchd. */
export function hostConntrack(exec: Exec, rundir: string, bridges: readonly Bridge[], keeps: boolean): Conntrack {
  const inUserspace = (name: string) => bridges.some((bridge) => bridge.name === name && bridge.datapath === 'netdev')
  return {
    keeps,
    async forget(connections) {
      const pods = new Map<string, { readonly egressIP: Address; readonly pods: Set<string> }>()
      for (const each of connections) {
        const { egressIP } = each
        if (!('pod' in each)) await (inUserspace(each.bridge) ? forgetInVswitchd(exec, rundir, each) : forgetInZone(exec, each))
        else {
          const found = pods.get(egressIP.text) ?? { egressIP, pods: new Set() }
          pods.set(egressIP.text, found)
          found.pods.add(each.pod.text)
        }
      }
      for (const each of pods.values()) await forgetPods(exec, each.egressIP, each.pods)
    },
  }
}

const familyName = (family: Family): string => (family === 4 ? 'ipv4' : 'ipv6')
const repliesTo = ({ family, text }: Address): readonly string[] => ['-f', familyName(family), '-q', text]

/** Asks first which of the pods have connections: conntrack(8) goes through the whole table at each deletion, and most pods have none. */
async function forgetPods(exec: Exec, egressIP: Address, pods: ReadonlySet<string>): Promise<void> {
  const listed = await output(exec, 'conntrack', ['-L', ...repliesTo(egressIP)])
  // The first source of a line is that of the original direction.
  const speaking = new Set(listed.split('\n').map((line) => parseAddress(/\bsrc=(\S+)/.exec(line)?.[1] ?? '')?.text))
  for (const pod of [...pods].sort()) {
    if (speaking.has(pod)) await deleteEntries(exec, ['-s', pod, ...repliesTo(egressIP)])
  }
}

interface InZone {
  readonly egressIP: Address
  readonly zone: number
}

const forgetInZone = (exec: Exec, { egressIP, zone }: InZone): Promise<void> =>
  deleteEntries(exec, ['-w', String(zone), ...repliesTo(egressIP)])

/** Of Open vSwitch 3.1 on: by the reply direction alone, the original one left empty. */
async function forgetInVswitchd(exec: Exec, rundir: string, { egressIP, zone }: InZone): Promise<void> {
  const field = egressIP.family === 4 ? 'ct_nw_dst' : 'ct_ipv6_dst'
  const words = [`zone=${zone}`, '', `${field}=${egressIP.text}`]
  await output(exec, 'ovs-appctl', ['-t', controlSocket(rundir), 'dpctl/flush-conntrack', ...words])
}

/** ovs-appctl(8) finds the socket by itself only where OVS_RUNDIR is the folder that it was built with. */
function controlSocket(rundir: string): string {
  const pid = readText(join(rundir, 'ovs-vswitchd.pid'))?.trim() ?? ''
  const names = [`ovs-vswitchd.${pid}.ctl`, 'ovs-vswitchd.ctl']
  const found = names.find((name) => (listFolder(rundir) ?? []).some((entry) => entry.name === name))
  if (found) return join(rundir, found)
  throw new HostFault('CommandFailed', `ovs-vswitchd has no control socket in ${rundir}`, 'See whether ovs-vswitchd runs, then run again.')
}

/** conntrack(8) ends with 1 when nothing matched, and then says so. */
async function deleteEntries(exec: Exec, words: readonly string[]): Promise<void> {
  const args = ['-D', ...words]
  const outcome = await exec('conntrack', args)
  if (outcome.code !== 0 && !/: 0 flow entries/.test(outcome.stderr)) throw failure('conntrack', args, outcome)
}
