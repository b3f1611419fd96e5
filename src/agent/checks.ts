import type { Exec } from '../host/exec.js'
import { type Claim, probe } from '../host/probe.js'
import { isMissing } from '../host/symbols.js'
import { wireOf } from '../host/wire.js'
import { type Problem, problem } from '../model/problem.js'
import { vlanOf } from './handover.js'
import { faultProblem, type Goal } from './reconcile.js'
import type { HostView } from './view.js'

/** What must hold after a pass that changed something; else it is put back. */
export interface Checks {
  /** Every default gateway of the main table answers for its address, by ARP or neighbor discovery. */
  readonly gateway: boolean
  /** A command, without shell, ends with 0; null for none. */
  readonly command: readonly string[] | null
}

export const NO_CHECKS: Checks = { gateway: false, command: null }

const COMMAND_WITHIN = 30_000

/** What does not hold; nothing where everything does. `gateway` is said before `command`. Never throws for what the host is like. */
export async function failedChecks(
  exec: Exec,
  rundir: string,
  view: HostView,
  goal: Goal,
  { gateway, command }: Checks,
): Promise<readonly Problem[]> {
  try {
    const silent = gateway ? await silentGateways(exec, rundir, view, goal) : []
    if (silent.length > 0) return [failed(`the default gateway ${silent.join(' and ')} does not answer`)]
    const [program, ...args] = command ?? []
    if (program === undefined) return []
    const { code, stdout, stderr } = await exec(program, args, { timeout: COMMAND_WITHIN })
    const said = (stderr || stdout).trim().split('\n').slice(-1).join('')
    return code === 0 ? [] : [failed(`"${[program, ...args].join(' ')}" ended with ${code}${said === '' ? '' : `: ${said}`}`)]
  } catch (error) {
    return [failed(faultProblem(error).message)]
  }
}

const failed = (what: string): Problem => problem('CheckFailed', { message: `after the pass ${what}` })

async function silentGateways(exec: Exec, rundir: string, view: HostView, goal: Goal): Promise<readonly string[]> {
  const defaults = view.routes.filter(({ dst, table, gateway }) => dst.length === 0 && table === 'main' && gateway !== null)
  const asked: Claim[] = []
  const silent: string[] = []
  for (const { gateway, dev } of defaults) {
    if (gateway === null) continue
    const wire = await wireOf(exec, rundir, view, dev, vlanOf(goal, dev))
    if (isMissing(wire)) silent.push(gateway.text)
    else asked.push({ address: gateway, wire })
  }
  const answers = asked.length > 0 ? await probe(exec, asked) : new Map<string, string>()
  return [...silent, ...asked.flatMap(({ address: { text } }) => (answers.has(text) ? [] : text))]
}
