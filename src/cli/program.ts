import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { explainCommand } from './explain-command.js'
import { faultText } from './fault.js'
import type { ExitCode, Terminal } from './request.js'
import { commandOf, EXIT, requestOf, unambiguous } from './request.js'

const EPILOGUE = `
Exit codes:
  0  fine
  1  the command failed: a file cannot be read or parsed, or synth --plan has other inputs; nothing was written
  2  differences (plan --detailed-exitcode, synth --frozen)
  3  at least one problem is an error; what is valid is printed or written all the same
`

/** Runs one command line (without node and script). Never throws for what a user can cause. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exit: ExitCode = EXIT.fine
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  const program = new Command('egretta')
    .description('EgressIP as code: plans, renders and applies the egress IPs of OVN-Kubernetes clusters.')
    .version(version, '--version', 'print the version')
    .addHelpText('after', EPILOGUE)
  program.addCommand(
    commandOf('check', 'Say what is wrong with the intent, the topology and the placement.').action(async (paths, options) => {
      const { check } = await import('./check.js')
      exit = check(requestOf(paths, options), terminal)
    }),
  )
  program.addCommand(
    commandOf('plan', 'Say which addresses move, which are refused and why, and what each host will change.', {
      formats: ['text', 'json', 'markdown'],
    })
      .option('--detailed-exitcode', 'exit 2 when the plan changes anything')
      .option('--previous <PATH>', 'compare with an earlier plan (-o json) or earlier inputs, not with the current assignment')
      .option('--n-minus-1', 'say for every single egress node whether all addresses would fit without it; the exit code stays')
      .action(async (paths, options) => {
        const { plan } = await import('./plan.js')
        const { detailedExitcode = false, previous = null, nMinus1 = false } = options
        exit = plan(requestOf(paths, options), { detailed: detailedExitcode, previous, nMinusOne: nMinus1 }, terminal)
      }),
  )
  program.addCommand(
    commandOf('synth', 'Write manifests and node bundles to the output folder, and the lock.')
      .option('--out <DIR>', 'output folder', 'out')
      .option('--frozen', 'exit 2 and write nothing when the lock would change')
      .option('--plan <FILE>', 'write what this plan (plan -o json) decided, with its options; fail when the inputs are others')
      .action(async (paths, options) => {
        const { synth } = await import('./synth.js')
        const { out, frozen = false, plan = null } = options
        exit = synth(requestOf(paths, options), { out, frozen, plan }, terminal)
      }),
  )
  program.addCommand(
    explainCommand(async (request, question) => {
      const { explain } = await import('./explain.js')
      exit = explain(request, question, terminal)
    }),
  )
  for (const command of [program, ...program.commands.flatMap((one) => [one, ...one.commands])]) {
    command.exitOverride().configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(text) })
  }
  try {
    await program.parseAsync([...unambiguous(argv)], { from: 'user' })
    return exit
  } catch (fault) {
    if (fault instanceof CommanderError) return fault.exitCode === 0 ? EXIT.fine : EXIT.failed
    terminal.err(faultText(fault))
    return EXIT.failed
  }
}
