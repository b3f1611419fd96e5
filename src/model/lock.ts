import { addressFault, compareAddresses, parseAddress } from './address.js'
import type { Placement } from './assignment.js'
import { jsonDocuments } from './document.js'
import { objectAt, printPath, record, textAt } from './json.js'
import { lineIndex } from './lines.js'
import { type Problem, problem } from './problem.js'
import { schemaCheck } from './schema.js'
import type { SourceFile } from './source.js'

/** `egretta.lock.json`: what synth decided, committed beside the intent. Sorted, so that it merges well. */
export interface Lock {
  readonly apiVersion: 'egretta.dev/v1alpha1'
  readonly kind: 'Lock'
  readonly objects: Readonly<Record<string, LockedObject>>
}

export interface LockedObject {
  readonly mark?: number
  /** Address (RFC 5952) to the node decided, and the node that the live status named when this was written (null: none). */
  readonly addresses: Readonly<Record<string, { readonly node: string; readonly seen: string | null }>>
}

const check = schemaCheck({
  type: 'object',
  required: ['apiVersion', 'kind', 'objects'],
  properties: {
    apiVersion: { const: 'egretta.dev/v1alpha1' },
    kind: { const: 'Lock' },
    objects: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['addresses'],
        properties: {
          mark: { type: 'integer' },
          addresses: {
            type: 'object',
            additionalProperties: {
              type: 'object',
              required: ['node'],
              properties: { node: { type: 'string', minLength: 1 }, seen: { type: ['string', 'null'] } },
            },
          },
        },
      },
    },
  },
})

const RESTORE = 'Restore the lock from version control; if there is none, remove the file, and synth decides anew.'

/**
 * Reads `egretta.lock.json`. A lock that does not parse, or is no lock, is UnreadableInput: guessing what was decided
 * would move addresses.
 */
export function parseLock(file: SourceFile): { lock: Lock | null; problems: readonly Problem[] } {
  const text = file.text.startsWith('\uFEFF') ? file.text.slice(1) : file.text
  const refuse = (offset: number, message: string, remedy = RESTORE): { lock: null; problems: readonly Problem[] } => {
    const source = { file: file.file, ...lineIndex(text)(offset) }
    return { lock: null, problems: [problem('UnreadableInput', { message: `The lock ${file.file} ${message}.`, source, remedy })] }
  }
  const conflict = /^<{7} /m.exec(text)
  if (conflict) return refuse(conflict.index, 'has merge conflict markers')
  const { documents, faults } = jsonDocuments(text)
  const [document] = documents
  if (!document) return refuse(faults[0]?.offset ?? 0, `is not valid JSON: ${faults[0]?.message ?? 'it is empty'}`)
  const version = textAt(document.value, ['apiVersion'])
  if (version?.startsWith('egretta.dev/') && version !== 'egretta.dev/v1alpha1') {
    return refuse(document.locate(['apiVersion']), `is of another version: ${version}`, 'Run the egretta that wrote it, or a newer one.')
  }
  for (const { kind, path, message } of check(document.value)) {
    if (kind === 'wrong') return refuse(document.locate(path), `is wrong: ${printPath(path) || 'the document'} ${message}`)
  }
  const objects = Object.entries(objectAt(document.value, ['objects'])) as [string, LockedObject][]
  for (const [name, { addresses }] of objects) {
    for (const text of Object.keys(addresses)) {
      if (!parseAddress(text))
        return refuse(
          document.locate(['objects', name, 'addresses', text], true),
          `names "${text}", which is not an address: ${addressFault(text)}`,
        )
    }
  }
  const canonical = ([name, { mark, addresses }]: [string, LockedObject]): readonly [string, LockedObject] => [
    name,
    {
      ...(mark === undefined ? {} : { mark }),
      addresses: sortAddresses(Object.entries(addresses).map(([text, { node, seen }]) => [text, { node, seen: seen ?? null }])),
    },
  ]
  return { lock: lockOf(objects.map(canonical)), problems: [] }
}

const lockOf = (objects: readonly (readonly [string, LockedObject])[]): Lock => ({
  apiVersion: 'egretta.dev/v1alpha1',
  kind: 'Lock',
  objects: record(objects),
})

type Holding = LockedObject['addresses'][string]

/** RFC 5952 texts, IPv4 before IPv6, then by value. */
function sortAddresses(entries: readonly (readonly [string, Holding])[]): LockedObject['addresses'] {
  const parsed = entries.flatMap(([text, holding]) => {
    const address = parseAddress(text)
    return address ? [{ address, holding }] : []
  })
  parsed.sort((a, b) => compareAddresses(a.address, b.address))
  return Object.fromEntries(parsed.map(({ address, holding }) => [address.text, holding]))
}

/** What nextLock needs of the inputs. */
interface Decided {
  readonly intent: {
    readonly objects: readonly { readonly name: string; readonly status: ReadonlyMap<string, string> }[]
    readonly invalid: readonly { readonly name: string }[]
    readonly gone: readonly { readonly name: string }[]
  }
  readonly lock: Lock | null
}

/**
 * The lock after this placement: for each address its node and what the live status said, for each object its mark. An
 * object without an address stays in it, so that its removal is known to be ours, and so does one that is removed until the
 * cluster has deleted it: forgotten earlier, the next run would take it for somebody else's. It and an invalid one keep their
 * mark only.
 */
export function nextLock(inputs: Decided, placement: Placement): Lock {
  const placed = new Map<string, [string, Holding][]>()
  const status = new Map(inputs.intent.objects.map((object) => [object.name, object.status]))
  for (const { object, egressIP, node } of placement.assignments) {
    if (node === null) continue
    const holding = { node, seen: status.get(object)?.get(egressIP) ?? null }
    const list = placed.get(object)
    if (list) list.push([egressIP, holding])
    else placed.set(object, [[egressIP, holding]])
  }
  const locked = (name: string): LockedObject | undefined =>
    inputs.lock && Object.hasOwn(inputs.lock.objects, name) ? inputs.lock.objects[name] : undefined
  const valid = inputs.intent.objects.map(({ name }): [string, LockedObject] => {
    const mark = placement.marks.get(name)
    return [name, { ...(mark === undefined ? {} : { mark }), addresses: sortAddresses(placed.get(name) ?? []) }]
  })
  const unplaced = [...inputs.intent.invalid, ...inputs.intent.gone].flatMap(({ name }): [string, LockedObject][] => {
    const before = locked(name)
    return before ? [[name, { ...(before.mark === undefined ? {} : { mark: before.mark }), addresses: {} }]] : []
  })
  return lockOf([...valid, ...unplaced])
}

/** The text of `egretta.lock.json`: sorted, one field per line, so that it merges well. */
export const printLock = (lock: Lock): string => `${JSON.stringify(lock, null, 2)}\n`
