import type { ExecOptions } from '../host/exec.js'
import type { Watch } from '../host/follow.js'
import { watchOvsdb } from '../host/ovsdb-monitor.js'
import { type Notice, watchFlows, watchKernel, watchNftables } from '../host/watch.js'
import { OVN_BRIDGE } from './faults.js'

/** Everything on the host of which changes are told. */
export interface Watches extends Watch {
  /** Watches the flows of these bridges, and of no other. */
  follow(bridges: readonly string[]): void
}

export function openWatches(exec: ExecOptions, rundir: string, notice: Notice): Watches {
  const always = [watchKernel(exec, notice), watchNftables(exec, notice), watchOvsdb(rundir, (bridge) => bridge !== OVN_BRIDGE, notice)]
  const flows = new Map<string, Watch>()
  return {
    follow(bridges) {
      for (const [bridge, watch] of flows) {
        if (bridges.includes(bridge)) continue
        watch.close()
        flows.delete(bridge)
      }
      for (const bridge of bridges) if (!flows.has(bridge)) flows.set(bridge, watchFlows(exec, rundir, bridge, notice))
    },
    close() {
      for (const watch of [...always, ...flows.values()]) watch.close()
    },
  }
}
