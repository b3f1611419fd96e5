import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GitSource, gitRepository, parseGitSource } from '../../src/host/git.js'
import { describeWith } from '../requires.js'

describe('the name of a git source', () => {
  it.each([
    ['git+https://example.com/egress.git#main', { url: 'https://example.com/egress.git', ref: 'main', path: '' }],
    ['git+ssh://git@example.com:2222/a/b#release/1.2:/out/', { url: 'ssh://git@example.com:2222/a/b', ref: 'release/1.2', path: 'out' }],
    ['git+file:///srv/r#v1:a/b', { url: 'file:///srv/r', ref: 'v1', path: 'a/b' }],
  ] as const)('%s', (text, source) => {
    expect(parseGitSource(text)).toEqual(source)
  })

  it.each([
    'git+https://example.com/egress.git',
    'git+https://example.com/egress.git#',
    'git+https://example.com/egress.git#-upload-pack=x',
    'git+https://example.com/egress.git#a..b',
    'git+https://example.com/egress.git#main:../x',
    'git+https://example.com/egress.git#main:a//b',
    'git+ssh://-oProxyCommand=x/y#main',
    'git+ext::sh -c true#main',
    'git+ext://sh#main',
    'git+/srv/r#main',
    'https://example.com/egress.git#main',
  ])('refuses %s', (text) => {
    expect(parseGitSource(text)).toBe(null)
  })
})

describeWith(['git'], 'a git source', () => {
  let folder: string
  let origin: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'egretta-git-'))
    origin = join(folder, 'origin')
    mkdirSync(origin)
    git('init', '--quiet', '--initial-branch=main')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function git(...args: readonly string[]): string {
    const identity = ['-c', 'user.name=Nobody', '-c', 'user.email=nobody@example.com', '-c', 'commit.gpgsign=false']
    return execFileSync('git', ['-C', origin, ...identity, ...args], { encoding: 'utf8' }).trim()
  }
  function commit(files: Readonly<Record<string, string>>): string {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(origin, path)), { recursive: true })
      writeFileSync(join(origin, path), text)
    }
    git('add', '--all')
    git('commit', '--quiet', '--message', 'Change')
    return git('rev-parse', 'HEAD')
  }
  const open = (over: Partial<GitSource> = {}) =>
    gitRepository({ url: `file://${origin}`, ref: 'main', path: 'out', ...over }, join(folder, 'state'), null, {})

  it('holds the files of the commit that its reference stands for, and no link or folder among them', async () => {
    symlinkSync('/etc/passwd', join(origin, 'link'))
    mkdirSync(join(origin, 'out', 'nodes', 'a'), { recursive: true })
    symlinkSync('/etc/passwd', join(origin, 'out', 'nodes', 'a', 'link'))
    const first = commit({ 'out/index.json': '{}\n', 'out/nodes/a/bundle.json': 'one\r\n', 'out/nodes/a/deeper/x': 'x', 'other/y': 'y' })
    const repository = open()
    expect(await repository.fetch()).toBe(first)
    const files = [
      { path: 'index.json', text: '{}\n' },
      { path: 'nodes/a/bundle.json', text: 'one\r\n' },
    ]
    expect(await repository.read(first, ['nodes/a', ''])).toEqual(files)

    const second = commit({ 'out/nodes/a/bundle.json': 'two' })
    expect(await repository.fetch()).toBe(second)
    expect(await repository.read(first, ['nodes/a', '']), 'a commit is what it was').toEqual(files)
    expect(await repository.isAncestor(first, second)).toBe(true)
    expect(await repository.isAncestor(second, first)).toBe(false)
  })

  it('takes branches, tags and commits, also where a branch was put back', async () => {
    const first = commit({ 'out/a': '1' })
    git('tag', '--annotate', '--message', 'One', 'v1')
    const second = commit({ 'out/a': '2' })
    expect(await open({ ref: 'v1' }).fetch()).toBe(first)
    expect(await open({ ref: first }).fetch()).toBe(first)
    expect(await open().fetch()).toBe(second)
    git('reset', '--quiet', '--hard', first)
    expect(await open().fetch()).toBe(first)
  })

  it('says what it cannot find, and keeps what it has', async () => {
    const first = commit({ 'out/a': '1' })
    const repository = open()
    await repository.fetch()
    await expect(open({ ref: 'gone' }).fetch()).rejects.toThrow('the repository has no branch, tag or commit gone')
    rmSync(origin, { recursive: true })
    await expect(repository.fetch()).rejects.toThrow(/^git fetch failed: /)
    expect(await repository.read(first, [''])).toEqual([{ path: 'a', text: '1' }])
  })

  it('runs no hook, filter or command that a repository or a configuration next to it brings', async () => {
    const ran = join(folder, 'ran')
    const first = commit({ '.gitattributes': '* filter=evil\n', 'out/a': '1' })
    const repository = open()
    await repository.fetch()
    const hooks = join(folder, 'state', 'repository', 'hooks')
    mkdirSync(hooks, { recursive: true })
    for (const name of ['reference-transaction', 'post-checkout'])
      writeFileSync(join(hooks, name), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
    commit({ 'out/a': '2' })
    await repository.fetch()
    await repository.read(first, [''])
    expect(existsSync(ran)).toBe(false)
  })
})
