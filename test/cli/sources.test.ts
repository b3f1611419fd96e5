import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readSources } from '../../src/cli/sources.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'egretta-sources-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const put = (path: string, text: string | Uint8Array) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
const codes = (paths: readonly string[]) => readSources(paths, 'both').problems.map(({ code, message }) => `${code} ${message}`)

describe('reading files', () => {
  it('goes through directories, sorted, and takes YAML and JSON only', () => {
    for (const path of ['b.yaml', 'a/z.yml', 'a/c.json', 'a/notes.md', 'c.yaml~', '.git/x.yaml', '.hidden.yaml']) put(path, path)
    const { files, problems } = readSources([root], 'intent')
    expect(files).toEqual(['a/c.json', 'a/z.yml', 'b.yaml'].map((path) => ({ file: join(root, path), text: path, role: 'intent' })))
    expect(problems).toEqual([])
  })

  it('leaves out what synth wrote and node_modules, unless it is named', () => {
    for (const path of ['intent/a.yaml', 'out/manifests/EgressIP.a.yaml', 'node_modules/x/b.yaml', 'other/c.json']) put(path, path)
    put('out/index.json', JSON.stringify({ kind: 'Index', assignments: [] }))
    put('other/index.json', JSON.stringify({ kind: 'Index' }))
    const found = (path: string) => readSources([join(root, path)], 'both').files.map(({ file }) => file.slice(root.length + 1))
    expect(found('')).toEqual(['intent/a.yaml', 'other/c.json', 'other/index.json'])
    expect(found('out/manifests')).toEqual(['out/manifests/EgressIP.a.yaml'])
  })

  it('takes a file that is named whatever its name, and keeps the path as written', () => {
    put('dump.txt', 'x')
    expect(readSources([join(root, 'dump.txt')], 'both').files).toMatchObject([{ file: join(root, 'dump.txt'), text: 'x' }])
  })

  it('says which path it cannot read, and reads the others', () => {
    put('a.yaml', 'a')
    const { files, problems } = readSources([join(root, 'no'), join(root, 'a.yaml')], 'both')
    expect(files).toHaveLength(1)
    expect(problems).toMatchObject([{ code: 'UnreadableInput', source: { file: join(root, 'no') } }])
    expect(problems[0]?.message).toContain('does not exist')
  })

  it('says so where a directory holds nothing to read', () => {
    put('notes.md', '')
    expect(codes([root])).toEqual([expect.stringMatching(/^EmptyInput .*holds no \.yaml/)])
  })

  it('ends where symbolic links go in circles, and reports one that leads nowhere', () => {
    put('a/b.yaml', 'b')
    symlinkSync(root, join(root, 'a/up'))
    symlinkSync(join(root, 'gone'), join(root, 'broken.yaml'))
    const { files, problems } = readSources([root], 'both')
    expect(files.map(({ text }) => text)).toEqual(['b'])
    expect(problems).toMatchObject([{ code: 'UnreadableInput' }])
  })

  it('refuses what is not UTF-8, with the place, and drops a byte order mark', () => {
    put('latin.yaml', Uint8Array.from([0x61, 0x0a, 0x62, 0xe4, 0x0a]))
    put('wide.yaml', Uint8Array.from([0xff, 0xfe, 0x61, 0x00]))
    put('mark.yaml', '\uFEFFa: 1')
    const { files, problems } = readSources([root], 'both')
    expect(files.map(({ text }) => text)).toEqual(['a: 1'])
    expect(problems).toMatchObject([{ source: { line: 2, column: 2 } }, { message: expect.stringContaining('UTF-16') }])
  })

  it('says that permission is denied', () => {
    put('a.yaml', 'a')
    chmodSync(join(root, 'a.yaml'), 0)
    expect(asNobody(() => codes([join(root, 'a.yaml')]))).toEqual([expect.stringContaining('permission denied')])
  })
})

describe('standard input', () => {
  const script = "import { readSources } from './src/cli/sources.ts'; console.log(JSON.stringify(readSources(['-'], 'both')))"
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script] as const

  it('is read to its end from a socket, a slow pipe and a file', () => {
    put('in.yaml', 'from: file\n')
    const quoted = node.map((word) => `'${word.replace(/'/g, "'\\''")}'`).join(' ')
    const outputs = [
      execFileSync(node[0], node.slice(1), { input: 'from: socket\n' }),
      execFileSync('sh', ['-c', `(echo 'from:'; sleep 0.3; echo '  pipe') | ${quoted}`]),
      execFileSync('sh', ['-c', `${quoted} < '${join(root, 'in.yaml')}'`]),
    ]
    expect(outputs.map((output) => JSON.parse(output.toString()).files)).toEqual(
      ['from: socket\n', 'from:\n  pipe\n', 'from: file\n'].map((text) => [{ file: '-', text, role: 'both' }]),
    )
  })
})

/** Root may read everything, so it becomes somebody else for a while. */
function asNobody<T>(read: () => T): T {
  if (process.getuid?.() !== 0) return read()
  process.seteuid?.(65534)
  try {
    return read()
  } finally {
    process.seteuid?.(0)
  }
}
