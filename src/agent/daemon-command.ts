import { Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULT_LISTEN, type Listen, parseListen } from '../host/endpoint.js'
import { HostFault } from '../host/exec.js'
import { machineName } from '../host/files.js'
import { keepMemorySmall } from '../host/memory.js'
import { startDaemon } from './daemon.js'
import {
  checkOption,
  claimAfterOption,
  gatewayOption,
  type HostOptions,
  loud,
  maxRemoveOption,
  nodeOption,
  olderOption,
  rundir,
  seconds,
  stateOption,
} from './options.js'
import { faultProblem } from './reconcile.js'
import { printText } from './report.js'
import type { Report } from './run.js'
import { openSource } from './source.js'

interface RunOptions extends HostOptions {
  readonly source: string
  readonly onTerm: 'guard' | 'leave'
  readonly settle: number
  readonly syncCheck?: readonly string[]
  readonly poll?: number
  readonly interval: number
  readonly listen: Listen | null
  readonly maxRemove: number
  readonly claimAfter: number
  readonly allowOlder: boolean
  readonly check?: readonly string[]
  readonly checkGateway: boolean
  readonly replaceServiceRoutes?: boolean
}

function listenAt(text: string): Listen | null {
  if (text === 'none') return null
  const listen = parseListen(text)
  if (!listen) throw new InvalidArgumentError('ADDRESS:PORT, an IPv6 address in brackets, or none.')
  return listen
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
    .description('Keep this host doing what its bundle says, until SIGTERM or SIGINT; a second one ends it at once.')
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
    .addOption(claimAfterOption())
    .addOption(olderOption())
    .addOption(gatewayOption())
    .addOption(checkOption())
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
  keepMemorySmall()
  const {
    stateDir,
    onTerm,
    settle,
    syncCheck = null,
    poll,
    interval,
    listen,
    maxRemove,
    claimAfter,
    replaceServiceRoutes = false,
    allowOlder,
    check = null,
    checkGateway,
  } = options
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
    claimAfter,
    replaceServiceRoutes,
    allowOlder,
    checks: { gateway: checkGateway, command: check },
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
