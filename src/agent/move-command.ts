import { Command } from 'commander'
import { machineName } from '../host/files.js'
import { parseAddress } from '../model/address.js'
import { apply } from './apply.js'
import { hasDeparted } from './departure.js'
import { claimAfterOption, type HostOptions, loud, nodeOption, rundir, stateOption } from './options.js'
import { faultProblem } from './reconcile.js'
import { remembering } from './remember.js'
import { printText } from './report.js'
import { type Report, type Request, run } from './run.js'
import { appliedCopy } from './store.js'

type Applied = Omit<Request, 'command' | 'phase'>

/** Does something with the bundle that was applied last, and says what came of it. `none` is said where there is none. */
async function withApplied(
  { node: named, stateDir }: HostOptions,
  none: string,
  work: (applied: Applied) => Promise<Report>,
): Promise<void> {
  const node = named || machineName()
  try {
    const copy = appliedCopy(stateDir, node)
    if (!copy) {
      process.stdout.write(`${node}: no bundle was applied here, ${none}.\n`)
      return
    }
    const report = await work({ bundle: copy.folder, node, stateDir, rundir: rundir(), maxRemove: 100 })
    process.stdout.write(printText(report, 'apply'))
    loud(report.problems)
    process.exitCode = report.exitCode
  } catch (error) {
    process.exitCode = 1
    loud([faultProblem(error)])
  }
}

/** Lets the node fall silent with the bundle that was applied last; its source is not needed. */
export function shutdownCommand(): Command {
  return new Command('shutdown')
    .description('Let this node fall silent for its egress IPs, with the bundle that was applied last. An agent that runs keeps to it.')
    .addOption(nodeOption())
    .addOption(stateOption())
    .action((options: HostOptions) =>
      withApplied(options, 'there is nothing to silence', (applied) => {
        const request = { ...applied, phase: 'shutdown' } as const
        return remembering(request, () => run({ ...request, command: 'apply' }))
      }),
    )
}

const MOVES = {
  release: 'Give up an egress IP although the bundle has it, for a planned move: this node speaks for it no more until it claims it.',
  claim: 'Take an egress IP that was given up: ask whether another station has it, add it and announce it.',
}

/** Moves one address by hand. */
export function moveCommand(verb: keyof typeof MOVES): Command {
  const command = new Command(verb)
    .description(MOVES[verb])
    .argument('<address>', 'egress IP that the bundle gives to this node')
    .addOption(nodeOption())
    .addOption(stateOption())
    .action((text: string, options: HostOptions & { readonly claimAfter?: number }) =>
      withApplied(options, `there is nothing to ${verb}`, (applied) => {
        const move = { verb, address: parseAddress(text)?.text ?? text }
        const phase = hasDeparted(options.stateDir) ? 'shutdown' : 'steady'
        return apply({ ...applied, phase, move, ...(options.claimAfter !== undefined && { claimAfter: options.claimAfter }) })
      }),
    )
  return verb === 'claim' ? command.addOption(claimAfterOption()) : command
}
