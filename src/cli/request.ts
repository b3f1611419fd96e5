import { Command, InvalidArgumentError, Option } from 'commander'
import type { OutcomeOptions } from '../constructs/outcome.js'
import type { PlacementOptions } from '../model/assignment.js'
import type { Inputs } from '../model/inputs.js'
import type { Style } from '../plan/style.js'
import { UsageError } from './fault.js'
import type { Project } from './project.js'
import { readProject } from './project.js'

/** Where a command prints. Only results go to `out`. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** Says what the command is doing, until something else is printed. Absent where nobody watches. */
  readonly progress?: (step: string) => void
  /** How text on `out` is laid out. */
  readonly style: Style
  /** How text on `err` is laid out. */
  readonly errorStyle: Style
}

/** The exit codes of `egretta`. */
export const EXIT = { fine: 0, failed: 1, differences: 2, errors: 3 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** How a command prints: `markdown` is for `plan` alone. */
export type OutputFormat = 'text' | 'json' | 'markdown'

/** The options that check, plan and synth share, as commander hands them over. */
interface RawOptions {
  readonly intent?: readonly string[]
  readonly topology?: readonly string[]
  readonly lock?: string
  readonly output: OutputFormat
  readonly allowUnassigned?: boolean
  readonly drain?: readonly string[]
  readonly down?: readonly string[]
  readonly rebalance?: number
}

/** What one command line asks for. */
export interface Request {
  readonly project: Project
  readonly output: OutputFormat
  readonly options: OutcomeOptions
}

/** What a command has beside the shared options. */
interface Particular {
  /** An argument before `[PATH...]`. */
  readonly subject?: { readonly argument: string; readonly means: string }
  readonly formats?: readonly OutputFormat[]
}

/** A command with the shared options and `[PATH...]`. */
export function commandOf(name: string, description: string, { subject, formats = ['text', 'json'] }: Particular = {}): Command {
  const each = (value: string, earlier: readonly string[] = []) => [...earlier, value]
  const command = new Command(name).description(description)
  if (subject) command.argument(subject.argument, subject.means)
  return command
    .argument('[PATH...]', 'files or folders that are intent and topology at once; - is standard input')
    .option('--intent <PATH>', 'files or folders with the objects that are wanted (default: intent/)', each)
    .option('--topology <PATH>', 'files or folders with the cluster as it is (default: topology/)', each)
    .option('--lock <FILE>', 'where the last decision is kept (default: egretta.lock.json; with a PATH or -, none)')
    .addOption(new Option('-o, --output <FORMAT>', 'how to print').choices(formats).default('text'))
    .option('--allow-unassigned', 'addresses that find no node are warnings')
    .option('--drain <NODE>', 'the node takes nothing new and its addresses move away', each)
    .option('--down <NODE>', 'the node counts as unreachable', each)
    .option('--rebalance [N]', 'move up to N addresses for balance (without N: any number); write --rebalance=N', moves)
}

/** `--rebalance` would take a PATH behind it for its number; with `=` it cannot. */
export const unambiguous = (argv: readonly string[]): readonly string[] =>
  argv.map((word) => (word === '--rebalance' ? '--rebalance=all' : word))

/** Reads everything that a command line names. Throws UsageError. */
export function requestOf(both: readonly string[], raw: RawOptions): Request {
  const { intent = [], topology = [], lock = null, output, allowUnassigned = false, drain = [], down = [], rebalance = null } = raw
  const project = readProject({ both, intent, topology, lock })
  return { project, output, options: { placement: { drain, down, rebalance }, allowUnassigned } }
}

/** The options of an outcome that says what it does to whoever watches. */
export const watched = (options: OutcomeOptions, { progress }: Terminal): OutcomeOptions =>
  progress ? { ...options, tell: progress } : options

/** A misspelt node would be drained of nothing. Throws UsageError. */
export function refuseUnknownNodes({ topology, unreadable }: Inputs, { drain, down }: PlacementOptions): void {
  if (unreadable) return
  const known = topology.nodes.map(({ name }) => name)
  const unknown = [...drain, ...down].filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new UsageError(`the topology has no node ${unknown.join(', ')}; it has ${known.slice(0, 20).join(', ') || 'none'}`)
}

function moves(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError('Give a number of addresses.')
  return Number(text)
}

export const printJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
