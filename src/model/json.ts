/** A value that is a JSON object: neither null nor a list. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Keys and indices that lead to a value inside another, such as `['spec', 'egressIPs', 0]`. */
export type Path = readonly (string | number)[]

export const isObject = (value: unknown): value is JsonObject => value !== null && typeof value === 'object' && !Array.isArray(value)

/** The value at a path; undefined where the path leaves the value. Only own properties count: `constructor` is a key like any other. */
export function valueAt(value: unknown, path: Path): unknown {
  let here = value
  for (const step of path) {
    if (here === null || typeof here !== 'object' || !Object.hasOwn(here, step)) return undefined
    here = (here as Record<string | number, unknown>)[step]
  }
  return here
}

/** The object at a path; an empty one when something else is there. */
export function objectAt(value: unknown, path: Path): JsonObject {
  const found = valueAt(value, path)
  return isObject(found) ? found : {}
}

/** The list at a path; an empty one when something else is there. */
export function listAt(value: unknown, path: Path): readonly unknown[] {
  const found = valueAt(value, path)
  return Array.isArray(found) ? found : []
}

/** The non-empty string at a path, else null. */
export function textAt(value: unknown, path: Path): string | null {
  const found = valueAt(value, path)
  return typeof found === 'string' && found !== '' ? found : null
}

/** What a value is, in the words of YAML: `a mapping`, `a list`, `the number 5`. */
export function describe(value: unknown): string {
  if (value === undefined) return 'absent'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (typeof value === 'string') return `the text ${JSON.stringify(value)}`
  return `the ${typeof value} ${String(value)}`
}

/** `spec.egressIPs[0]`; a key that is no plain word stands in brackets. */
export function printPath(path: Path): string {
  return path
    .map((step) =>
      typeof step === 'number' ? `[${step}]` : /^[A-Za-z_][A-Za-z0-9_-]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`,
    )
    .join('')
    .replace(/^\./, '')
}

/** A record without prototype, in the order of the keys, so that a node named `constructor` is absent until it is put there. */
export function record<V>(entries: Iterable<readonly [string, V]>): Readonly<Record<string, V>> {
  const made = Object.create(null) as Record<string, V>
  for (const [key, value] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) made[key] = value
  return made
}

/** The value without object fields that are null: Kubernetes takes them for absent. Items of lists stay. */
export const withoutNulls = (value: unknown): unknown => (hasNull(value) ? dropNulls(value) : value)

function hasNull(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasNull)
  if (!isObject(value)) return false
  for (const key in value) if (value[key] === null || hasNull(value[key])) return true
  return false
}

function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, dropNulls(inner)]])))
}
