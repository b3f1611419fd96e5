import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { sha256 } from '../model/bundle.js'

/** Path below the output folder (with `/`) to text. */
export type FileTree = ReadonlyMap<string, string>

/** What `index.json` says beside the list of files. */
export interface IndexContent {
  readonly assignments: readonly { readonly egressIP: string; readonly object: string; readonly node: string }[]
  /** Node to the digest of its bundle. */
  readonly nodes: Readonly<Record<string, string>>
}

const INDEX = 'index.json'
/** How many foreign files a refusal names. */
const NAMED = 5

/** The output folder holds files that egretta did not write; nothing was changed. */
export class ForeignFiles extends Error {}

/** The text of `index.json`: one entry a line, so that a move of one address changes few lines. No times, no differences. */
export function printIndex(content: IndexContent, files: FileTree): string {
  const line = (key: string, value: unknown) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`
  const list = (key: string, open: string, entries: readonly string[], close: string) =>
    entries.length === 0
      ? `  "${key}": ${open}${close}`
      : `  "${key}": ${open}\n${entries.map((entry) => `    ${entry}`).join(',\n')}\n  ${close}`
  const nodes = Object.entries(content.nodes).sort(byKey)
  const listed = [...files].sort(byKey).map(([path, text]) => JSON.stringify({ path, sha256: sha256(text) }))
  return `{\n${[
    line('apiVersion', 'egretta.dev/v1alpha1'),
    line('kind', 'Index'),
    list(
      'assignments',
      '[',
      content.assignments.map(({ egressIP, object, node }) => JSON.stringify({ egressIP, object, node })),
      ']',
    ),
    list(
      'nodes',
      '{',
      nodes.map(([node, digest]) => `${JSON.stringify(node)}: ${JSON.stringify(digest)}`),
      '}',
    ),
    list('files', '[', listed, ']'),
  ].join(',\n')}\n}\n`
}

/**
 * Makes the folder hold exactly these files and its index. The tree is staged next to the folder and swapped in by
 * renames, so a run that fails or is killed at any point leaves the old folder, or what the next run restores it from.
 * Throws ForeignFiles when the folder holds a file that its own index does not list.
 */
export function writeTree(folder: string, files: FileTree, content: IndexContent): void {
  mkdirSync(dirname(folder), { recursive: true })
  const out = existsSync(folder) ? realpathSync(folder) : folder
  const staged = join(dirname(out), `.${basename(out)}.egretta-staged`)
  const replaced = join(dirname(out), `.${basename(out)}.egretta-replaced`)
  recover(out, staged, replaced)
  refuseForeign(folder, out)
  try {
    stage(staged, new Map([...files, [INDEX, printIndex(content, files)]]))
    if (existsSync(out)) renameSync(out, replaced)
    renameSync(staged, out)
  } catch (fault) {
    recover(out, staged, replaced)
    throw fault
  }
  rmSync(replaced, { recursive: true, force: true })
}

function stage(staged: string, files: FileTree): void {
  mkdirSync(staged)
  for (const [path, text] of files) {
    const file = join(staged, path)
    if (!file.startsWith(`${staged}${sep}`)) throw new Error(`${path} leads out of the output folder`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

/** Writes one file so that a reader, or a run that is killed, sees the old text or the new one. */
export function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const target = existsSync(path) ? realpathSync(path) : path
  const staged = `${target}.egretta-staged`
  writeFileSync(staged, text)
  renameSync(staged, target)
}

/** A run that ended between the two renames left the old folder under another name. */
function recover(out: string, staged: string, replaced: string): void {
  rmSync(staged, { recursive: true, force: true })
  if (!existsSync(replaced)) return
  if (existsSync(out)) rmSync(replaced, { recursive: true, force: true })
  else renameSync(replaced, out)
}

function refuseForeign(folder: string, out: string): void {
  if (!existsSync(out)) return
  if (!lstatSync(out).isDirectory()) throw new ForeignFiles(`${folder} is not a folder; choose another output folder`)
  const ours = new Set(listedIn(join(out, INDEX)))
  const foreign: string[] = []
  for (const path of filesBelow(out)) {
    if (!ours.has(path)) foreign.push(join(folder, path))
    if (foreign.length > NAMED) break
  }
  if (foreign.length === 0) return
  const named = `${foreign.slice(0, NAMED).join(', ')}${foreign.length > NAMED ? ' and more' : ''}`
  throw new ForeignFiles(
    `${folder} holds files that egretta did not write: ${named}; move them away or choose another output folder; nothing was written`,
  )
}

/** The files that an index vouches for, itself among them; none when it is missing or is no index of ours. */
function listedIn(index: string): readonly string[] {
  try {
    const value = JSON.parse(readFileSync(index, 'utf8')) as { kind?: unknown; files?: readonly { path?: unknown }[] }
    return value.kind === 'Index' ? [INDEX, ...(value.files ?? []).map((file) => String(file.path))] : []
  } catch {
    return []
  }
}

/** Lazily: the folder may turn out to be the root of a disk. */
function* filesBelow(folder: string, prefix = ''): Generator<string> {
  const entries = readdirSync(join(folder, prefix), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = `${prefix}${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(folder, `${path}/`)
    else yield path
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)
