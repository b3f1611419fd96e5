#!/usr/bin/env node
import { Command, InvalidArgumentError, Option } from 'commander'
import { createExec } from '../host/exec.js'
import { readFacts } from '../host/facts.js'
import { machineName, readText } from '../host/files.js'
import { PHASES, type Phase } from '../model/bundle.js'
import { factsObject } from '../model/host-facts.js'
import { faultProblem } from './reconcile.js'
import { printJson, printProblem, printText } from './report.js'
import { run } from './run.js'

interface Options {
  readonly bundle: string
  readonly node?: string
  readonly phase: Phase
  readonly output: 'text' | 'json'
  readonly stateDir: string
  readonly maxRemove: number
  readonly replaceServiceRoutes?: boolean
}

function percent(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > 100) throw new InvalidArgumentError('A whole number from 0 to 100.')
  return value
}

function subcommand(name: 'diff' | 'apply', description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption('--bundle <dir>', 'folder of this node in out/nodes, copied whole')
    .addOption(new Option('--node <name>', 'the node that this host is (default: name of the machine)').env('EGRETTA_NODE'))
    .addOption(
      new Option('--phase <phase>', 'what the node does: startup adds the guard flows, shutdown both guards, steady removes them')
        .choices(PHASES)
        .default('steady'),
    )
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .option('--state-dir <dir>', 'journal and owned addresses; a folder that a reboot empties', '/run/egretta')
    .option('--max-remove <percent>', 'refuse to remove more than this share of a subsystem with over ten entries', percent, 50)
    .option('--replace-service-routes', 'replace routes to services that another gateway mode or release left behind')
    .action(async ({ bundle, node, phase, output, stateDir, maxRemove, replaceServiceRoutes = false }: Options) => {
      const rundir = process.env.OVS_RUNDIR || '/var/run/openvswitch'
      const report = await run({
        command: name,
        bundle,
        node: node || machineName(),
        phase,
        stateDir,
        rundir,
        maxRemove,
        replaceServiceRoutes,
      })
      process.exitCode = report.exitCode
      process.stdout.write(output === 'json' ? printJson(report) : printText(report, name))
      for (const problem of report.problems) process.stderr.write(printProblem(problem))
    })
}

/** What the host is like, as an object that `egretta plan` reads. */
function factsCommand(): Command {
  return new Command('facts')
    .description('Print what this host is like, as an object that egretta plan reads among its inputs; change nothing.')
    .addOption(new Option('--node <name>', 'the node that this host is (default: name of the machine)').env('EGRETTA_NODE'))
    .action(async ({ node }: Pick<Options, 'node'>) => {
      try {
        process.stdout.write(`${JSON.stringify(factsObject(await readFacts(createExec(), node || machineName())), null, 2)}\n`)
      } catch (error) {
        process.exitCode = 1
        process.stderr.write(printProblem(faultProblem(error)))
      }
    })
}

/** Read only when asked for: what stands beside dist/ on a node may not keep the agent from its work. */
function printVersion(): never {
  const { version } = JSON.parse(readText(`${import.meta.dirname}/../../package.json`) ?? '{"version":"unknown"}') as { version: string }
  process.stdout.write(`${version}\n`)
  process.exit()
}

const environment = '\nEnvironment:\n  OVS_RUNDIR  sockets of Open vSwitch (default: /var/run/openvswitch)\n'
const exitCodes = `
Exit codes:
  0  the host holds what the bundle says
  1  failed or refused
  2  differences (diff)
  4  nothing is left to do but for entries whose bridge, port or interface is not there yet
`

const program = new Command('egretta-agent')
  .description('Makes this host hold what its bundle says.')
  .option('--version', 'print the version')
  .on('option:version', printVersion)
  .addCommand(subcommand('diff', 'Show what apply would change; change nothing.').addHelpText('after', environment + exitCodes))
  .addCommand(subcommand('apply', 'Make the host agree with the bundle, and read it again.').addHelpText('after', environment + exitCodes))
  .addCommand(factsCommand())
  .addHelpText('after', exitCodes)

// A reader that has seen enough, such as head, is no fault.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

await program.parseAsync()
