import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import type { BenchCluster } from './cluster.js'

export type Format = 'yaml' | 'json'

/** More pods than this go into several files: one text of Node.js holds half a gigabyte at most. */
const PER_FILE = 50_000

/** Writes a cluster as `intent/` and `topology/` of a folder, in lists as kubectl prints them; the paths of the files. */
export function writeCluster(folder: string, { intent, ...topology }: BenchCluster, format: Format): readonly string[] {
  const parts = Object.entries(topology).flatMap(([name, items]) =>
    chunks(items).map((chunk, index) => [`topology/${name}-${index + 1}`, chunk] as const),
  )
  for (const name of ['intent', 'topology']) mkdirSync(join(folder, name), { recursive: true })
  return [['intent/egressips', intent] as const, ...parts].map(([name, items]) => {
    const path = join(folder, `${name}.${format}`)
    const file = openSync(path, 'w')
    for (const text of format === 'json' ? jsonList(items) : yamlList(items)) writeSync(file, text)
    closeSync(file)
    return path
  })
}

const chunks = (items: readonly object[]): readonly (readonly object[])[] =>
  Array.from({ length: Math.ceil(items.length / PER_FILE) }, (_, index) => items.slice(index * PER_FILE, (index + 1) * PER_FILE))

function* jsonList(items: readonly object[]): Iterable<string> {
  yield '{\n    "apiVersion": "v1",\n    "items": [\n'
  for (const [index, item] of items.entries()) {
    const text = JSON.stringify(item, null, 4).replace(/^/gm, '        ')
    yield `${index === 0 ? '' : ',\n'}${text}`
  }
  yield '\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n'
}

function* yamlList(items: readonly object[]): Iterable<string> {
  yield 'apiVersion: v1\nitems:\n'
  for (const item of items) yield dump([item], { noRefs: true, lineWidth: -1, noArrayIndent: true })
  yield 'kind: List\nmetadata:\n  resourceVersion: ""\n'
}
