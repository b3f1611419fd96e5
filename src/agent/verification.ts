import type { Address } from '../model/address.js'
import type { Problem } from '../model/problem.js'
import type { Finding } from './finding.js'

/** An address for which a node speaks. */
export interface Held {
  readonly address: string
  /** How: `address on eth1`, `flow of br-ex`, `translation through eth1`. */
  readonly by: string
  /** Whether the node knows that it is an egress IP; others stand here because another node may know it. */
  readonly egressIP: boolean
}

/** What the verification of a node found; kind `Verification` as JSON. */
export interface Verification {
  readonly node: string
  /** Digest of the bundle; null where it was refused. */
  readonly bundle: string | null
  readonly findings: readonly Finding[]
  readonly held: readonly Held[]
  readonly problems: readonly Problem[]
  /** 0 the node does what its bundle says, 1 failed or refused, 2 it does not. */
  readonly exitCode: 0 | 1 | 2
}

export const printVerificationJson = ({ exitCode: _, ...rest }: Verification): string =>
  `${JSON.stringify({ kind: 'Verification', ...rest }, null, 2)}\n`

/** For a person: a line for each finding, a last line that says it all. */
export function printVerification({ node, findings, exitCode }: Verification): string {
  const lines = findings.map(
    ({ subsystem, what, key, says, for: object }) =>
      `  ${what.padEnd(9)}  ${subsystem.padEnd(9)}  ${key}${object ? ` (${object})` : ''}: ${says}`,
  )
  const total =
    exitCode === 1
      ? 'could not be verified'
      : findings.length === 0
        ? 'does what its bundle says'
        : `does not do what its bundle says: ${count(findings.length, 'finding')}`
  return [...lines, `${node}: ${total}.`, ''].join('\n')
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

/** What a report of another node says, read again. */
export type Reported = Pick<Verification, 'node' | 'findings' | 'held'> & { readonly failed: boolean }

/** A report in the words of JSON; or, in half a sentence, why it is none. */
export function parseVerification(text: string): Reported | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return `is not JSON (${(error as Error).message})`
  }
  const { kind, node, bundle, findings, held, problems } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (kind !== 'Verification' || typeof node !== 'string' || !Array.isArray(findings) || !Array.isArray(held))
    return 'is not what verify -o json prints'
  if (!held.every(isHeld)) return 'has something under "held" that verify does not write there'
  const isError = (each: unknown) => (each as Partial<Problem> | null)?.severity === 'error'
  return {
    node,
    findings: findings as readonly Finding[],
    held,
    failed: bundle === null || (Array.isArray(problems) && problems.some(isError)),
  }
}

function isHeld(value: unknown): value is Held {
  const { address, by, egressIP } = (value ?? {}) as Readonly<Record<string, unknown>>
  return typeof address === 'string' && typeof by === 'string' && typeof egressIP === 'boolean'
}

/** An egress IP for which several nodes speak, and how each does. */
export interface Shared {
  readonly address: string
  readonly nodes: readonly { readonly node: string; readonly by: readonly string[] }[]
}

/** Egress IPs for which more than one of the nodes speaks, in the order of their texts. It is one as soon as one node knows it as such. */
export function sharedBy(reports: readonly Reported[]): readonly Shared[] {
  const egressIPs = new Set(reports.flatMap(({ held }) => held.flatMap(({ address, egressIP }) => (egressIP ? address : []))))
  return [...egressIPs].sort().flatMap((address): readonly Shared[] => {
    const nodes = reports.flatMap(({ node, held }) => {
      const by = held.filter((each) => each.address === address).map((each) => each.by)
      return by.length === 0 ? [] : [{ node, by }]
    })
    return nodes.length < 2 ? [] : [{ address, nodes }]
  })
}

/** Reports of several nodes for a person. */
export function printShared(shared: readonly Shared[], reports: readonly Reported[]): string {
  const lines = shared.map(
    ({ address, nodes }) => `  ${address} is on several nodes: ${nodes.map(({ node, by }) => `${node} (${by.join(', ')})`).join(', ')}`,
  )
  const each = reports.flatMap(({ node, findings, failed }) =>
    failed
      ? `  ${node} could not be verified`
      : findings.length > 0
        ? `  ${node} does not do what its bundle says: ${count(findings.length, 'finding')}`
        : [],
  )
  const total = lines.length > 0 ? `${count(lines.length, 'egress IP')} on several nodes` : 'no egress IP is on several nodes'
  return [...lines, ...each, `${count(reports.length, 'node')}: ${total}.`, ''].join('\n')
}

/** Held once each, in the order of their texts. */
export function heldList(all: readonly { readonly address: Address; readonly by: string; readonly egressIP: boolean }[]): readonly Held[] {
  const list = all.map(({ address, by, egressIP }): Held => ({ address: address.text, by, egressIP }))
  return [...new Map(list.map((each) => [`${each.address} ${each.by}`, each])).entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, each]) => each)
}
