import { type Address, addressFault, compareAddresses, parseAddress } from '../model/address.js'
import type { UnassignedReason } from '../model/assignment.js'
import type { Inputs } from '../model/inputs.js'
import type { EgressIPIntent } from '../model/intent.js'
import { type Position, type Problem, problem } from '../model/problem.js'
import { type Candidates, candidatesOf } from './candidates.js'
import type { Field } from './eligibility.js'
import { type AddressOwners, compareObjects } from './owners.js'
import { reservations } from './reserved.js'

/** An address that an object asks for and that nothing speaks against but the lack of a node. */
export interface Claim {
  readonly object: EgressIPIntent
  readonly address: Address
  readonly source: Position
  /** The node that has it now, as named: it need not exist. Null when none has. */
  readonly from: string | null
  /** Index of that node where the assignment is valid and therefore stays; else null. */
  readonly holder: number | null
  /** What the nodes are to it. */
  readonly candidates: Candidates
}

/** An address that is refused for what it is, whatever the nodes hold. */
export interface Refusal {
  readonly object: string
  /** RFC 5952, or as written where it is no address. */
  readonly egressIP: string
  readonly reason: UnassignedReason
  readonly message: string
  readonly from: string | null
  readonly source: Position | null
  /** Whether a problem of this code says it of the whole object already. */
  readonly reported: boolean
}

export interface Claims {
  /** In order of precedence: older objects first, those without creationTimestamp last, then by name; then by address. */
  readonly claims: readonly Claim[]
  readonly refusals: readonly Refusal[]
  readonly problems: readonly Problem[]
}

/** Judges every address of the intent for itself, in this order: InvalidObject, InvalidAddress, AddressConflict, AddressHeldByOther, ReservedAddress. */
export function claimsOf(inputs: Inputs, field: Field, owners: AddressOwners): Claims {
  const reserved = reservations(inputs)
  const lookUp = candidatesOf(field)
  const claims: Claim[] = []
  const refusals = refusalsOfInvalid(inputs)
  const problems: Problem[] = []
  for (const object of [...inputs.intent.objects].sort(compareObjects)) {
    const taken = new Set<number>()
    const read = readAddresses(object, inputs)
    refusals.push(...read.refusals)
    problems.push(...read.problems)
    for (const { address, source } of read.addresses) {
      const from = inputs.current.get(object.name)?.get(address.text) ?? null
      const candidates = lookUp(object.egressNodeSelector, address)
      const rival = owners.rivalOf(object, address)
      const index = from === null ? undefined : field.indexOf.get(from)
      const valid = rival === null && index !== undefined && !taken.has(index) && staysOn(index, candidates)
      if (valid) taken.add(index)
      const conflict = owners.conflictOf(address)
      const why = reserved(address, candidates.hosts.networks)
      const verdict = conflict
        ? { reason: 'AddressConflict' as const, tail: conflict }
        : rival
          ? { reason: 'AddressHeldByOther' as const, tail: rival }
          : why
            ? { reason: 'ReservedAddress' as const, tail: `is reserved: ${why}` }
            : null
      const subject = `${address.text} of ${object.name}`
      if (verdict && !valid) {
        refusals.push({
          object: object.name,
          egressIP: address.text,
          reason: verdict.reason,
          message: `${subject} ${verdict.tail}.`,
          from,
          source,
          reported: false,
        })
        continue
      }
      if (verdict) {
        const message = `${subject} ${verdict.tail}; it stays on ${from}, which holds it.`
        problems.push(problem(verdict.reason, { severity: 'warning', object: object.name, message, source }))
      }
      claims.push({ object, address, source, from, holder: valid ? index : null, candidates })
    }
  }
  return { claims, refusals, problems }
}

/** A node being drained still hosts what it holds until another one does. */
function staysOn(index: number, { exclusionOn, hosts }: Candidates): boolean {
  const exclusion = exclusionOn(index)
  return exclusion === null || (exclusion === 'Draining' && hosts.on.has(index))
}

/** The addresses of an object, each once and in order; what is none, or stands twice, with its problem. */
function readAddresses(object: EgressIPIntent, { current }: Inputs) {
  const addresses: { address: Address; source: Position }[] = []
  const refusals: Refusal[] = []
  const problems: Problem[] = []
  const seen = new Set<string>()
  for (const { text, address, index } of object.addresses) {
    const source = object.source.at(['spec', 'egressIPs', index])
    const egressIP = address?.text ?? text
    if (seen.has(egressIP)) {
      const message = `"${text}" stands a second time in ${object.name}${text === egressIP ? '' : `: it is ${egressIP}`}.`
      problems.push(problem('DuplicateInObject', { object: object.name, message, source }))
    } else if (address) {
      addresses.push({ address, source })
    } else {
      const message = `"${text}" of ${object.name} is not an address: ${addressFault(text)}.`
      const from = current.get(object.name)?.get(text) ?? null
      refusals.push({ object: object.name, egressIP: text, reason: 'InvalidAddress', message, from, source, reported: false })
    }
    seen.add(egressIP)
  }
  addresses.sort((a, b) => compareAddresses(a.address, b.address))
  return { addresses, refusals, problems }
}

function refusalsOfInvalid({ intent, current }: Inputs): Refusal[] {
  const found = new Map<string, Refusal>()
  for (const { name, texts, places, message, reported } of intent.invalid) {
    for (const text of texts) {
      const egressIP = parseAddress(text)?.text ?? text
      found.set(JSON.stringify([name, egressIP]), {
        object: name,
        egressIP,
        reason: 'InvalidObject',
        message: `${egressIP === '' ? 'An address' : egressIP} of ${name} is on no node, because the object is left out: ${message.replace(/\.$/, '')}.`,
        from: current.get(name)?.get(egressIP) ?? null,
        source: places.get(text) ?? null,
        reported,
      })
    }
  }
  return [...found.values()]
}
