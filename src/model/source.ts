import { jsonDocuments, yamlDocuments } from './document.js'
import { excerptOf } from './excerpt.js'
import { describe, isObject, type JsonObject, objectAt, type Path } from './json.js'
import { lineIndex } from './lines.js'
import { type Position, type Problem, problem } from './problem.js'

/** What a file may say: what is wanted, what is there now, or (a dump of a live cluster) both. */
export type Role = 'intent' | 'topology' | 'both'

/** One input file as read: `file` is the path as the user wrote it (`-` for stdin). */
export interface SourceFile {
  readonly file: string
  readonly text: string
  readonly role: Role
}

/** One Kubernetes object of a source file; the items of a List stand for themselves. */
export interface SourceObject {
  readonly apiVersion: string
  readonly kind: string
  /** metadata.name; empty where there is none. */
  readonly name: string
  readonly namespace: string | null
  readonly role: Role
  /** The parsed value, as JSON; of a pod an excerpt (`excerptOf`). */
  readonly value: Readonly<Record<string, unknown>>
  /**
   * Where the object, or the value at a path in it such as `['spec', 'egressIPs', 0]`, stands; with `key`, where the
   * last key of the path stands. Falls back to the nearest parent that is there.
   */
  at(path?: readonly (string | number)[], key?: boolean): Position
}

/** How a problem names an object: an EgressIP by its name, others as `Kind/[namespace/]name`. */
export function subject(object: Pick<SourceObject, 'kind' | 'name' | 'namespace'>): string {
  if (object.kind === 'EgressIP') return object.name
  return [object.kind, ...(object.namespace === null ? [] : [object.namespace]), ...(object.name === '' ? [] : [object.name])].join('/')
}

/** A value of a live object that egretta ignores because it is malformed. */
export const malformed = (object: SourceObject, path: Path, message: string): Problem =>
  problem('InvalidObject', {
    severity: 'warning',
    object: subject(object),
    message: `${subject(object)}: ${message}.`,
    remedy: 'Correct the field that is named; it is ignored until then.',
    source: object.at(path),
  })

/**
 * The objects of a file: YAML with any number of documents, or JSON. A document that does not parse is UnreadableInput
 * and leaves the others alone; one that is no Kubernetes object is InvalidObject; a file without any is EmptyInput.
 */
export function parseSource(file: SourceFile): { objects: readonly SourceObject[]; problems: readonly Problem[] } {
  const text = file.text.startsWith('\uFEFF') ? file.text.slice(1) : file.text
  const place = lineIndex(text)
  const position = (offset: number): Position => ({ file: file.file, ...place(offset) })
  const later = (offset: () => number): Position => positionOf(file.file, () => place(offset()))
  const name = file.file === '-' ? 'standard input' : file.file

  const nul = text.indexOf('\0')
  if (nul >= 0) {
    const message = `${name} is not text: it contains a NUL byte.`
    return {
      objects: [],
      problems: [problem('UnreadableInput', { message, source: position(nul), remedy: 'Give YAML or JSON in UTF-8.' })],
    }
  }
  if (/^\s*$/.test(text.slice(0, 4096)) && text.trim() === '') {
    return { objects: [], problems: [problem('EmptyInput', { message: `${name} is empty.`, source: position(0) })] }
  }

  const named = file.file.endsWith('.json')
  const asJson = named || /^\s*[[{]/.test(text) ? jsonDocuments(text) : null
  const json = named || asJson?.faults.length === 0
  const { documents, faults } = json && asJson ? asJson : yamlDocuments(text)
  const problems: Problem[] = faults.map((fault) =>
    problem('UnreadableInput', {
      message: `${name} is not valid ${json ? 'JSON' : 'YAML'}: ${fault.message}.`,
      source: position(fault.offset),
      ...(fault.remedy === undefined ? {} : { remedy: fault.remedy }),
    }),
  )
  if (documents.length === 0 && faults.length === 0)
    problems.push(problem('EmptyInput', { message: `${name} holds no object.`, source: position(0) }))

  const objects: SourceObject[] = []
  for (const { value, locate } of documents) {
    // Only `locate` is kept with the objects: a document can be far larger than what is kept of it.
    const at = (path: Path, key?: boolean) => later(() => locate(path, key))
    collect(value, [], {}, { role: file.role, at, objects, problems })
  }
  return { objects, problems }
}

/** A position that is looked for when it is first read. Most never are, and to find one takes longer than to read the object. */
function positionOf(file: string, find: () => Omit<Position, 'file'>): Position {
  let found: Omit<Position, 'file'> | undefined
  const place = () => {
    found ??= find()
    return found
  }
  return {
    file,
    get line() {
      return place().line
    },
    get column() {
      return place().column
    },
  }
}

interface Collection {
  readonly role: Role
  readonly at: (path: Path, key?: boolean) => Position
  readonly objects: SourceObject[]
  readonly problems: Problem[]
}

/** Adds one object, or the items of a List. `type` fills in what typed lists leave out of their items. */
function collect(value: unknown, path: Path, type: { readonly apiVersion?: string; readonly kind?: string }, into: Collection): void {
  const own = (key: 'apiVersion' | 'kind') => (isObject(value) && Object.hasOwn(value, key) ? value[key] : type[key])
  const [apiVersion, kind] = [own('apiVersion'), own('kind')]
  const fault = objectFault(value, apiVersion, kind)
  if (fault !== null) {
    const remedy = 'Write a Kubernetes object with apiVersion, kind and metadata.name.'
    into.problems.push(problem('InvalidObject', { message: fault.message, source: into.at([...path, ...fault.path]), remedy }))
    return
  }
  const [object, group, name] = [value as JsonObject, apiVersion as string, kind as string]
  if (!isList(object, name)) {
    into.objects.push(sourceObject(object, group, name, path, into))
    return
  }
  const itemType = name === 'List' ? {} : { apiVersion: group, kind: name.slice(0, -'List'.length) }
  for (const [index, item] of ((object.items ?? []) as unknown[]).entries()) collect(item, [...path, 'items', index], itemType, into)
}

/** `List`, or a kind ending so that has items: `NodeList`. */
const isList = (object: JsonObject, kind: string): boolean => kind === 'List' || (kind.endsWith('List') && Object.hasOwn(object, 'items'))

function objectFault(object: unknown, apiVersion: unknown, kind: unknown): { readonly message: string; readonly path: Path } | null {
  if (!isObject(object)) return { message: `A Kubernetes object is a mapping; this is ${describe(object)}.`, path: [] }
  const text = (value: unknown, path: string) =>
    typeof value === 'string' && value !== ''
      ? null
      : { message: `The object has no ${path} that is a text; it is ${describe(value)}.`, path: [path] }
  const fault = text(kind, 'kind') ?? text(apiVersion, 'apiVersion')
  if (fault !== null) return fault
  const { items } = object
  const listed = !isList(object, String(kind)) || items === undefined || items === null || Array.isArray(items)
  return listed ? null : { message: `items of a ${String(kind)} must be a list; it is ${describe(items)}.`, path: ['items'] }
}

function sourceObject(value: JsonObject, apiVersion: string, kind: string, path: Path, into: Collection): SourceObject {
  const { name, namespace } = objectAt(value, ['metadata'])
  return {
    apiVersion,
    kind,
    name: typeof name === 'string' ? name : '',
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : null,
    role: into.role,
    value: excerptOf(kind, apiVersion, value),
    at: (inner = [], key) => into.at([...path, ...inner], key),
  }
}
