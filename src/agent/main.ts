#!/usr/bin/env node
import { Command, InvalidArgumentError, Option } from 'commander'
import { machineName } from '../host/files.js'
import { PHASES, type Phase } from '../model/bundle.js'
import { printJson, printProblem, printText } from './report.js'
import { run } from './run.js'

interface Options {
  readonly bundle: string
  readonly node?: string
  readonly phase: Phase
  readonly output: 'text' | 'json'
  readonly stateDir: string
  readonly maxRemove: number
}

function percent(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > 100) throw new InvalidArgumentError('A whole number from 0 to 100.')
  return value
}

function subcommand(name: 'diff' | 'apply', description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption('--bundle <dir>', 'folder of this node in out/nodes')
    .addOption(new Option('--node <name>', 'the node that this host is (default: name of the machine)').env('EGRETTA_NODE'))
    .addOption(new Option('--phase <phase>', 'what the node is about to do').choices(PHASES).default('steady'))
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .option('--state-dir <dir>', 'folder that a reboot empties', '/run/egretta')
    .option('--max-remove <percent>', 'refuse to remove more than this share of a subsystem with over ten entries', percent, 50)
    .action(async ({ bundle, node, phase, output, stateDir, maxRemove }: Options) => {
      const rundir = process.env.OVS_RUNDIR || '/var/run/openvswitch'
      const report = await run({ command: name, bundle, node: node || machineName(), phase, stateDir, rundir, maxRemove })
      process.exitCode = report.exitCode
      process.stdout.write(output === 'json' ? printJson(report) : printText(report, name))
      for (const problem of report.problems) process.stderr.write(printProblem(problem))
    })
}

const program = new Command('egretta-agent')
  .description('Makes this host hold what its bundle says.')
  .addCommand(subcommand('diff', 'show what apply would change; changes nothing'))
  .addCommand(subcommand('apply', 'make the host agree with the bundle'))
  .addHelpText('after', '\nExit codes: 0 converged, 1 failed or refused, 2 differences, 4 converged except for pending entries.')

// A reader that has seen enough, such as head, is no fault.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

await program.parseAsync()
