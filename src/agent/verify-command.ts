import { Command, Option } from 'commander'
import { HostFault } from '../host/exec.js'
import { machineName, readText } from '../host/files.js'
import type { Address } from '../model/address.js'
import { readAddressList } from '../model/node-annotations.js'
import { nodeOption, rundir } from './options.js'
import { faultProblem } from './reconcile.js'
import { printProblem } from './report.js'
import { parseVerification, printShared, printVerification, printVerificationJson, type Reported, sharedBy } from './verification.js'
import { verify } from './verify.js'

interface VerifyOptions {
  readonly bundle: string
  readonly node?: string
  readonly nodeObject?: string
  readonly output: 'text' | 'json'
}

const outputOption = (): Option => new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text')

/** Compares a host on which ovnkube-node works with the bundle of its node. */
export function verifyCommand(): Command {
  return new Command('verify')
    .description('Say whether a host on which ovnkube-node works does what its bundle says; change nothing.')
    .requiredOption('--bundle <dir>', 'folder of this node in out/nodes, copied whole')
    .addOption(nodeOption())
    .option('--node-object <file>', 'what "kubectl get node NAME -o json" prints: its annotations name egress IPs that the node had')
    .addOption(outputOption())
    .action(async ({ bundle, node, nodeObject, output }: VerifyOptions) => {
      try {
        const annotated = nodeObject === undefined ? [] : annotatedIn(nodeObject)
        const found = await verify({ bundle, node: node || machineName(), rundir: rundir(), annotated })
        process.exitCode = found.exitCode
        process.stdout.write(output === 'json' ? printVerificationJson(found) : printVerification(found))
        for (const problem of found.problems) process.stderr.write(printProblem(problem))
      } catch (error) {
        fail(error)
      }
    })
}

/** Compares what `verify -o json` printed on several nodes. Needs no host. */
export function verifyReportsCommand(): Command {
  return new Command('verify-reports')
    .description('Say whether an egress IP is on several nodes, by what "verify -o json" printed on each.')
    .argument('<file...>', 'a report of each node')
    .addOption(outputOption())
    .action((files: readonly string[], { output }: Pick<VerifyOptions, 'output'>) => {
      try {
        const reports = files.map(readReport)
        const shared = sharedBy(reports)
        const wrong = shared.length > 0 || reports.some(({ findings }) => findings.length > 0)
        process.exitCode = reports.some(({ failed }) => failed) ? 1 : wrong ? 2 : 0
        process.stdout.write(
          output === 'json' ? `${JSON.stringify({ kind: 'SharedAddresses', shared }, null, 2)}\n` : printShared(shared, reports),
        )
      } catch (error) {
        fail(error)
      }
    })
}

function fail(error: unknown): void {
  process.exitCode = 1
  process.stderr.write(printProblem(faultProblem(error)))
}

function readReport(file: string): Reported {
  const text = textOf(file)
  const report = parseVerification(text)
  if (typeof report === 'string')
    throw new HostFault('CommandFailed', `${file} ${report}`, 'Name files that "egretta-agent verify -o json" wrote.')
  return report
}

function textOf(file: string): string {
  const text = readText(file)
  if (text === null) throw new HostFault('CommandFailed', `${file} is not there`, 'Name a file that is.')
  return text
}

/** Annotations in which ovnkube-node writes the egress IPs that it put on the host. */
const ANNOTATIONS = ['k8s.ovn.org/secondary-host-egress-ips', 'k8s.ovn.org/bridge-egress-ips']

function annotatedIn(file: string): readonly Address[] {
  const { metadata } = (JSON.parse(textOf(file)) ?? {}) as { metadata?: { annotations?: Readonly<Record<string, unknown>> } }
  return ANNOTATIONS.flatMap((name) => {
    const written = metadata?.annotations?.[name]
    if (written === undefined) return []
    return readAddressList(JSON.parse(String(written)), (fault) => {
      throw new HostFault('CommandFailed', `annotation ${name} in ${file}: ${fault}`, 'Name what kubectl printed, unchanged.')
    })
  })
}
