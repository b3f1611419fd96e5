import { connect } from 'node:net'
import { join } from 'node:path'
import type { Change } from '../model/change.js'
import { hex } from '../syntax/match.js'
import { type Flow, isOwn, openflow as languageOf, printFlow } from '../syntax/openflow.js'
import { type Exec, output } from './exec.js'
import type { Subsystem } from './subsystem.js'

const OFCTL = ['-O', 'OpenFlow14']
const target = (rundir: string, bridge: string): string => `unix:${join(rundir, `${bridge}.mgmt`)}`

/**
 * Flows of the bridges that are named, and of no other: OVN's own cookies on br-int are arbitrary and some look like ours.
 * Ours by cookie; every other flow of the bridge is foreign, because adding a flow whose table, priority and match another one has
 * replaces that one whatever its cookie. The changes of one bridge are one OpenFlow bundle: all of them or none.
 */
export function hostOpenflow(exec: Exec, rundir: string, bridges: readonly string[]): Subsystem<Flow> {
  return {
    language: languageOf(''),
    async observe() {
      const flows: Flow[] = []
      for (const bridge of bridges) {
        const text = await output(exec, 'ovs-ofctl', [...OFCTL, '--no-names', '--no-stats', 'dump-flows', target(rundir, bridge)])
        flows.push(...languageOf(bridge).parse(text))
      }
      return { own: flows.filter(isOwn), foreign: flows.filter((flow) => !isOwn(flow)) }
    },
    async apply(changes) {
      for (const [bridge, lines] of bundles(changes)) {
        await output(exec, 'ovs-ofctl', [...OFCTL, '--bundle', 'add-flows', target(rundir, bridge), '-'], { input: lines.join('') })
      }
    },
  }
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
function bundles(changes: readonly Change<Flow>[]): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, string[]>()
  const push = ({ bridge }: Flow, line: string) => {
    const list = lines.get(bridge) ?? []
    lines.set(bridge, list)
    list.push(line)
  }
  for (const { op, from } of changes) {
    if (op === 'delete' && from) push(from, `delete_strict ${withoutActions(from)}\n`)
  }
  for (const { entry } of changes) {
    if (entry) push(entry, `add ${printFlow(entry)}\n`)
  }
  return lines
}

const withoutActions = (flow: Flow): string =>
  printFlow({ ...flow, actions: '' })
    .replace(/,actions=$/, '')
    .replace(/^cookie=[^,]*/, `cookie=${hex(flow.cookie)}/-1`)
