#!/usr/bin/env node
import { Command, Option } from 'commander'
import { createExec } from '../host/exec.js'
import { readFacts } from '../host/facts.js'
import { machineName, readText } from '../host/files.js'
import { PHASES, type Phase } from '../model/bundle.js'
import { factsObject } from '../model/host-facts.js'
import { maxRemoveOption, nodeOption, runCommand, rundir, shutdownCommand, stateOption } from './daemon-command.js'
import { faultProblem } from './reconcile.js'
import { remembering } from './remember.js'
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

function subcommand(name: 'diff' | 'apply', description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption('--bundle <dir>', 'folder of this node in out/nodes, copied whole')
    .addOption(nodeOption())
    .addOption(
      new Option('--phase <phase>', 'what the node does: startup adds the guard flows, shutdown both guards, steady removes them')
        .choices(PHASES)
        .default('steady'),
    )
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .addOption(stateOption())
    .addOption(maxRemoveOption())
    .option('--replace-service-routes', 'replace routes to services that another gateway mode or release left behind')
    .action(async ({ bundle, node, phase, output, stateDir, maxRemove, replaceServiceRoutes = false }: Options) => {
      const place = { node: node || machineName(), phase, stateDir, rundir: rundir() }
      const work = () => run({ ...place, command: name, bundle, maxRemove, replaceServiceRoutes })
      const report = await (name === 'apply' ? remembering({ ...place, bundle }, work) : work())
      process.exitCode = report.exitCode
      process.stdout.write(output === 'json' ? printJson(report) : printText(report, name))
      for (const problem of report.problems) process.stderr.write(printProblem(problem))
    })
}

/** What the host is like, as an object that `egretta plan` reads. */
function factsCommand(): Command {
  return new Command('facts')
    .description('Print what this host is like, as an object that egretta plan reads among its inputs; change nothing.')
    .addOption(nodeOption())
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
function version(): string {
  return (JSON.parse(readText(`${import.meta.dirname}/../../package.json`) ?? '{"version":"unknown"}') as { version: string }).version
}

function printVersion(): never {
  process.stdout.write(`${version()}\n`)
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
  .addCommand(runCommand(version).addHelpText('after', environment + exitCodes))
  .addCommand(shutdownCommand().addHelpText('after', environment + exitCodes))
  .addCommand(factsCommand())
  .addHelpText('after', exitCodes)

// A reader that has seen enough, such as head, is no fault.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

await program.parseAsync()
