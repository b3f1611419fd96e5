import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { watchFiles } from '../../src/host/folder-watch.js'
import type { Watch } from '../../src/host/follow.js'

const NEVER = 3_600_000
const OFTEN = 20

describe('a watch of folders', () => {
  let root: string
  let watch: Watch | null
  const changed = vi.fn()
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'egretta-watch-'))
    watch = null
    changed.mockReset()
  })
  afterEach(() => {
    watch?.close()
    rmSync(root, { recursive: true })
  })
  const file = () => join(root, 'bundle.json')
  const said = (act: () => void) => {
    changed.mockReset()
    act()
    return vi.waitFor(() => expect(changed).toHaveBeenCalled())
  }

  it('says at once that a file was written, one replaced, and a folder put in the place of another', async () => {
    const folder = join(root, 'nodes')
    mkdirSync(folder)
    watch = watchFiles([root, folder], [], NEVER, changed)
    await said(() => writeFileSync(join(folder, 'a'), '1'))
    await said(() => {
      writeFileSync(join(root, 'next'), '2')
      renameSync(join(root, 'next'), join(folder, 'a'))
    })
    await said(() => {
      renameSync(folder, join(root, 'old'))
      mkdirSync(folder)
    })
    await said(() => writeFileSync(join(folder, 'a'), '3'))
  })

  it('sees by looking what inotify does not: what comes later, and the other end of a link', async () => {
    const folder = join(root, 'later')
    watch = watchFiles([folder], [join(folder, 'bundle.json')], OFTEN, changed)
    await said(() => {
      mkdirSync(folder)
      writeFileSync(join(folder, 'bundle.json'), '1')
    })
    watch.close()
    const [one, two] = ['one', 'two'].map((name) => join(root, name))
    for (const each of [one, two]) {
      mkdirSync(each as string)
      writeFileSync(join(each as string, 'bundle.json'), String(each))
    }
    const link = join(root, 'link')
    symlinkSync(one as string, link)
    watch = watchFiles([], [join(link, 'bundle.json')], OFTEN, changed)
    await said(() => {
      rmSync(link)
      symlinkSync(two as string, link)
    })
  })

  it('says nothing when nothing changes, nor after it was closed', async () => {
    writeFileSync(file(), '1')
    watch = watchFiles([root], [file()], OFTEN, changed)
    await new Promise((resolve) => setTimeout(resolve, 10 * OFTEN))
    expect(changed).not.toHaveBeenCalled()
    watch.close()
    writeFileSync(file(), '2')
    await new Promise((resolve) => setTimeout(resolve, 10 * OFTEN))
    expect(changed).not.toHaveBeenCalled()
  })
})
