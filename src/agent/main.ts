#!/usr/bin/env node
import { Command, Option } from 'commander'
import { DEFAULT_LISTEN } from '../host/endpoint.js'
import { createExec } from '../host/exec.js'
import { readFacts } from '../host/facts.js'
import { machineName, readText } from '../host/files.js'
import { PHASES, type Phase } from '../model/bundle.js'
import { factsObject } from '../model/host-facts.js'
import { apply } from './apply.js'
import { runCommand } from './daemon-command.js'
import { askStatus, type StatusRequest } from './endpoint.js'
import { moveCommand, shutdownCommand } from './move-command.js'
import {
  checkOption,
  claimAfterOption,
  gatewayOption,
  loud,
  maxRemoveOption,
  nodeOption,
  olderOption,
  rundir,
  stateOption,
} from './options.js'
import { faultProblem } from './reconcile.js'
import { remembering } from './remember.js'
import { printJson, printText } from './report.js'
import { run } from './run.js'
import { verifyCommand, verifyReportsCommand } from './verify-command.js'

interface Options {
  readonly bundle: string
  readonly node?: string
  readonly phase: Phase
  readonly output: 'text' | 'json'
  readonly stateDir: string
  readonly maxRemove: number
  readonly replaceServiceRoutes?: boolean
  readonly claimAfter: number
  readonly allowOlder: boolean
  readonly check?: readonly string[] | null
  readonly checkGateway?: boolean
  readonly dryRun?: boolean
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
    .addOption(claimAfterOption())
    .addOption(olderOption())
    .option('--replace-service-routes', 'replace routes to services that another gateway mode or release left behind')
    .action(async ({ output, node, check = null, checkGateway = false, dryRun, ...options }: Options) => {
      const command = dryRun ? 'diff' : name
      const checks = { gateway: checkGateway, command: check }
      const request = { ...options, node: node || machineName(), rundir: rundir(), checks }
      const report = await (command === 'apply' ? remembering(request, () => apply(request)) : run({ ...request, command }))
      process.exitCode = report.exitCode
      process.stdout.write(output === 'json' ? printJson(report) : printText(report, command))
      loud(report.problems)
    })
}

const applyCommand = (): Command =>
  subcommand('apply', 'Make the host agree with the bundle, and read it again.')
    .option('--dry-run', 'change nothing, and show what diff shows')
    .addOption(gatewayOption())
    .addOption(checkOption())

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
        loud([faultProblem(error)])
      }
    })
}

/** What the agent that runs on this host knows. */
function statusCommand(): Command {
  return new Command('status')
    .description('Ask the agent that runs on this host what it knows.')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .option('--listen <address>', 'where it listens, as it was told', DEFAULT_LISTEN)
    .action(async (options: Required<StatusRequest>) => {
      try {
        const { exitCode, text } = await askStatus(options)
        process.exitCode = exitCode
        process.stdout.write(text)
      } catch (error) {
        process.exitCode = 1
        loud([faultProblem(error)])
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

const runCodes = `
Exit codes:
  0  it was told to stop, and did, with --on-term guard silenced
  1  it could not start, or the node did not fall silent whole
`

const statusCodes = `
Exit codes:
  0  the node does all that its bundle says
  1  no agent answers
  4  it does not yet, or something is wrong
`

const verifyCodes = `
Exit codes:
  0  every node does what its bundle says, and no egress IP is on several
  1  failed or refused
  2  something is not so; the lines say what
`

const program = new Command('egretta-agent')
  .description('Makes this host hold what its bundle says.')
  .option('--version', 'print the version')
  .on('option:version', printVersion)
  .addCommand(subcommand('diff', 'Show what apply would change; change nothing.').addHelpText('after', environment + exitCodes))
  .addCommand(applyCommand().addHelpText('after', environment + exitCodes))
  .addCommand(runCommand(version).addHelpText('after', environment + runCodes))
  .addCommand(shutdownCommand().addHelpText('after', environment + exitCodes))
  .addCommand(moveCommand('release').addHelpText('after', environment + exitCodes))
  .addCommand(moveCommand('claim').addHelpText('after', environment + exitCodes))
  .addCommand(statusCommand().addHelpText('after', statusCodes))
  .addCommand(verifyCommand().addHelpText('after', environment + verifyCodes))
  .addCommand(verifyReportsCommand().addHelpText('after', verifyCodes))
  .addCommand(factsCommand())
  .addHelpText('after', exitCodes)

// A reader that has seen enough, such as head, is no fault.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

await program.parseAsync()
