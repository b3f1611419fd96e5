import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ROOT } from './tree.js'

const NEEDED = ['nft', 'ovs-vswitchd', 'ip', 'arping', 'ndisc6', 'ndptool', 'tcpdump', 'conntrack', 'git', 'strace', 'iptables']

/** A checkout in a path with blanks, and a machine that is nothing but a folder of programs. */
let folder: string
let checkout: string
let bin: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'egretta set up '))
  checkout = join(folder, 'a checkout')
  bin = join(folder, 'bin')
  mkdirSync(join(checkout, 'scripts'), { recursive: true })
  mkdirSync(bin)
  // /usr/sbin and /sbin of this machine must not count
  const script = readFileSync(join(ROOT, 'scripts/setup'), 'utf8').replace('export PATH="$PATH:/usr/sbin:/sbin"', '')
  writeFileSync(join(checkout, 'scripts/setup'), script)
  chmodSync(join(checkout, 'scripts/setup'), 0o755)
  copyFileSync(join(ROOT, 'package-lock.json'), join(checkout, 'package-lock.json'))
  writeFileSync(join(checkout, 'scripts/build.mjs'), 'console.error("built")\n')
  for (const program of ['bash', 'dirname', 'cat']) symlinkSync(`/bin/${program}`, join(bin, program))
  symlinkSync(process.execPath, join(bin, 'node'))
  machine({ id: 'echo 1000', npm: 'echo "npm $*" >&2; /bin/mkdir -p node_modules' })
})
afterEach(() => rmSync(folder, { recursive: true }))

function machine(programs: Record<string, string>): void {
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/bash\n${body}\n`)
    chmodSync(join(bin, name), 0o755)
  }
}

function setup() {
  const { status, stdout, stderr } = spawnSync(join(checkout, 'scripts/setup'), { cwd: tmpdir(), encoding: 'utf8', env: { PATH: bin } })
  return { status, stdout, said: stderr.split('\n').filter((line) => line !== '') }
}

const everything = () => machine(Object.fromEntries(NEEDED.map((program) => [program, 'true'])))

describe('scripts/setup', () => {
  it('installs npm packages once, and builds, from any directory and in a path with blanks', () => {
    everything()
    const first = setup()
    expect(first).toMatchObject({ status: 0, stdout: '' })
    expect(first.said).toEqual(['setup: npm ci', 'npm ci --no-audit --no-fund --loglevel=error', 'built'])
    expect(setup().said).toEqual(['built'])
  })

  it('installs again when the lock file is another one', () => {
    everything()
    setup()
    writeFileSync(join(checkout, 'package-lock.json'), '{}')
    expect(setup().said).toContain('setup: npm ci')
  })

  it('does not believe in packages whose installation failed', () => {
    everything()
    machine({ npm: 'exit 7' })
    expect(setup().status).toBe(7)
    expect(existsSync(join(checkout, 'node_modules/.egretta-lock'))).toBe(false)
  })

  it('names what is missing, and what is left out, where it may not install', () => {
    machine(Object.fromEntries(NEEDED.filter((program) => program !== 'arping' && program !== 'nft').map((program) => [program, 'true'])))
    const { status, said } = setup()
    expect(status).toBe(0)
    expect(said.slice(0, 3)).toEqual([
      'setup: not root on Debian, so these packages are not installed; left out without them:',
      '  nftables: guards in nftables',
      '  iputils-arping: hand-over and the demo',
    ])
  })

  it('refuses a Node.js that is too old', () => {
    everything()
    rmSync(join(bin, 'node'))
    machine({ node: 'case "$1" in -e) exit 1;; *) echo v18.20.0;; esac' })
    expect(setup()).toMatchObject({ status: 1, said: ['setup: Node.js 20.19 or later is needed; this is v18.20.0'] })
  })
})
