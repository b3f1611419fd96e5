import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { until } from './netns.js'

const DEMO = join(import.meta.dirname, 'demo.ts')

/** The kernel's names of the network namespaces of a run; they outlive the names under /run/netns. */
const networksOf = (pid: number): readonly string[] =>
  readdirSync('/run/netns')
    .filter((name) => name.startsWith(`egretta-${pid}-`))
    .map((name) => `net:[${statSync(join('/run/netns', name)).ino}]`)

/** Ids of the processes whose network is one of these. */
const processesIn = (networks: readonly string[]): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^[0-9]+$/.test(pid) && networks.includes(readlinkSync(`/proc/${pid}/ns/net`))
    } catch {
      return false
    }
  })

describeWith(['linux', 'root', 'ip', 'nft', 'ovs', 'arping', 'ndptool', 'tcpdump'], 'the demo', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'egretta-demo-'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it.each(['SIGINT', 'SIGTERM'] as const)('leaves no namespace, process or file when it gets %s half-way', async (signal) => {
    const child = spawn(process.execPath, ['--import', 'tsx', DEMO], {
      env: { ...process.env, TMPDIR: dir },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        said += bytes.toString()
      })
    }
    await until('hand-over under way', 60, () => {
      if (child.exitCode !== null) throw new Error(said)
      return said.includes('without the guard')
    })
    const networks = networksOf(child.pid ?? 0)
    expect(networks).toHaveLength(4)
    expect(processesIn(networks).length).toBeGreaterThan(4)
    // To the whole group, as a terminal does.
    process.kill(-(child.pid ?? 0), signal)
    await until('end of the demo', 20, () => child.exitCode !== null)
    expect(child.exitCode).toBe(signal === 'SIGINT' ? 130 : 143)
    expect(networksOf(child.pid ?? 0)).toEqual([])
    expect(processesIn(networks)).toEqual([])
    // tsx keeps its cache there.
    expect(readdirSync(dir).filter((name) => !name.startsWith('tsx-'))).toEqual([])
  })
})
