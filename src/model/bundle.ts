import { createHash } from 'node:crypto'
import type { Ownership, SubsystemName } from './cluster.js'
import type { ConntrackPolicy } from './node-state.js'

/** When a file of a bundle applies: always (`steady`), until the data path has synced (`startup`), while the node leaves (`shutdown`). */
export type Phase = 'steady' | 'startup' | 'shutdown'
export const PHASES: readonly Phase[] = ['steady', 'startup', 'shutdown']

/** The one format of a bundle that this version writes and reads. */
const FORMAT_VERSION = 1

/** One rendered file. `path` is relative to the bundle's folder. */
export interface Artefact {
  readonly path: string
  readonly text: string
  readonly phases: readonly Phase[]
  /** What the text says, in no order, where it was rendered from entries and not read. */
  readonly entries?: readonly unknown[]
}

/** `bundle.json` */
export interface BundleManifest {
  readonly apiVersion: 'egretta.dev/v1alpha1'
  readonly kind: 'NodeBundle'
  readonly formatVersion: 1
  readonly node: string
  readonly files: readonly { readonly path: string; readonly sha256: string; readonly phases: readonly Phase[] }[]
  /** Only where Cluster.spec.ownership says anything. */
  readonly ownership?: Readonly<Partial<Record<SubsystemName, Ownership>>>
  /** Only where established flows keep an egress IP when they are given another one; else their conntrack entries are deleted. */
  readonly conntrack?: 'keep'
  /** Hex SHA-256 of this object without `digest`, as canonical JSON. */
  readonly digest: string
}

/** JSON with sorted keys and no blanks. What is sorted already, as kubectl prints it, costs little more than JSON.stringify. */
export function canonicalJson(value: unknown): string {
  const sorted = withSortedKeys(value)
  return sorted === UNSORTABLE ? printSorted(value) : JSON.stringify(sorted)
}

/** In place of a value with a key that has a place of its own in every JavaScript object: a number, or `__proto__`. */
const UNSORTABLE = Symbol('unsortable')

/** The value with the keys of all its objects in order; the value itself where they are. */
function withSortedKeys(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return replaceItems(value)
  let before = ''
  let copy: Record<string, unknown> | null = null
  let inOrder = true
  for (const key in value) {
    const first = key.charCodeAt(0)
    if ((first >= 48 && first <= 57) || key === '__proto__') return UNSORTABLE
    if (key < before) inOrder = false
    before = key
    const inner = (value as Record<string, unknown>)[key]
    if (inner === null || typeof inner !== 'object') continue
    const sorted = withSortedKeys(inner)
    if (sorted === UNSORTABLE) return UNSORTABLE
    if (sorted === inner) continue
    copy ??= { ...value }
    copy[key] = sorted
  }
  const all = copy ?? (value as Record<string, unknown>)
  if (inOrder) return all
  const ordered: Record<string, unknown> = {}
  for (const key of Object.keys(all).sort()) ordered[key] = all[key]
  return ordered
}

function replaceItems(list: readonly unknown[]): unknown {
  let copy: unknown[] | null = null
  for (const [index, item] of list.entries()) {
    const sorted = withSortedKeys(item)
    if (sorted === UNSORTABLE) return UNSORTABLE
    if (sorted === item) continue
    copy ??= [...list]
    copy[index] = sorted
  }
  return copy ?? list
}

function printSorted(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(printSorted).join(',')}]`
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined)
  fields.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${printSorted(inner)}`).join(',')}}`
}

/** Hex SHA-256 of a text as UTF-8. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The digest of a bundle manifest, whether or not it has one yet. */
export function bundleDigest(manifest: Omit<BundleManifest, 'digest'>): string {
  const { digest: _, ...rest } = manifest as BundleManifest
  return sha256(canonicalJson(rest))
}

/** The manifest of a node's files, in the order of their paths. An ownership that says nothing is left out, and so is the usual policy for conntrack. */
export function bundleManifest(
  node: string,
  artefacts: readonly Artefact[],
  ownership: Readonly<Partial<Record<SubsystemName, Ownership>>>,
  conntrack: ConntrackPolicy = 'flush',
): BundleManifest {
  const files = artefacts.map(({ path, text, phases }) => ({ path, sha256: sha256(text), phases }))
  const manifest = {
    apiVersion: 'egretta.dev/v1alpha1',
    kind: 'NodeBundle',
    formatVersion: FORMAT_VERSION,
    node,
    files: files.sort((a, b) => (a.path < b.path ? -1 : 1)),
    ...(Object.keys(ownership).length > 0 && { ownership }),
    ...(conntrack === 'keep' && { conntrack }),
  } as const
  return { ...manifest, digest: bundleDigest(manifest) }
}

/** The text of `bundle.json`: one file of the bundle per line, so that a change of one file is a change of two lines. */
export function printManifest(manifest: BundleManifest): string {
  const { files, ownership, digest, ...head } = manifest
  const fields = [
    ...Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`),
    `  "files": ${files.length === 0 ? '[]' : `[\n${files.map((file) => `    ${JSON.stringify(file)}`).join(',\n')}\n  ]`}`,
    ...(ownership ? [`  "ownership": ${canonicalJson(ownership)}`] : []),
    `  "digest": ${JSON.stringify(digest)}`,
  ]
  return `{\n${fields.join(',\n')}\n}\n`
}

/** A manifest, or one sentence that says why the bundle is refused and what to do. */
export type ParsedManifest =
  | { readonly manifest: BundleManifest; readonly refusal: null }
  | { readonly manifest: null; readonly refusal: string }

/**
 * Reads `bundle.json`. Refuses what is no manifest, an unknown format version, an unsafe path, a bundle without files (an empty one would
 * mean "remove everything") and a digest that does not belong to the text. Whether the files agree with it is for the reader of the folder.
 */
export function parseManifest(text: string): ParsedManifest {
  const refuse = (refusal: string): ParsedManifest => ({ manifest: null, refusal })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return refuse(`bundle.json is not JSON (${(error as Error).message}): render the bundle again with egretta synth`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse('bundle.json is not an object: render the bundle again with egretta synth')
  const { apiVersion, kind, formatVersion, node, files, conntrack, digest } = value as Record<string, unknown>
  if (kind !== 'NodeBundle')
    return refuse(`bundle.json is a ${JSON.stringify(kind)}, not a NodeBundle: point to the folder of a node in out/nodes`)
  if (apiVersion !== 'egretta.dev/v1alpha1' || formatVersion !== FORMAT_VERSION) {
    return refuse(
      `the bundle has apiVersion ${JSON.stringify(apiVersion)} and formatVersion ${JSON.stringify(formatVersion)}, this agent reads ` +
        `egretta.dev/v1alpha1 and ${FORMAT_VERSION}: use the agent of the egretta that rendered the bundle`,
    )
  }
  if (typeof node !== 'string' || node === '') return refuse('bundle.json names no node: render the bundle again with egretta synth')
  if (!Array.isArray(files)) return refuse('bundle.json has no list of files: render the bundle again with egretta synth')
  if (files.length === 0)
    return refuse(`the bundle of ${node} is empty: a node that hosts nothing has files too, so render it again with egretta synth`)
  if (conntrack !== undefined && conntrack !== 'keep') {
    return refuse(
      `bundle.json says ${JSON.stringify(conntrack)} for conntrack, this agent knows "keep": use the agent of the egretta that rendered it`,
    )
  }
  const fault = fileFault(files)
  if (fault) return refuse(`${fault}: render the bundle again with egretta synth`)
  const manifest = value as BundleManifest
  if (digest !== bundleDigest(manifest)) {
    return refuse(
      `the digest in bundle.json is not that of its content: it was changed after it was rendered, so render it again with egretta synth`,
    )
  }
  return { manifest, refusal: null }
}

function fileFault(files: readonly unknown[]): string | null {
  const paths = new Set<string>()
  for (const file of files) {
    const { path, sha256: sum, phases } = (file ?? {}) as Record<string, unknown>
    if (typeof path !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(path) || path === 'bundle.json') {
      return `bundle.json names the file ${JSON.stringify(path)}, which is not a plain file name`
    }
    if (paths.has(path)) return `bundle.json names the file ${path} twice`
    paths.add(path)
    if (typeof sum !== 'string' || !/^[0-9a-f]{64}$/.test(sum)) return `bundle.json has no SHA-256 for the file ${path}`
    if (!Array.isArray(phases) || phases.length === 0 || !phases.every((phase) => (PHASES as readonly unknown[]).includes(phase))) {
      return `bundle.json has no known phase for the file ${path}`
    }
  }
  return null
}
