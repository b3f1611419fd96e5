import { closeSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { lineIndex } from '../model/lines.js'
import { type Problem, problem } from '../model/problem.js'
import type { Role, SourceFile } from '../model/source.js'

/**
 * Reads files, directories (all .yaml, .yml and .json files in them, at any depth; left out are names that begin with a dot,
 * node_modules and what synth wrote: its output is no input) and `-` for standard input, in the order given and sorted by name within a directory. What cannot be read is
 * UnreadableInput; a directory without a file is EmptyInput.
 */
export function readSources(paths: readonly string[], role: Role): { files: readonly SourceFile[]; problems: readonly Problem[] } {
  const files: SourceFile[] = []
  const problems: Problem[] = []
  const read = (path: string) => {
    const text = readText(path)
    if (typeof text === 'string') files.push({ file: path, text, role })
    else problems.push(text)
  }
  for (const path of paths) {
    if (path === '-') {
      read(path)
      continue
    }
    try {
      if (!statSync(path).isDirectory()) {
        read(path)
        continue
      }
      const found = filesUnder(path, new Set(), problems)
      if (found.length === 0) {
        problems.push(
          problem('EmptyInput', {
            message: `The directory ${path} holds no .yaml, .yml or .json file.`,
            remedy: 'Name another directory, or put the files there.',
          }),
        )
      }
      found.forEach(read)
    } catch (error) {
      problems.push(unreadable(path, error))
    }
  }
  return { files, problems }
}

function filesUnder(directory: string, seen: Set<string>, problems: Problem[]): string[] {
  const real = realpathSync(directory)
  if (seen.has(real)) return []
  seen.add(real)
  const names = readdirSync(directory).sort((a, b) => (a < b ? -1 : 1))
  return names.flatMap((name) => {
    if (name.startsWith('.') || name === 'node_modules') return []
    const path = join(directory, name)
    try {
      if (statSync(path).isDirectory()) return isRendered(path) ? [] : filesUnder(path, seen, problems)
      return /\.(ya?ml|json)$/.test(name) ? [path] : []
    } catch (error) {
      problems.push(unreadable(path, error))
      return []
    }
  })
}

/** Whether synth wrote the directory: it has the index of one. */
function isRendered(directory: string): boolean {
  try {
    const index: unknown = JSON.parse(readFileSync(join(directory, 'index.json'), 'utf8'))
    return typeof index === 'object' && index !== null && 'kind' in index && index.kind === 'Index' && 'assignments' in index
  } catch {
    return false
  }
}

/** The text of a file in UTF-8 (`-`: standard input), or the problem that it cannot be read. */
export function readText(path: string): string | Problem {
  const name = path === '-' ? 'standard input' : path
  try {
    const bytes = path === '-' ? readStandardInput() : readFileSync(path)
    if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
      return problem('UnreadableInput', { message: `${name} is UTF-16, not UTF-8.`, remedy: 'Save it as UTF-8.' })
    }
    return decode(bytes) ?? notUtf8(name, path, bytes)
  } catch (error) {
    return unreadable(path, error)
  }
}

/** A descriptor of its own: descriptor 0 may be set not to block, and then a slow pipe is an error. */
function readStandardInput(): Buffer {
  const descriptor = openStandardInput()
  try {
    return readFileSync(descriptor)
  } finally {
    if (descriptor !== 0) closeSync(descriptor)
  }
}

function openStandardInput(): number {
  try {
    return openSync('/dev/stdin', 'r')
  } catch {
    return 0
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function notUtf8(name: string, file: string, bytes: Buffer): Problem {
  const text = bytes.toString('utf8')
  const source = { file, ...lineIndex(text)(Math.max(0, text.indexOf('\uFFFD'))) }
  return problem('UnreadableInput', { message: `${name} is not text in UTF-8.`, source, remedy: 'Give YAML or JSON in UTF-8.' })
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its symbolic links form a loop',
  ERR_FS_FILE_TOO_LARGE: 'it is too large; split it',
  ERR_STRING_TOO_LONG: 'it is too large; split it',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'it is too large; split it',
}

function unreadable(path: string, error: unknown): Problem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const name = path === '-' ? 'standard input' : path
  return problem('UnreadableInput', {
    message: `${name} cannot be read: ${REASONS[code] ?? (error instanceof Error ? error.message : String(error))}.`,
    source: { file: path, line: 1, column: 1 },
    remedy: 'Correct the path or its permissions.',
  })
}
