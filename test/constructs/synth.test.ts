import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alone, ForeignFiles, printIndex, replaceFile, writeTree } from '../../src/constructs/synth.js'
import { sha256 } from '../../src/model/bundle.js'
import { describeWith } from '../requires.js'

const INDEX = { assignments: [{ egressIP: '192.0.2.50', object: 'eip-a', node: 'node-a' }], nodes: { 'node-b': 'bb', 'node-a': 'aa' } }
const tree = (...paths: string[]) => new Map(paths.map((path) => [path, `text of ${path}\n`]))

let folder: string
let out: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'egretta-synth-'))
  out = join(folder, 'out')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const files = (): string[] =>
  readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(out.length + 1))
    .sort()

describe('printIndex', () => {
  it('lists each entry on a line of its own, nodes and files sorted', () => {
    const text = printIndex(INDEX, tree('nodes/b', 'manifests/a'))
    expect(text.split('\n')).toContain('    {"egressIP":"192.0.2.50","object":"eip-a","node":"node-a"}')
    expect(JSON.parse(text)).toEqual({
      apiVersion: 'egretta.dev/v1alpha1',
      kind: 'Index',
      assignments: INDEX.assignments,
      nodes: { 'node-a': 'aa', 'node-b': 'bb' },
      files: ['manifests/a', 'nodes/b'].map((path) => ({ path, sha256: sha256(`text of ${path}\n`) })),
    })
    expect(text.indexOf('"node-a": "aa"')).toBeLessThan(text.indexOf('"node-b": "bb"'))
  })
  it('is JSON without any entry too', () => {
    expect(JSON.parse(printIndex({ assignments: [], nodes: {} }, new Map()))).toMatchObject({ assignments: [], nodes: {}, files: [] })
  })
})

describe('writeTree', () => {
  it('writes the files and the index, and nothing else beside the folder', () => {
    writeTree(out, tree('nodes/a/bundle.json', 'manifests/x.yaml'), INDEX)
    expect(files()).toEqual(['index.json', 'manifests/x.yaml', 'nodes/a/bundle.json'])
    expect(readdirSync(folder)).toEqual(['out'])
  })
  it('removes stale files of its own', () => {
    writeTree(out, tree('nodes/a/bundle.json', 'nodes/b/bundle.json'), INDEX)
    writeTree(out, tree('nodes/a/bundle.json'), INDEX)
    expect(files()).toEqual(['index.json', 'nodes/a/bundle.json'])
    writeTree(out, new Map(), { assignments: [], nodes: {} })
    writeTree(out, tree('nodes/a/bundle.json'), INDEX)
    expect(files()).toEqual(['index.json', 'nodes/a/bundle.json'])
  })
  it('refuses a folder with a file that its index does not list, and changes nothing', () => {
    writeTree(out, tree('nodes/a/bundle.json'), INDEX)
    writeFileSync(join(out, 'nodes/notes.txt'), 'mine')
    const before = files()
    expect(() => writeTree(out, tree('other'), INDEX)).toThrow(ForeignFiles)
    expect(() => writeTree(out, tree('other'), INDEX)).toThrow(/out\/nodes\/notes\.txt.*nothing was written/)
    expect(files()).toEqual(before)
  })
  it('names a few of many foreign files', () => {
    mkdirSync(join(out, 'deep'), { recursive: true })
    for (let i = 0; i < 9; i++) writeFileSync(join(out, 'deep', String(i)), '')
    expect(() => writeTree(out, tree('other'), INDEX)).toThrow(/: \S*out\/deep\/0, .*out\/deep\/4 and more;/)
  })
  it('refuses a folder that is not its own, however its index.json looks', () => {
    mkdirSync(out)
    for (const text of ['', '{}', '[]', '{"kind":"Index"', '{"kind":"Other","files":[{"path":"index.json"}]}']) {
      writeFileSync(join(out, 'index.json'), text)
      expect(() => writeTree(out, tree('other'), INDEX)).toThrow(/out\/index\.json/)
    }
  })
  it('writes nothing outside the folder, and leaves nothing behind when it fails', () => {
    writeTree(out, tree('a'), INDEX)
    expect(() => writeTree(out, tree('a', 'nodes/x/../../../evil'), INDEX)).toThrow('leads out of the output folder')
    expect(readdirSync(folder)).toEqual(['out'])
    expect(files()).toEqual(['a', 'index.json'])
  })
  it('takes an empty folder, refuses a file in its place', () => {
    mkdirSync(out)
    writeTree(out, tree('a'), INDEX)
    rmSync(out, { recursive: true })
    writeFileSync(out, 'mine')
    expect(() => writeTree(out, tree('a'), INDEX)).toThrow(/is not a folder/)
    expect(readFileSync(out, 'utf8')).toBe('mine')
  })
  it('follows a link to the folder and keeps the link', () => {
    const real = join(folder, 'real')
    mkdirSync(real)
    symlinkSync(real, out)
    writeTree(out, tree('a'), INDEX)
    expect(existsSync(join(real, 'a'))).toBe(true)
    expect(readdirSync(folder).sort()).toEqual(['out', 'real'])
  })
  it('restores the old folder when a run was killed between the two renames', () => {
    writeTree(out, tree('old'), INDEX)
    renameSync(out, join(folder, '.out.egretta-replaced'))
    mkdirSync(join(folder, '.out.egretta-staged'))
    writeFileSync(join(folder, '.out.egretta-staged', 'half'), '')
    mkdirSync(out)
    rmSync(out, { recursive: true })
    writeTree(out, tree('new'), INDEX)
    expect(files()).toEqual(['index.json', 'new'])
    expect(readdirSync(folder)).toEqual(['out'])
  })
  it('keeps a foreign file of the old folder through such a kill', () => {
    writeTree(out, tree('old'), INDEX)
    writeFileSync(join(out, 'notes.txt'), 'mine')
    renameSync(out, join(folder, '.out.egretta-replaced'))
    expect(() => writeTree(out, tree('new'), INDEX)).toThrow(ForeignFiles)
    expect(files()).toEqual(['index.json', 'notes.txt', 'old'])
  })
  describe('beside another run', () => {
    const lock = () => join(folder, '.out.egretta-lock')
    const ownFolder = () => readdirSync(folder).sort()
    it('refuses, names it, and changes nothing', () => {
      writeTree(out, tree('old'), INDEX)
      symlinkSync(`${process.ppid}@${hostname()}`, lock())
      const said = `another egretta (process ${process.ppid} on ${hostname()}) is writing ${out}; run again when it has ended (if there is none, remove ${lock()}); nothing was written`
      expect(() => writeTree(out, tree('new'), INDEX)).toThrow(said)
      expect(files()).toEqual(['index.json', 'old'])
      for (const owner of [`1@${hostname()}`, '99999999@elsewhere', 'nonsense']) {
        rmSync(lock())
        symlinkSync(owner, lock())
        expect(() => writeTree(out, tree('new'), INDEX)).toThrow('is writing')
      }
      expect(ownFolder()).toEqual(['.out.egretta-lock', 'out'])
    })
    it('takes over the lock of a process that is gone, and an old one of anybody', () => {
      const gone = spawnSync(process.execPath, ['-e', '']).pid
      symlinkSync(`${gone}@${hostname()}`, lock())
      writeTree(out, tree('one'), INDEX)
      symlinkSync(`1@elsewhere`, lock())
      lutimesSync(lock(), new Date(0), new Date(0))
      writeTree(out, tree('two'), INDEX)
      expect(files()).toEqual(['index.json', 'two'])
      expect(ownFolder()).toEqual(['out'])
    })
    it('can be nested in work on the same folder, and gives the lock back when work fails', () => {
      alone(out, () => writeTree(out, tree('one'), INDEX))
      expect(() =>
        alone(out, () => {
          expect(ownFolder()).toContain('.out.egretta-lock')
          throw new Error('no')
        }),
      ).toThrow('no')
      expect(ownFolder()).toEqual(['out'])
    })
    it('never mixes two trees, however many write at once', async () => {
      const script = `
        import { writeTree } from ${JSON.stringify(join(import.meta.dirname, '../../src/constructs/synth.ts'))}
        const files = (n) => new Map(Array.from({ length: 20 }, (_, i) => ['nodes/' + i + '/file', process.argv[1] + ' ' + n]))
        const pause = new Int32Array(new SharedArrayBuffer(4))
        let written = 0
        while (written < 15) {
          try {
            writeTree(${JSON.stringify(out)}, files(written), { assignments: [], nodes: {} })
            written++
          } catch (fault) {
            if (!/is writing/.test(fault.message)) throw fault
          }
          Atomics.wait(pause, 0, 0, Math.random() * 20)
        }
        process.stdout.write(String(written))`
      const run = (name: string) =>
        new Promise<{ code: number | null; written: number }>((done) => {
          const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, name], {
            stdio: ['ignore', 'pipe', 'inherit'],
          })
          let text = ''
          child.stdout.on('data', (chunk) => {
            text += chunk
          })
          child.once('close', (code) => done({ code, written: Number(text) }))
        })
      const runs = await Promise.all(['a', 'b', 'c'].map(run))
      expect(runs).toEqual(runs.map(() => ({ code: 0, written: 15 })))
      const texts = new Set(files().flatMap((file) => (file === 'index.json' ? [] : [readFileSync(join(out, file), 'utf8')])))
      expect(texts.size).toBe(1)
      expect(ownFolder()).toEqual(['out'])
    })
  })
  it('says why the folder beside which it would work does not take files', () => {
    writeFileSync(join(folder, 'file'), '')
    const inFile = join(folder, 'file', 'out')
    expect(() => writeTree(inFile, tree('a'), INDEX)).toThrow(
      `${inFile} cannot be written, because a new tree is made beside it, in ${join(folder, 'file')}: a part of its path is not a folder; `,
    )
    const root = process.getuid?.() === 0
    chmodSync(folder, 0o555)
    if (root) process.seteuid?.(65_534)
    try {
      expect(() => writeTree(out, tree('a'), INDEX)).toThrow(`in ${folder}: permission denied; choose an output folder elsewhere`)
    } finally {
      if (root) process.seteuid?.(0)
      chmodSync(folder, 0o755)
    }
  })
  describeWith(['linux'], 'on a mount point', () => {
    it('says that it cannot be replaced, and leaves it as it is', () => {
      mkdirSync(out)
      const script = `
        import { writeTree } from ${JSON.stringify(join(import.meta.dirname, '../../src/constructs/synth.ts'))}
        writeTree(${JSON.stringify(out)}, new Map([['a', '']]), { assignments: [], nodes: {} })`
      const shell = `mount --bind "$1" "$1" && exec "$2" --import tsx --input-type=module -e "$3"`
      const { stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', shell, 'sh', out, process.execPath, script], { encoding: 'utf8' })
      expect(stderr).toContain(
        `${out} cannot be replaced as a whole: it is a mount point, or a folder of a container image; choose a folder in it`,
      )
      expect(files()).toEqual([])
      expect(readdirSync(folder)).toEqual(['out'])
    })
  })
  it('leaves a whole folder behind whenever it is killed', async () => {
    const script = `
      import { writeTree } from ${JSON.stringify(join(import.meta.dirname, '../../src/constructs/synth.ts'))}
      const write = (n) => {
        const files = new Map(Array.from({ length: 20 }, (_, i) => ['nodes/' + i + '/file', String(n)]))
        writeTree(${JSON.stringify(out)}, files, { assignments: [], nodes: {} })
      }
      write(0)
      process.stdout.write('go')
      for (let n = 1; ; n++) write(n)`
    for (const delay of [5, 23, 41]) {
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await new Promise((go) => child.stdout.once('data', go))
      await new Promise((later) => setTimeout(later, delay))
      child.kill('SIGKILL')
      await new Promise((ended) => child.once('exit', ended))
      const whole = existsSync(out) ? out : join(folder, '.out.egretta-replaced')
      const index = JSON.parse(readFileSync(join(whole, 'index.json'), 'utf8'))
      expect(index.files).toHaveLength(20)
      for (const { path, sha256: sum } of index.files) expect(sha256(readFileSync(join(whole, path), 'utf8'))).toBe(sum)
      writeTree(out, tree('after'), INDEX)
      expect(files()).toEqual(['after', 'index.json'])
      expect(readdirSync(folder)).toEqual(['out'])
    }
  })
})

describe('replaceFile', () => {
  it('writes a new file and replaces an old one, leaving nothing beside it', () => {
    const path = join(folder, 'deep', 'egretta.lock.json')
    replaceFile(path, 'one')
    replaceFile(path, 'two')
    expect(readFileSync(path, 'utf8')).toBe('two')
    expect(readdirSync(join(folder, 'deep'))).toEqual(['egretta.lock.json'])
  })
})
