import { InvalidArgumentError, Option } from 'commander'
import type { Problem } from '../model/problem.js'
import { CLAIM_AFTER } from './handover.js'
import { printProblem } from './report.js'

/** What every subcommand that works on the host is told. */
export interface HostOptions {
  readonly node?: string
  readonly stateDir: string
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

/** Seconds, of which an hour is enough. */
export const seconds =
  (least: number) =>
  (text: string): number => {
    const value = Number(text)
    if (!/^\d+(?:\.\d+)?$/.test(text) || value < least || value > 3600) throw new InvalidArgumentError(`Seconds, from ${least} to 3600.`)
    return value
  }

/** Says what is wrong. */
export const loud = (problems: readonly Problem[]) => {
  for (const each of problems) process.stderr.write(printProblem(each))
}

export const olderOption = (): Option =>
  new Option('--allow-older', 'apply also a bundle that is older than the one that was applied last').default(false)
export const gatewayOption = (): Option =>
  new Option('--check-gateway', 'put back a pass after which a default gateway does not answer').default(false)
export const checkOption = (): Option =>
  new Option('--check <command...>', 'command, without shell: put back a pass after which its exit code is not 0')

export const claimAfterOption = (): Option =>
  new Option('--claim-after <seconds>', 'how long an egress IP is left to another station that answers for it')
    .argParser(seconds(0))
    .default(CLAIM_AFTER)
