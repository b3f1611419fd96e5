import { type Address, addressFault, parseAddress } from './address.js'
import { DEFAULT_NODE_SELECTOR, EGRESSIP_CRD } from './egressip-crd.js'
import { describe, isObject, type JsonObject, listAt, objectAt, type Path, printPath, textAt, valueAt, withoutNulls } from './json.js'
import { type Position, type Problem, problem } from './problem.js'
import { closed, type SchemaFault, schemaCheck } from './schema.js'
import { type LabelSelector, selectorFaults } from './selector.js'
import { type SourceObject, subject } from './source.js'

/** What a person asked for in one EgressIP object, parsed and valid. */
export interface EgressIPIntent {
  readonly name: string
  /** Milliseconds since 1970; null when the object has no creationTimestamp, which counts as newest. */
  readonly created: number | null
  /** Every text of spec.egressIPs in the order written; `address` is null where it is not one. `index` is its place in the list. */
  readonly addresses: readonly { readonly text: string; readonly address: Address | null; readonly index: number }[]
  readonly namespaceSelector: LabelSelector
  readonly podSelector: LabelSelector
  /** With the CRD's default filled in. */
  readonly egressNodeSelector: LabelSelector
  /** Address (RFC 5952) to node, as the live status says. */
  readonly status: ReadonlyMap<string, string>
  /** The mark annotation of the topology as written; null when there is none. */
  readonly mark: string | null
  readonly source: SourceObject
  /** The object as the topology has it; null when it is not there yet. */
  readonly live: SourceObject | null
}

const MARK = 'k8s.ovn.org/egressip-mark'
const SELECTORS = ['namespaceSelector', 'podSelector', 'egressNodeSelector'] as const

const SCHEMA = EGRESSIP_CRD.spec.versions[0].schema.openAPIV3Schema
const check = schemaCheck(closed({ ...SCHEMA, properties: { ...SCHEMA.properties, metadata: {}, status: {} } }))

/** What a live object says beside its spec. */
export interface Live {
  readonly object: SourceObject | null
  readonly created: number | null
  /** Address (RFC 5952) to node. */
  readonly status: ReadonlyMap<string, string>
  /** The mark annotation as written. */
  readonly mark: string | null
}

export const NOTHING_LIVE: Live = { object: null, created: null, status: new Map(), mark: null }

/**
 * The spec of an EgressIP. `intent` is null where the schema or a selector is wrong: InvalidObject. Unknown fields are UnknownField,
 * but in a selector they are wrong: without a misspelt `matchLabels` it would select everything.
 */
export function readEgressIP(object: SourceObject, live: Live): { intent: EgressIPIntent | null; problems: readonly Problem[] } {
  const { metadata: _metadata, status: _status, ...rest } = object.value
  const value = withoutNulls(rest) as JsonObject
  const faults = check({ apiVersion: object.apiVersion, kind: object.kind, ...value })
  const spec: Record<string, unknown> = { egressNodeSelector: DEFAULT_NODE_SELECTOR, ...(value.spec as object) }
  const isWrong = ({ kind, path }: SchemaFault) => kind === 'wrong' || SELECTORS.some((name) => path[1] === name && path.length > 2)
  const wrong = faults.filter(isWrong)
  if (wrong.length === 0) wrong.push(...semanticFaults(spec))
  const unknown = faults.filter((fault) => !isWrong(fault))
  const problems = [
    ...wrong.map((fault) => faultProblem(object, 'InvalidObject', fault)),
    ...unknown.map((fault) => faultProblem(object, 'UnknownField', fault)),
  ]
  if (wrong.length > 0) return { intent: null, problems }
  if (listAt(spec, ['egressIPs']).length === 0) problems.push(noEgressIP(object))
  const selector = (name: (typeof SELECTORS)[number]) => (spec[name] ?? {}) as LabelSelector
  const intent: EgressIPIntent = {
    name: object.name,
    created: live.created,
    addresses: (spec.egressIPs as string[]).map((text, index) => ({ text, address: parseAddress(text) ?? null, index })),
    namespaceSelector: selector('namespaceSelector'),
    podSelector: selector('podSelector'),
    egressNodeSelector: selector('egressNodeSelector'),
    status: live.status,
    mark: live.mark,
    source: object,
    live: live.object,
  }
  return { intent, problems }
}

function semanticFaults(spec: unknown): readonly SchemaFault[] {
  return SELECTORS.flatMap((name) =>
    selectorFaults(objectAt(spec, [name]) as LabelSelector).map(
      ({ path, message }): SchemaFault => ({
        kind: 'wrong',
        path: ['spec', name, ...path],
        message: `is wrong: ${message}`,
      }),
    ),
  )
}

const noEgressIP = (object: SourceObject): Problem =>
  problem('NoEgressIP', {
    object: subject(object),
    message: `EgressIP ${object.name}: spec.egressIPs is empty, so it asks for no address.`,
    source: object.at(['spec', 'egressIPs']),
  })

function faultProblem(object: SourceObject, code: 'InvalidObject' | 'UnknownField', { kind, path, message }: SchemaFault): Problem {
  const bare = path[1] === 'egressIPs' ? unquoted(valueAt(object.value, path)) : null
  const remedy = bare === null ? {} : { remedy: `Write "${bare}" in quotes: unquoted, YAML takes its last colon for the end of a key.` }
  return problem(code, {
    object: subject(object),
    message: `EgressIP ${object.name}: ${printPath(path)} ${message}.`,
    source: object.at(path, kind === 'unknown'),
    ...remedy,
  })
}

/** `fd00::` of the mapping `{"fd00:": null}`, which is what YAML makes of it without quotes. */
function unquoted(value: unknown): string | null {
  if (!isObject(value)) return null
  const [entry, ...more] = Object.entries(value)
  const text = `${entry?.[0] ?? ''}:`
  return more.length === 0 && entry?.[1] === null && parseAddress(text) ? text : null
}

/** The addresses that an object asks for whatever else is wrong with it, as RFC 5952 where they are addresses, and where each stands first. */
export function textsOf(object: SourceObject): ReadonlyMap<string, Position> {
  const places = new Map<string, Position>()
  const path = ['spec', 'egressIPs']
  const value = valueAt(object.value, path)
  // One address without the dash of its list
  const items =
    typeof value === 'string' ? [[path, value] as const] : listAt(object.value, path).map((item, at) => [[...path, at], item] as const)
  for (const [place, item] of items) {
    const written = typeof item === 'string' ? item : (unquoted(item) ?? JSON.stringify(item))
    const text = parseAddress(written)?.text ?? written
    if (!places.has(text)) places.set(text, object.at(place))
  }
  return places
}

/**
 * Status, creation time and mark of a live object. A status item without address or node is skipped, of two items for one
 * address the first counts; what is malformed is an InvalidObject warning and ignored.
 */
export function readLive(object: SourceObject): { live: Live; problems: readonly Problem[] } {
  const problems: Problem[] = []
  const refuse = (path: Path, message: string) => {
    problems.push(
      problem('InvalidObject', {
        severity: 'warning',
        object: subject(object),
        message: `EgressIP ${object.name}: ${printPath(path)} ${message}.`,
        remedy: 'Take the topology from the cluster again; the value is ignored until then.',
        source: object.at(path),
      }),
    )
  }
  const path = ['status', 'items']
  const items = valueAt(object.value, path) ?? []
  if (!Array.isArray(items)) refuse(path, `must be a list; it is ${describe(items)}`)
  const status = new Map<string, string>()
  for (const index of Array.isArray(items) ? items.keys() : []) {
    const item = [...path, index]
    const text = textAt(object.value, [...item, 'egressIP'])
    const node = textAt(object.value, [...item, 'node'])
    if (text === null || node === null) continue
    const address = parseAddress(text)
    if (!address) refuse([...item, 'egressIP'], `is not an address: ${addressFault(text)}`)
    else if (!status.has(address.text)) status.set(address.text, node)
  }
  const written = valueAt(object.value, ['metadata', 'creationTimestamp']) ?? null
  const time = typeof written === 'string' ? Date.parse(written) : Number.NaN
  if (written !== null && Number.isNaN(time)) refuse(['metadata', 'creationTimestamp'], `must be a time; it is ${describe(written)}`)
  const mark = valueAt(object.value, ['metadata', 'annotations', MARK]) ?? null
  return {
    live: {
      object,
      created: Number.isNaN(time) ? null : time,
      status,
      mark: mark === null ? null : typeof mark === 'string' ? mark : JSON.stringify(mark),
    },
    problems,
  }
}

/** Warnings about what belongs to the cluster's state and stands in an intent file. */
export function stateInIntent(object: SourceObject): readonly Problem[] {
  const problems: Problem[] = []
  const about = (message: string, path: Path) => ({
    object: subject(object),
    message: `EgressIP ${object.name}: ${message}.`,
    source: object.at(path, true),
  })
  if (Object.keys(objectAt(object.value, ['status'])).length > 0)
    problems.push(problem('StatusInIntent', about('status stands in an intent file and is ignored', ['status'])))
  const path = ['metadata', 'annotations', MARK]
  if ((valueAt(object.value, path) ?? null) !== null)
    problems.push(problem('MarkInIntent', about(`the annotation ${MARK} stands in an intent file and is ignored`, path)))
  return problems
}
