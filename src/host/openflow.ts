import { connect } from 'node:net'
import { join } from 'node:path'
import type { Change } from '../model/change.js'
import type { Language } from '../syntax/language.js'
import { hex } from '../syntax/match.js'
import { type Flow, flowReader, isOwn, openflow as languageOf, printFlow } from '../syntax/openflow.js'
import { type PortFlag, portFlags } from '../syntax/port-flags.js'
import { once, recently } from '../syntax/recent.js'
import { type Exec, output } from './exec.js'
import type { Bridge } from './ovsdb.js'
import type { Observed, Subsystem } from './subsystem.js'
import { isNetworkPort } from './symbols.js'

const OFCTL = ['-O', 'OpenFlow14']
/** OpenFlow dropped the flag after 1.0: with a newer version ovs-ofctl neither shows nor sets it, and says nothing. */
const FLAGS_OFCTL = ['-O', 'OpenFlow10']
const target = (rundir: string, bridge: string): string => `unix:${join(rundir, `${bridge}.mgmt`)}`

/** Reads what a bridge of this name was said to have. */
const reader = once((bridge: string) => {
  const read = flowReader(bridge)
  return recently((text): Observed<Flow> => {
    const flows = read(text)
    return { own: flows.filter(isOwn), foreign: flows.filter((flow) => !isOwn(flow)) }
  })
})

const isFlag = (entry: Flow | PortFlag): entry is PortFlag => 'flag' in entry
const [flows, flags] = [languageOf(''), portFlags('')]

/** Flows and flags of ports in one subsystem; in a bundle they are files of their own, so no text holds both. */
const language: Language<Flow | PortFlag> = {
  subsystem: 'openflow',
  parse: flows.parse,
  print: (entries) => flows.print(entries.filter((entry): entry is Flow => !isFlag(entry))) + flags.print(entries.filter(isFlag)),
  key: (entry) => (isFlag(entry) ? flags.key(entry) : flows.key(entry)),
  same: (a, b) => isFlag(a) || isFlag(b) || flows.same(a, b),
}

/**
 * Flows of the bridges that are given, and of no other: OVN's own cookies on br-int are arbitrary and some look like ours.
 * Ours by cookie; every other flow of the bridge is foreign, because adding a flow whose table, priority and match another one has
 * replaces that one whatever its cookie. The changes of one bridge are one OpenFlow bundle: all of them or none.
 *
 * Flags have no mark: `no-flood` is ours on the ports that join a bridge to the user-defined networks of the node, and on no other port.
 * A flag is set before the flows that may send to its port change, and goes after them.
 */
export function hostOpenflow(exec: Exec, rundir: string, bridges: readonly Bridge[], node: string): Subsystem<Flow | PortFlag> {
  const setFlag = async ({ bridge, port }: PortFlag, flag: 'no-flood' | 'flood') => {
    await output(exec, 'ovs-ofctl', [...FLAGS_OFCTL, 'mod-port', target(rundir, bridge), port, flag])
  }
  return {
    language,
    async observe() {
      const found: Observed<Flow | PortFlag>[] = []
      for (const bridge of bridges) {
        const text = await output(exec, 'ovs-ofctl', [...OFCTL, '--no-names', '--no-stats', 'dump-flows', target(rundir, bridge.name)])
        found.push(reader(bridge.name)(text))
        const flagged = await readFlags(exec, rundir, bridge, node)
        if (flagged.own.length + flagged.foreign.length > 0) found.push(flagged)
      }
      const [only, ...others] = found
      // What is the same as before is the same object, so that nobody compares it anew.
      if (only && others.length === 0) return only
      return { own: found.flatMap(({ own }) => own), foreign: found.flatMap(({ foreign }) => foreign) }
    },
    async apply(changes) {
      for (const { entry } of changes) if (entry && isFlag(entry)) await setFlag(entry, 'no-flood')
      for (const [bridge, lines] of bundles(changes)) {
        await output(exec, 'ovs-ofctl', [...OFCTL, '--bundle', 'add-flows', target(rundir, bridge), '-'], { input: lines.join('') })
      }
      for (const { op, from } of changes) if (op === 'delete' && from && isFlag(from)) await setFlag(from, 'flood')
    },
  }
}

/** The ports of a bridge with `no-flood`. Where it joins no user-defined network none can be of interest. */
async function readFlags(exec: Exec, rundir: string, bridge: Bridge, node: string): Promise<Observed<PortFlag>> {
  const ours = new Set(bridge.ports.flatMap((port) => (isNetworkPort(bridge.name, port, node) ? [String(port.ofport)] : [])))
  if (ours.size === 0) return { own: [], foreign: [] }
  const text = await output(exec, 'ovs-ofctl', [...FLAGS_OFCTL, 'dump-ports-desc', target(rundir, bridge.name)])
  const flagged = [...text.matchAll(/^ ([^\s(]+)\(.*\n +config: +(.*)$/gm)].flatMap(([, port = '', config = '']): readonly PortFlag[] =>
    config.split(' ').includes('NO_FLOOD') ? [{ bridge: bridge.name, port, flag: 'no-flood', for: null }] : [],
  )
  return { own: flagged.filter(({ port }) => ours.has(port)), foreign: flagged.filter(({ port }) => !ours.has(port)) }
}

const ANSWER_WITHIN = 2_000

/**
 * Whether ovs-vswitchd answers on the management socket of a bridge: it greets whoever connects (OFPT_HELLO). Without it the flows of the
 * bridge can be neither read nor written, and waiting for it would delay everything else.
 */
export function isServed(rundir: string, bridge: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(join(rundir, `${bridge}.mgmt`))
    const answer = (served: boolean) => {
      socket.destroy()
      resolve(served)
    }
    socket.setTimeout(ANSWER_WITHIN, () => answer(false))
    socket.on('data', () => answer(true))
    socket.on('end', () => answer(false))
    // One that may not be opened is served; ovs-ofctl will say what is wrong with it.
    socket.on('error', (error: NodeJS.ErrnoException) => answer(error.code === 'EACCES'))
  })
}

/** Lines of `add-flows` by bridge, deletions first. A deletion names the cookie, so that it never hits a flow that is not ours. */
function bundles(changes: readonly Change<Flow | PortFlag>[]): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, string[]>()
  const push = ({ bridge }: Flow, line: string) => {
    const list = lines.get(bridge) ?? []
    lines.set(bridge, list)
    list.push(line)
  }
  for (const { op, from } of changes) {
    if (op === 'delete' && from && !isFlag(from)) push(from, `delete_strict ${withoutActions(from)}\n`)
  }
  for (const { entry } of changes) {
    if (entry && !isFlag(entry)) push(entry, `add ${printFlow(entry)}\n`)
  }
  return lines
}

const withoutActions = (flow: Flow): string =>
  printFlow({ ...flow, actions: '' })
    .replace(/,actions=$/, '')
    .replace(/^cookie=[^,]*/, `cookie=${hex(flow.cookie)}/-1`)
