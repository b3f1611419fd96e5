import { describe, expect, it } from 'vitest'
import {
  type Artefact,
  type BundleManifest,
  bundleDigest,
  bundleManifest,
  parseManifest,
  printManifest,
  sha256,
} from '../../src/model/bundle.js'

const files: readonly Artefact[] = [
  { path: 'neighbors.json', text: '[]\n', phases: ['steady', 'startup', 'shutdown'] },
  { path: 'addresses.json', text: '[]\n', phases: ['steady'] },
]
const manifest = bundleManifest('node-a', files, {})
const changed = (over: Record<string, unknown>) => {
  const { digest: _, ...rest } = { ...manifest, ...over } as BundleManifest
  return JSON.stringify({ ...rest, digest: bundleDigest(rest) })
}

describe('bundle.json', () => {
  it('has one line per file, sorted by path, and reads back', () => {
    expect(printManifest(manifest)).toBe(`{
  "apiVersion": "egretta.dev/v1alpha1",
  "kind": "NodeBundle",
  "formatVersion": 1,
  "node": "node-a",
  "files": [
    {"path":"addresses.json","sha256":"${sha256('[]\n')}","phases":["steady"]},
    {"path":"neighbors.json","sha256":"${sha256('[]\n')}","phases":["steady","startup","shutdown"]}
  ],
  "digest": "${manifest.digest}"
}
`)
    expect(parseManifest(printManifest(manifest))).toEqual({ manifest, refusal: null })
  })

  it('is the same for any order of the files', () => {
    expect(bundleManifest('node-a', [...files].reverse(), {})).toEqual(manifest)
  })

  it('says who owns what where the cluster says it, under the digest', () => {
    const verified = bundleManifest('node-a', files, { nftables: 'verify', addresses: 'off' })
    expect(verified.digest).not.toBe(manifest.digest)
    expect(parseManifest(printManifest(verified))).toEqual({ manifest: verified, refusal: null })
  })

  it('says that established flows keep their egress IP where they do, and nothing where they do not', () => {
    expect(bundleManifest('node-a', files, {}, 'flush')).toEqual(manifest)
    const kept = bundleManifest('node-a', files, {}, 'keep')
    expect(printManifest(kept)).toContain('\n  "conntrack": "keep",\n')
    expect(kept.digest).not.toBe(manifest.digest)
    expect(parseManifest(printManifest(kept))).toEqual({ manifest: kept, refusal: null })
  })

  it('has a digest that does not depend on the layout of the text', () => {
    expect(parseManifest(JSON.stringify(manifest)).manifest).toEqual(manifest)
  })
})

describe('a manifest is refused', () => {
  const file = manifest.files[0]
  it.each([
    ['that is no JSON', '{"apiVersion":', 'is not JSON'],
    ['that is no object', '[]', 'is not an object'],
    ['of another kind', changed({ kind: 'Plan' }), 'is a "Plan", not a NodeBundle'],
    ['of an unknown format', changed({ formatVersion: 2 }), 'formatVersion 2, this agent reads egretta.dev/v1alpha1 and 1'],
    ['of an unknown version', changed({ apiVersion: 'egretta.dev/v9' }), 'apiVersion "egretta.dev/v9"'],
    ['with an unknown policy for conntrack', changed({ conntrack: 'forget' }), 'says "forget" for conntrack, this agent knows "keep"'],
    ['without a node', changed({ node: '' }), 'names no node'],
    ['without files', changed({ files: [] }), 'the bundle of node-a is empty'],
    ['without a list of files', changed({ files: {} }), 'no list of files'],
    [
      'with a path that leaves the folder',
      changed({ files: [{ ...file, path: '../addresses.json' }] }),
      '"../addresses.json", which is not a plain file name',
    ],
    ['with an absolute path', changed({ files: [{ ...file, path: '/etc/passwd' }] }), 'not a plain file name'],
    ['that lists itself', changed({ files: [{ ...file, path: 'bundle.json' }] }), 'not a plain file name'],
    ['with a file twice', changed({ files: [file, file] }), 'names the file addresses.json twice'],
    ['with a bad checksum', changed({ files: [{ ...file, sha256: 'abc' }] }), 'no SHA-256 for the file addresses.json'],
    ['with an unknown phase', changed({ files: [{ ...file, phases: ['steady', 'later'] }] }), 'no known phase for the file addresses.json'],
    ['with null for a file', changed({ files: [null] }), 'not a plain file name'],
    [
      'that was changed after it was rendered',
      printManifest({ ...manifest, node: 'node-b' }),
      'the digest in bundle.json is not that of its content',
    ],
    ['without a digest', JSON.stringify({ ...manifest, digest: undefined }), 'the digest'],
  ])('%s', (_, text, reason) => {
    const { manifest: read, refusal } = parseManifest(text)
    expect(read).toBeNull()
    expect(refusal).toContain(reason)
    expect(refusal).toMatch(/: .*(again|egretta|out\/nodes)/)
  })
})
