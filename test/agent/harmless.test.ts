import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { writeBundle } from './bundles.js'
import { agentWords, type Node, openNode } from './node.js'

/** System calls that change what stands in a folder, and the flags with which a file is opened for writing. */
const CHANGING =
  'openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat,chown,fchownat,utimensat,mknodat'
const WRITING = /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/

/** Input of programs, which has no name, and what runs the agent here: devices, the cache of what was compiled. */
const PASSING = /"\/dev\/(?:shm\/\.egretta-|null|tty|urandom)|"\/proc\/|tsx-|node-compile-cache|anon_inode|"\/tmp\/\.?tsx/

describeWith(['root', 'linux', 'ip', 'nft', 'ovs', 'strace'], 'a comparison', () => {
  let node: Node
  beforeAll(() => {
    node = openNode('harmless')
    writeBundle(node.bundle, { flows: 3, secondary: [] })
  })
  afterAll(() => node?.close())

  /** Every file of the state folder, with its text and its times. */
  const stateFolder = () =>
    existsSync(node.stateDir)
      ? readdirSync(node.stateDir, { recursive: true, withFileTypes: true }).map((entry) => {
          const path = join(entry.parentPath, entry.name)
          const { mtimeMs, ctimeMs, mode, ino } = statSync(path)
          return [path, mtimeMs, ctimeMs, mode, ino, entry.isFile() ? readFileSync(path, 'utf8') : '']
        })
      : null

  it.each([
    ['diff', 'steady'],
    ['diff', 'startup'],
    ['diff', 'shutdown'],
    ['apply', 'steady', '--dry-run', '--check', 'false'],
  ])('as %s of phase %s writes no file and changes nothing on the host', (name, phase, ...options) => {
    for (const isApplied of [false, true]) {
      if (isApplied) {
        const applied = join(node.folder, 'applied')
        writeBundle(applied, { egress: ['192.0.2.60'] })
        agent('apply', applied)
      }
      const [before, files] = [node.state(), stateFolder()]
      const trace = join(node.folder, `trace-${name}-${phase}-${isApplied}`)
      mkdirSync(trace)
      const words = ['-ff', '-qq', '-e', `trace=${CHANGING}`, '-e', 'signal=none', '-o', join(trace, 'of')]
      const said = node.namespace.exec(
        'strace',
        [...words, process.execPath, ...agentWords(name, node), ...options, '--phase', phase, '-o', 'json'],
        {
          env: { OVS_RUNDIR: node.ovs.rundir },
          mayFail: true,
        },
      )
      expect({ status: said.status, stderr: said.stderr }).toEqual({ status: 2, stderr: '' })
      const calls = readdirSync(trace)
        .map((name) => readFileSync(join(trace, name), 'utf8'))
        .join('')
        .split('\n')
        .filter((line) => line !== '')
      expect(calls.length).toBeGreaterThan(100)
      const written = calls.filter(
        (line) => !/ = -1 /.test(line) && (!/open(?:at)?\(/.test(line) || WRITING.test(line)) && !PASSING.test(line),
      )
      expect(written).toEqual([])
      expect(node.state()).toBe(before)
      expect(stateFolder()).toEqual(files)
    }
  })

  const agent = (name: string, bundle: string) =>
    node.namespace.exec(process.execPath, [...agentWords(name, { ...node, bundle }), '--allow-older'], {
      env: { OVS_RUNDIR: node.ovs.rundir },
    })
})
