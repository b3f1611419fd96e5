import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { HostFault } from '../../src/host/exec.js'
import { listFolder, makeFolder, readText, removeFile, writeAtomic } from '../../src/host/files.js'

const folder = mkdtempSync(join(tmpdir(), 'egretta-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('files', () => {
  it('are replaced whole, readable by their owner alone, and nothing is left beside them', () => {
    const path = join(folder, 'a')
    writeAtomic(path, 'one')
    writeAtomic(path, 'two')
    expect(readFileSync(path, 'utf8')).toBe('two')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['a'])
    removeFile(path)
    removeFile(path)
    expect(readText(path)).toBeNull()
  })

  it('that cannot be read or written are a fault of the host', () => {
    expect(() => readText(folder)).toThrow(HostFault)
    expect(() => writeAtomic(join(folder, 'no', 'folder'), '')).toThrow(HostFault)
    writeFileSync(join(folder, 'file'), '')
    expect(() => makeFolder(join(folder, 'file'))).toThrow(HostFault)
  })

  it('of a folder are listed, and what is no plain file is told apart', () => {
    const listed = join(folder, 'listed')
    mkdirSync(join(listed, 'below'), { recursive: true })
    for (const path of ['b', 'a', 'below/c']) writeFileSync(join(listed, path), '')
    symlinkSync('/etc', join(listed, 'link'))
    expect(listFolder(listed)).toEqual([
      { name: 'a', plain: true },
      { name: 'b', plain: true },
      { name: 'below', plain: false },
      { name: 'link', plain: false },
    ])
    expect(listFolder(join(folder, 'nowhere'))).toBeNull()
  })
})
