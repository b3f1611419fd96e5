import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve, sep } from 'node:path'
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

/** Why the output folder cannot be written, and what to do; nothing was changed. */
export class OutputFault extends Error {}

/** The output folder holds files that egretta did not write; nothing was changed. */
export class ForeignFiles extends OutputFault {}

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

/** Where the folder is, links followed, and the places beside it that a run uses. Its parent must be there. */
function placesOf(folder: string) {
  const out = existsSync(folder) ? realpathSync(folder) : join(realpathSync(dirname(resolve(folder))), basename(folder))
  const beside = (what: string) => join(dirname(out), `.${basename(out)}.egretta-${what}`)
  return { out, staged: beside('staged'), replaced: beside('replaced'), lock: beside('lock') }
}

/**
 * Makes the folder hold exactly these files and its index. The tree is staged next to the folder and swapped in by
 * renames, so a run that fails or is killed at any point leaves the old folder, or what the next run restores it from.
 * Throws OutputFault: ForeignFiles when the folder holds a file that its own index does not list, others when another process
 * writes it, or when it cannot be swapped.
 */
export function writeTree(folder: string, files: FileTree, content: IndexContent): void {
  alone(folder, () => {
    const { out, staged, replaced } = placesOf(folder)
    recover(out, staged, replaced)
    refuseForeign(folder, out)
    try {
      stage(staged, new Map([...files, [INDEX, printIndex(content, files)]]))
      if (existsSync(out)) setAside(folder, out, replaced)
      renameSync(staged, out)
    } catch (fault) {
      recover(out, staged, replaced)
      throw fault
    }
    rmSync(replaced, { recursive: true, force: true })
  })
}

/** A mount point, or a folder of a lower layer of a container image, cannot be renamed. */
function setAside(folder: string, out: string, replaced: string): void {
  try {
    renameSync(out, replaced)
  } catch (fault) {
    if (!['EBUSY', 'EXDEV'].includes(codeOf(fault))) throw fault
    throw new OutputFault(
      `${folder} cannot be replaced as a whole: it is a mount point, or a folder of a container image; choose a folder in it, such as ${join(folder, 'rendered')}; nothing was written`,
    )
  }
}

/** The locks that this process holds. */
const held = new Set<string>()
/** A lock that is older is left behind, whatever its process: to write a tree takes seconds. */
const LONGEST_RUN_MS = 600_000

/**
 * Does work on an output folder while no other process does: two that swap trees at once would lose one, or both. The lock is a
 * link beside the folder that points to `<process>@<host>`, for a link is made with its content in one step. One that a killed
 * process has left behind is taken over. Within `work` the same folder can be written again. Throws OutputFault.
 */
export function alone<T>(folder: string, work: () => T): T {
  const parent = dirname(resolve(folder))
  try {
    mkdirSync(parent, { recursive: true })
  } catch (fault) {
    throw unwritable(folder, parent, fault)
  }
  const { lock } = placesOf(folder)
  if (held.has(lock)) return work()
  takeLock(folder, lock)
  held.add(lock)
  try {
    return work()
  } finally {
    held.delete(lock)
    rmSync(lock, { force: true })
  }
}

function takeLock(folder: string, lock: string): void {
  for (;;) {
    try {
      symlinkSync(`${process.pid}@${hostname()}`, lock)
      return
    } catch (fault) {
      // Some shared folders have no links: no lock then.
      if (['EPERM', 'ENOTSUP', 'ENOSYS'].includes(codeOf(fault))) return
      if (codeOf(fault) !== 'EEXIST') throw unwritable(folder, dirname(lock), fault)
    }
    const owner = ownerOf(lock)
    if (owner !== null && !takeOver(lock, owner)) {
      const [pid, host] = owner.split('@')
      throw new OutputFault(
        `another egretta (process ${pid} on ${host}) is writing ${folder}; run again when it has ended (if there is none, remove ${lock}); nothing was written`,
      )
    }
  }
}

/** Who holds a lock; null where there is none any more. */
function ownerOf(lock: string): string | null {
  try {
    return readlinkSync(lock)
  } catch (fault) {
    if (codeOf(fault) === 'ENOENT') return null
    return codeOf(fault) === 'EINVAL' ? '?@?' : raise(fault)
  }
}

/** Takes a lock away whose process is gone; false where it is not. Of several that try the first to rename it succeeds. */
function takeOver(lock: string, owner: string): boolean {
  const [pid, host] = owner.split('@')
  try {
    const old = Date.now() - lstatSync(lock).mtimeMs > LONGEST_RUN_MS
    if (!old && (host !== hostname() || isAlive(Number(pid)))) return false
    const aside = `${lock}.${process.pid}`
    renameSync(lock, aside)
    // Between the look and the rename somebody else may have taken it over: it is theirs.
    if (readlinkSync(aside) !== owner) {
      renameSync(aside, lock)
      return false
    }
    rmSync(aside)
  } catch (fault) {
    if (codeOf(fault) !== 'ENOENT') throw fault
  }
  return true
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (fault) {
    return codeOf(fault) !== 'ESRCH'
  }
}

const codeOf = (fault: unknown): string => (fault instanceof Error && 'code' in fault ? String(fault.code) : '')

function raise(fault: unknown): never {
  throw fault
}

/** The parent of the output folder does not take files. */
function unwritable(folder: string, parent: string, fault: unknown): unknown {
  const why: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'it is on a read-only file system',
    ENOTDIR: 'a part of its path is not a folder',
    EEXIST: 'a part of its path is not a folder',
    ENOSPC: 'no space is left',
  }
  const reason = why[codeOf(fault)]
  if (reason === undefined) return fault
  return new OutputFault(
    `${folder} cannot be written, because a new tree is made beside it, in ${parent}: ${reason}; choose an output folder elsewhere, or a folder in this one; nothing was written`,
  )
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
  const staged = `${target}.egretta-staged-${process.pid}`
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
