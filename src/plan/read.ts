import { jsonDocuments } from '../model/document.js'
import { describe, objectAt, printPath, valueAt } from '../model/json.js'
import { lineIndex } from '../model/lines.js'
import { type Problem, problem } from '../model/problem.js'
import { schemaCheck } from '../model/schema.js'
import type { SourceFile } from '../model/source.js'
import type { Plan } from './index.js'

/** What is read of a plan in a file: what it decided, of which inputs, with which options. */
export type DecidedPlan = Pick<Plan, 'inputDigest' | 'options'> & Decisions

interface Decisions {
  readonly assignments: readonly Pick<Plan['assignments'][number], 'egressIP' | 'object' | 'node'>[]
  readonly unassigned: readonly Pick<Plan['unassigned'][number], 'egressIP' | 'object' | 'reason'>[]
}

const TEXT = { type: 'string', minLength: 1 }
const NODES = { type: 'array', items: TEXT }
const check = schemaCheck({
  type: 'object',
  required: ['inputDigest', 'options', 'assignments', 'unassigned'],
  properties: {
    inputDigest: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    options: {
      type: 'object',
      required: ['drain', 'down', 'rebalance'],
      properties: {
        drain: NODES,
        down: NODES,
        rebalance: { anyOf: [{ const: 'all' }, { type: 'integer', minimum: 1 }, { type: 'null' }] },
      },
    },
    assignments: {
      type: 'array',
      items: {
        type: 'object',
        required: ['egressIP', 'object', 'node'],
        properties: { egressIP: TEXT, object: TEXT, node: { type: ['string', 'null'] } },
      },
    },
    unassigned: {
      type: 'array',
      items: {
        type: 'object',
        required: ['egressIP', 'object', 'reason'],
        properties: { egressIP: { type: 'string' }, object: TEXT, reason: TEXT },
      },
    },
  },
})

const REMEDY = 'Name a file that egretta plan -o json has printed.'

/** Reads what `egretta plan -o json` printed. Whatever else the file is, is UnreadableInput with the place of the first fault. */
export function parsePlan(file: SourceFile): { plan: DecidedPlan | null; problems: readonly Problem[] } {
  const text = file.text.startsWith('\uFEFF') ? file.text.slice(1) : file.text
  const refuse = (offset: number, message: string, remedy = REMEDY): { plan: null; problems: readonly Problem[] } => {
    const source = { file: file.file, ...lineIndex(text)(offset) }
    return { plan: null, problems: [problem('UnreadableInput', { message: `${file.file} is no plan: ${message}.`, source, remedy })] }
  }
  const { documents, faults } = jsonDocuments(text)
  const [document] = documents
  if (!document) return refuse(faults[0]?.offset ?? 0, text.trim() === '' ? 'it is empty' : `it is not JSON: ${faults[0]?.message}`)
  const { value, locate } = document
  const kind = valueAt(value, ['kind'])
  if (kind !== 'Plan') return refuse(locate(['kind']), `its kind is ${describe(kind)}, not "Plan"`)
  const version = valueAt(value, ['apiVersion'])
  if (version !== 'egretta.dev/v1alpha1')
    return refuse(
      locate(['apiVersion']),
      `its apiVersion is ${describe(version)}, not "egretta.dev/v1alpha1"`,
      'Make the plan anew with this egretta.',
    )
  const [fault] = check(value).filter((one) => one.kind === 'wrong')
  if (fault) return refuse(locate(fault.path), `${printPath(fault.path)} ${fault.message}`)
  return { plan: value as DecidedPlan, problems: [] }
}

const INPUT_KINDS = ['Cluster', 'ProbeResult', 'HostFacts']

/** Whether a text is a JSON document of egretta's own that is no input: a plan, or what might be taken for one. */
export function isOwnDocument(text: string): boolean {
  if (!text.includes('"egretta.dev/')) return false
  const { documents } = jsonDocuments(text.replace(/^\uFEFF/, ''))
  const { apiVersion, kind } = objectAt(documents[0]?.value, [])
  return typeof apiVersion === 'string' && apiVersion.startsWith('egretta.dev/') && !INPUT_KINDS.includes(String(kind))
}

/**
 * Where a plan decides otherwise than an earlier one, a phrase for each address; empty where both decide the same. What
 * either removes does not count: that depends on what it was compared with.
 */
export function otherDecisions(earlier: Decisions, now: Decisions): readonly string[] {
  const [was, is] = [decisions(earlier), decisions(now)]
  return [...new Set([...was.keys(), ...is.keys()])].sort().flatMap((key) => {
    const [before, after] = [was.get(key) ?? 'not in it', is.get(key) ?? 'not asked for']
    return before === after ? [] : [`${key} was ${before} and is ${after}`]
  })
}

function decisions({ assignments, unassigned }: Decisions): ReadonlyMap<string, string> {
  return new Map([
    ...assignments.flatMap(({ egressIP, object, node }) => (node === null ? [] : [[`${egressIP} of ${object}`, `on ${node}`] as const])),
    ...unassigned.map(({ egressIP, object, reason }) => [`${egressIP} of ${object}`, `refused (${reason})`] as const),
  ])
}
