import { createHash } from 'node:crypto'
import { canonicalJson, sha256 } from './bundle.js'
import { describe, valueAt } from './json.js'
import { EGRESSIP_VERSION, type KnownKind, knownKind, nameKey } from './kind.js'
import type { Lock } from './lock.js'
import { type Problem, problem } from './problem.js'
import { isObjectName } from './selector.js'
import { type SourceObject, subject } from './source.js'

/** Objects of one kind, namespace and name. */
export type Namesakes = readonly SourceObject[]

/** The objects of all files that egretta has a use for, by kind. */
export interface Catalog {
  /** Sorted by namespace and name. Of objects with equal content and role only one is kept. */
  readonly byKind: ReadonlyMap<KnownKind, readonly Namesakes[]>
  /** Kind to number of objects of no use. */
  readonly ignored: ReadonlyMap<string, number>
  /** Objects whose name cannot be one, and those that are meant to be an EgressIP in all but kind or apiVersion, with what is wrong. */
  readonly misnamed: readonly { readonly object: SourceObject; readonly problem: Problem }[]
  readonly digest: string
  readonly problems: readonly Problem[]
}

/** Own kinds: whatever an object of them is called, or whether it has a name at all, says nothing. */
const UNNAMED: readonly KnownKind[] = ['Cluster', 'ProbeResult']

/** Sorts objects by kind and name; the digest covers all of them and the lock, whatever their order. */
export function catalog(objects: readonly SourceObject[], lock: Lock | null): Catalog {
  const kinds = new Map<KnownKind, Map<string, SourceObject[]>>()
  const ignored = new Map<string, number>()
  const misnamed: { object: SourceObject; problem: Problem }[] = []
  const problems: Problem[] = []
  for (const object of objects) {
    const kind = knownKind(object)
    const fault = misspelt(object) ?? (kind === null || UNNAMED.includes(kind) ? null : nameFault(object))
    if (fault !== null) {
      misnamed.push({ object, problem: fault })
      problems.push(fault)
      continue
    }
    if (kind === null) {
      ignored.set(object.kind, (ignored.get(object.kind) ?? 0) + 1)
      continue
    }
    const names = kinds.get(kind) ?? new Map<string, SourceObject[]>()
    kinds.set(kind, names)
    const key = nameKey(kind, object)
    const namesakes = names.get(key)
    if (namesakes) namesakes.push(object)
    else names.set(key, [object])
  }
  const byKind = new Map([...kinds].sort(byText).map(([kind, names]) => [kind, inOrder(names)]))
  return {
    byKind,
    ignored: new Map([...ignored].sort(byText)),
    misnamed,
    digest: digestOf(byKind, lock),
    problems,
  }
}

const byText = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

function inOrder(names: ReadonlyMap<string, Namesakes>): readonly Namesakes[] {
  return [...names.keys()].sort().map((name) => distinct(names.get(name) ?? []))
}

/** One of each role and content, in the order of those. */
function distinct(namesakes: Namesakes): Namesakes {
  if (namesakes.length === 1) return namesakes
  const lines = namesakes
    .map((object) => ({ object, line: `${object.role} ${sha256(canonicalJson(object.value))}` }))
    .sort((a, b) => (a.line < b.line ? -1 : a.line > b.line ? 1 : comparePositions(a.object, b.object)))
  return lines.filter(({ line }, index) => line !== lines[index - 1]?.line).map(({ object }) => object)
}

/** Over kind, role and content of all objects in their order, and the lock. One hash for all: to begin one takes longer than to hash a pod. */
function digestOf(kinds: Catalog['byKind'], lock: Lock | null): string {
  const hash = createHash('sha256')
  for (const [kind, names] of kinds) {
    let lines = ''
    for (const namesakes of names) {
      for (const { role, value } of namesakes) lines += `${kind} ${role} ${canonicalJson(value)}\n`
      if (lines.length < 65_536) continue
      hash.update(lines)
      lines = ''
    }
    hash.update(lines)
  }
  return hash.update(canonicalJson(lock)).digest('hex')
}

/** Orders by place of the whole object, so that one of equals is chosen whatever the order of the files. */
function comparePositions(a: SourceObject, b: SourceObject): number {
  const [x, y] = [a.at(), b.at()]
  return x.file < y.file ? -1 : x.file > y.file ? 1 : x.line - y.line || x.column - y.column
}

/**
 * What the intent means for an EgressIP must not be ignored for a slip: the object would be taken for removed. In files that are
 * topology too, an EgressIP of another group is another kind.
 */
function misspelt(object: SourceObject): Problem | null {
  const { apiVersion, kind, role } = object
  if (role === 'topology' || kind.toLowerCase() !== 'egressip') return null
  const wrong = kind !== 'EgressIP' ? 'kind' : apiVersion !== EGRESSIP_VERSION ? 'apiVersion' : null
  if (wrong === null || (role === 'both' && (wrong === 'apiVersion' || apiVersion !== EGRESSIP_VERSION))) return null
  return problem('InvalidObject', {
    object: object.name === '' ? null : object.name,
    message: `EgressIP${object.name === '' ? '' : ` ${object.name}`}: ${wrong} must be ${wrong === 'kind' ? 'EgressIP' : EGRESSIP_VERSION}; it is ${describe(object[wrong])}.`,
    remedy: `Write ${wrong}: ${wrong === 'kind' ? 'EgressIP' : EGRESSIP_VERSION}; the object is left out until then.`,
    source: object.at([wrong]),
  })
}

function nameFault(object: SourceObject): Problem | null {
  if (object.namespace !== null && isObjectName(object.name) && isObjectName(object.namespace)) return null
  const refuse = (field: string, message: string) =>
    problem('InvalidObject', {
      object: object.name === '' ? null : subject(object),
      message: `${object.kind}${object.name === '' ? '' : ` ${object.name}`}: metadata.${field} ${message}.`,
      remedy: 'Use lower case letters, digits, "-" and ".", at most 253, with a letter or digit at both ends.',
      source: object.at(['metadata', field]),
    })
  for (const field of ['name', 'namespace']) {
    const value = valueAt(object.value, ['metadata', field])
    if (field === 'namespace' && (value === undefined || value === null || value === '')) continue
    if (typeof value !== 'string' || value === '')
      return refuse(field, value === undefined || value === '' ? 'is required and absent' : `must be a text; it is ${describe(value)}`)
    if (!isObjectName(value)) return refuse(field, `${JSON.stringify(value)} cannot be a name`)
  }
  return null
}

const ROLES: readonly (readonly SourceObject['role'][])[] = [['topology', 'both'], ['intent']]

/**
 * The one object among namesakes that says what is there: that of the topology, or else that of the intent. Namesakes of
 * different content are DuplicateObject, each, and none is taken.
 */
export function theOne(namesakes: Namesakes, preference = ROLES): { object: SourceObject | null; problems: readonly Problem[] } {
  if (namesakes.length === 1) return { object: namesakes[0] ?? null, problems: [] }
  for (const roles of preference) {
    const candidates = distinctContent(namesakes.filter(({ role }) => roles.includes(role)))
    if (candidates.length > 1) return { object: null, problems: duplicates(candidates) }
    if (candidates[0]) return { object: candidates[0], problems: [] }
  }
  return { object: null, problems: [] }
}

/** One of each content: objects of different roles may be equal. */
export function distinctContent(objects: readonly SourceObject[]): readonly SourceObject[] {
  if (objects.length < 2) return objects
  return [...new Map([...objects].reverse().map((object) => [canonicalJson(object.value), object])).values()].reverse()
}

/** A DuplicateObject problem for each of several objects of one name. */
export function duplicates(objects: readonly SourceObject[]): readonly Problem[] {
  return objects.map((object) => {
    const others = objects.filter((other) => other !== object).map((other) => other.at())
    const places = others
      .slice(0, 3)
      .map(({ file, line, column }) => `${file}:${line}:${column}`)
      .join(', ')
    return problem('DuplicateObject', {
      object: subject(object),
      message: `${object.kind} ${[object.namespace, object.name].filter(Boolean).join('/')} stands ${objects.length} times with different content, also at ${places}.`,
      source: object.at(),
    })
  })
}
