import { Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULT_LISTEN, type Listen, parseListen } from '../host/endpoint.js'
import { HostFault } from '../host/exec.js'
import { machineName } from '../host/files.js'
import type { Problem } from '../model/problem.js'
import { startDaemon } from './daemon.js'
import { faultProblem } from './reconcile.js'
import { remembering } from './remember.js'
import { printProblem, printText } from './report.js'
import { type Report, run } from './run.js'
import { openSource } from './source.js'
import { appliedCopy } from './store.js'

/** What every subcommand that works on the host is told. */
export interface HostOptions {
  readonly node?: string
  readonly stateDir: string
}

interface RunOptions extends HostOptions {
  readonly source: string
  readonly onTerm: 'guard' | 'leave'
  readonly settle: number
  readonly syncCheck?: readonly string[]
  readonly poll?: number
  readonly interval: number
  readonly listen: Listen | null
  readonly maxRemove: number
  readonly replaceServiceRoutes?: boolean
}

/** Where Open vSwitch has its sockets. */
export const rundir = (): string => process.env.OVS_RUNDIR || '/var/run/openvswitch'

export const nodeOption = (): Option =>
  new Option('--node <name>', 'the node that this host is (default: name of the machine)').env('EGRETTA_NODE')
export const stateOption = (): Option =>
  new Option('--state-dir <dir>', 'journal and owned addresses; a folder that a reboot empties').default('/run/egretta')
export const maxRemoveOption = (): Option =>
  new Option('--max-remove <percent>', 'refuse to remove more than this share of a subsystem with over ten entries')
    .argParser(percent)
    .default(50)

function percent(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > 100) throw new InvalidArgumentError('A whole number from 0 to 100.')
  return value
}

/** Seconds, of which an hour is enough, as milliseconds or as they are. */
const seconds =
  (least: number) =>
  (text: string): number => {
    const value = Number(text)
    if (!/^\d+(?:\.\d+)?$/.test(text) || value < least || value > 3600) throw new InvalidArgumentError(`Seconds, from ${least} to 3600.`)
    return value
  }

function listenAt(text: string): Listen | null {
  if (text === 'none') return null
  const listen = parseListen(text)
  if (!listen) throw new InvalidArgumentError('ADDRESS:PORT, an IPv6 address in brackets, or none.')
  return listen
}

const loud = (problems: readonly Problem[]) => {
  for (const each of problems) process.stderr.write(printProblem(each))
}

/** Of more changes than these, and of what waits, the number is said. */
const TOLD = 20

/** Prints the report of a pass that changed something, or in which something else waits or is wrong than in the one before. */
function reporter(): (report: Report) => void {
  let before = ''
  return (report) => {
    const { changes, pending, problems, phase } = report
    const reasons = [...new Set(pending.map(({ subsystem, reason }) => `${subsystem} ${reason}`))].sort()
    const now = JSON.stringify([phase, reasons, problems])
    if (changes.length === 0 && now === before) return
    before = now
    const more = (count: number, what: string) => (count > TOLD ? `  and ${count - TOLD} more ${what}\n` : '')
    const short = printText({ ...report, changes: changes.slice(0, TOLD), pending: pending.slice(0, TOLD) }, 'apply').split('\n')
    const last = printText(report, 'apply').trimEnd().split('\n').at(-1)
    const lines = short.slice(0, -2).map((line) => `${line}\n`)
    process.stdout.write(`${lines.join('')}${more(changes.length, 'changes')}${more(pending.length, 'that wait')}${last}\n`)
    loud(problems)
  }
}

/** Keeps a host doing what its bundle says, for as long as the host runs. */
export function runCommand(version: () => string): Command {
  return new Command('run')
    .description('Keep this host doing what its bundle says, until SIGTERM or SIGINT. Another signal ends it at once.')
    .requiredOption('--source <source>', 'rendered folder out, folder of this node in it, or git+URL#REF[:path]')
    .addOption(nodeOption())
    .addOption(
      new Option('--on-term <what>', 'what SIGTERM does first: guard lets the node fall silent, leave changes nothing')
        .choices(['guard', 'leave'])
        .default('guard'),
    )
    .addOption(
      new Option('--settle <seconds>', 'how long the entries must have been there before the node may announce')
        .argParser(seconds(0))
        .default(5),
    )
    .option('--sync-check <command...>', 'command, without shell, whose exit code 0 says so instead')
    .addOption(
      new Option('--poll <seconds>', 'how often to look at the source (default: 5 for a folder, 30 for git)').argParser(seconds(0.1)),
    )
    .addOption(new Option('--interval <seconds>', 'how often to compare everything when nothing happens').argParser(seconds(1)).default(60))
    .addOption(
      new Option('--listen <address>', 'where to answer /status, /healthz and /metrics, or none')
        .argParser(listenAt)
        .default(parseListen(DEFAULT_LISTEN), DEFAULT_LISTEN),
    )
    .addOption(stateOption())
    .addOption(maxRemoveOption())
    .option('--replace-service-routes', 'replace routes to services that another gateway mode or release left behind')
    .action(async (options: RunOptions) => {
      try {
        await runUntilSignal(options, version())
      } catch (error) {
        process.exitCode = 1
        loud([faultProblem(error)])
      }
    })
}

async function runUntilSignal(options: RunOptions, version: string): Promise<void> {
  const { stateDir, onTerm, settle, syncCheck = null, poll, interval, listen, maxRemove, replaceServiceRoutes = false } = options
  const node = options.node || machineName()
  const source = openSource(options.source, {
    node,
    stateDir,
    home: process.env.HOME ?? null,
    exec: {},
    ...(poll !== undefined && { poll }),
  })
  if (!source) {
    throw new HostFault(
      'CommandFailed',
      `"${options.source}" names no git repository`,
      'Write git+URL#REF or git+URL#REF:path; REF is a branch, a tag or a commit.',
    )
  }
  const told = reporter()
  const daemon = await startDaemon({
    source,
    node,
    stateDir,
    onTerm,
    version,
    listen,
    maxRemove,
    replaceServiceRoutes,
    rundir: rundir(),
    settle: settle * 1000,
    check: syncCheck,
    period: interval * 1000,
    told,
    complained: loud,
  })
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, resolve)
  })
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => process.exit(name === 'SIGTERM' ? 143 : 130))
  process.stdout.write(`${node}: ${signal}, ${onTerm === 'guard' ? 'falling silent' : 'leaving everything as it is'}.\n`)
  const last = await daemon.stop()
  if (last) told(last)
  process.exit(last?.exitCode === 1 ? 1 : 0)
}

/** Lets the node fall silent with the bundle that was applied last; its source is not needed. */
export function shutdownCommand(): Command {
  return new Command('shutdown')
    .description(
      'Let this node fall silent for its egress IPs: the shutdown phase of the bundle that was applied last. An agent that runs keeps to it.',
    )
    .addOption(nodeOption())
    .addOption(stateOption())
    .action(async ({ node: named, stateDir }: HostOptions) => {
      const node = named || machineName()
      try {
        const copy = appliedCopy(stateDir, node)
        if (!copy) {
          process.stdout.write(`${node}: no bundle was applied here, there is nothing to silence.\n`)
          return
        }
        const place = { bundle: copy.folder, node, phase: 'shutdown', stateDir, rundir: rundir() } as const
        const report = await remembering(place, () => run({ ...place, command: 'apply', maxRemove: 100 }))
        process.stdout.write(printText(report, 'apply'))
        loud(report.problems)
        process.exitCode = report.exitCode
      } catch (error) {
        process.exitCode = 1
        loud([faultProblem(error)])
      }
    })
}
