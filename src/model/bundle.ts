import { createHash } from 'node:crypto'
import type { Ownership, SubsystemName } from './cluster.js'

/** When a file of a bundle applies: always (`steady`), until the data path has synced (`startup`), while the node leaves (`shutdown`). */
export type Phase = 'steady' | 'startup' | 'shutdown'
export const PHASES: readonly Phase[] = ['steady', 'startup', 'shutdown']

/** One rendered file. `path` is relative to the bundle's folder. */
export interface Artefact {
  readonly path: string
  readonly text: string
  readonly phases: readonly Phase[]
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
  /** Hex SHA-256 of this object without `digest`, as canonical JSON. */
  readonly digest: string
}

/** JSON with sorted keys and no blanks. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).filter(([, v]) => v !== undefined)
    entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${canonicalJson(v)}`).join(',')}}`
  }
  return JSON.stringify(value)
}

/** Hex SHA-256 of a text as UTF-8. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The digest of a bundle manifest, whether or not it has one yet. */
export function bundleDigest(manifest: Omit<BundleManifest, 'digest'>): string {
  const { digest: _, ...rest } = manifest as BundleManifest
  return sha256(canonicalJson(rest))
}
