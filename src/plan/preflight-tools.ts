import type { HostFacts } from '../model/host-facts.js'
import { packageOf } from '../model/package.js'
import type { Problem } from '../model/problem.js'
import type { Needs, Say } from './needs.js'

/** A program that a node needs. */
interface Wanted {
  readonly name: string
  /** First version that does; null where any does, or the program does not say its version. */
  readonly least: string | null
  /** What does not work without it. */
  readonly without: string
  /** Whether the bundle can be applied without it. */
  readonly optional: boolean
}

/**
 * What is asked of versions: `protocol` of neighbors came with iproute2 5.0, which called itself ss190319, check_pkt_larger with Open vSwitch
 * 2.12, `-w` for a zone with conntrack 1.0.0.
 */
function wantedBy({ egressIPs, nftVersion, reads, flushes }: Needs): readonly Wanted[] {
  const has = (family: 4 | 6): boolean => egressIPs.some((address) => address.family === family)
  const speaks = (family: 4 | 6, name: string, least: string | null): readonly Wanted[] =>
    has(family)
      ? [{ name, least, without: `IPv${family} egress IPs can be neither probed nor announced when they move here`, optional: true }]
      : []
  const needed = (name: string, least: string, without: string): Wanted => ({ name, least, without, optional: false })
  return [
    ...(reads.nftables ? [needed('nft', nftVersion, 'the tables of the bundle cannot be loaded')] : []),
    needed('ip', '5.0.0', 'addresses, rules and routes cannot be told from those of others'),
    ...(reads.openflow ? [needed('ovs-ofctl', '2.12.0', 'the flows of the bridge cannot be written')] : []),
    ...(flushes ? [needed('conntrack', '1.0.0', 'established flows keep an egress IP that has moved')] : []),
    ...speaks(4, 'arping', null),
    ...speaks(6, 'ndisc6', '1.0.0'),
    ...speaks(6, 'ndptool', null),
  ]
}

/** Programs that are missing or too old. */
export function toolProblems(needs: Needs, { tools }: HostFacts, say: Say): readonly Problem[] {
  return wantedBy(needs).flatMap(({ name, least, without, optional }): readonly Problem[] => {
    const index = tools.findIndex((tool) => tool.name === name)
    const severity = optional ? ('warning' as const) : ('error' as const)
    const where = packageOf(name)
    if (index < 0) {
      const message = `${name} is not installed; without it ${without}`
      return [say('MissingTool', { severity, message, remedy: `Install ${where}.`, path: ['tools'] })]
    }
    const version = tools[index]?.version ?? null
    if (least === null || version === null || !isOlder(version, least)) return []
    const message = `${name} is version ${version}, older than ${least}; with it ${without}`
    return [say('OldTool', { severity, message, remedy: `Install a newer version of ${where}.`, path: ['tools', index] })]
  })
}

/** First release of iproute2 that has a number, 5.9, came in October 2020; those before are named by the day: ss190319 is 5.0. */
const NUMBERED_BY_DAY = /^ss(\d{6})$/
const IPROUTE_5_0 = 190319

/** Whether a version (`1.0.6`, `ss200127`) is older than another; one that cannot be read is not. */
export function isOlder(version: string, least: string): boolean {
  const day = NUMBERED_BY_DAY.exec(version)?.[1]
  if (day !== undefined) return Number(day) < IPROUTE_5_0
  const [left, right] = [numbers(version), numbers(least)]
  if (left.length === 0) return false
  for (const [at, wanted] of right.entries()) {
    const number = left[at] ?? 0
    if (number !== wanted) return number < wanted
  }
  return false
}

const numbers = (version: string): readonly number[] => /^v?(\d+(?:\.\d+)*)/.exec(version)?.[1]?.split('.').map(Number) ?? []
