import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type DriftEvent, ipEvents, nftReader } from './drift.js'
import type { ExecOptions } from './exec.js'
import { follow, type Watch } from './follow.js'

/** What a watch says: who did something to a subsystem, or, with null, that something may have changed. */
export type Notice = (event: DriftEvent | null) => void

/** A program has subscribed to the events of the kernel some moment after it was started; none says when. */
const SUBSCRIBED_AFTER = 300
const PAUSE = [200, 10_000] as const
/** Open Vswitch is back within a second, or away for good. */
const OVS_PAUSE = [100, 400] as const

/** Says that something may have changed once a program that was just started sees what happens. */
function afterStart(notice: Notice): { readonly gap: () => void; readonly close: () => void } {
  let timer: NodeJS.Timeout | undefined
  return {
    gap() {
      clearTimeout(timer)
      timer = setTimeout(() => notice(null), SUBSCRIBED_AFTER)
    },
    close: () => clearTimeout(timer),
  }
}

/** What the kernel does by itself all the time: neighbors that come and go, its routes to its own addresses. */
const isNoise = (line: string): boolean =>
  line === '' ||
  / table 255 /.test(line) ||
  (/(?: lladdr \S+)?(?: router)? (?:INCOMPLETE|REACHABLE|STALE|DELAY|PROBE|FAILED|NOARP)\b/.test(line) &&
    !/ proto | extern_learn/.test(line))

/** Links, addresses, routes, neighbors and rules, by `ip monitor`. */
export function watchKernel(options: ExecOptions, notice: Notice): Watch {
  const { gap, close } = afterStart(notice)
  const watch = follow(options, {
    command: 'ip',
    args: ['-N', '-o', 'monitor', 'link', 'address', 'route', 'neigh', 'rule'],
    pause: PAUSE,
    gap,
    line(text) {
      if (isNoise(text)) return
      const events = ipEvents(text)
      for (const event of events) notice(event)
      if (events.length === 0) notice(null)
    },
  })
  return both(watch, { close })
}

/** Tables of egretta's, by `nft monitor`. What others do to theirs is none of our business. */
export function watchNftables(options: ExecOptions, notice: Notice): Watch {
  const { gap, close } = afterStart(notice)
  const reader = nftReader()
  const watch = follow(options, {
    command: 'nft',
    args: ['monitor'],
    pause: PAUSE,
    gap,
    line(text) {
      const event = reader.read(text)
      if (event) notice(event)
    },
  })
  return both(watch, { close })
}

/**
 * Flows of a bridge, by `ovs-ofctl monitor`. Its first answer says that it sees what happens, its end that ovs-vswitchd or the bridge went;
 * it is started again when the socket of the bridge is there.
 */
export function watchFlows(options: ExecOptions, rundir: string, bridge: string, notice: Notice): Watch {
  const socket = join(rundir, `${bridge}.mgmt`)
  let watch: Watch | null = null
  const who = (what: string): DriftEvent => ({ subsystem: 'openflow', source: 'openflow', who: what })
  let seen = false
  const start = () =>
    follow(options, {
      command: 'ovs-ofctl',
      args: ['--unixctl=none', '-O', 'OpenFlow14', 'monitor', `unix:${socket}`, 'watch:!initial'],
      pause: OVS_PAUSE,
      gap() {
        if (seen) notice(who(`Open vSwitch went from bridge ${bridge}`))
        seen = false
        if (existsSync(socket)) return
        watch?.close()
        watch = null
      },
      line(text) {
        if (text.startsWith('OFPST_FLOW_MONITOR')) {
          if (!seen) notice(null)
          seen = true
        }
        if (/^ event=DELETED /.test(text)) notice(who(`somebody deleted flows of bridge ${bridge}`))
        else if (/^ event=/.test(text)) notice(null)
      },
    })
  const look = () => {
    if (watch === null && existsSync(socket)) watch = start()
  }
  look()
  const timer = setInterval(look, OVS_PAUSE[0])
  return {
    close() {
      clearInterval(timer)
      watch?.close()
    },
  }
}

const both = (...watches: readonly Watch[]): Watch => ({
  close() {
    for (const watch of watches) watch.close()
  },
})
