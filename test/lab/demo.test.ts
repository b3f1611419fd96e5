import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { atExit } from './clean-up.js'
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
  it.each(['SIGINT', 'SIGTERM'] as const)('leaves no namespace, process or file when it gets %s half-way', async (signal) => {
    const dir = mkdtempSync(join(tmpdir(), 'egretta-demo-'))
    // A group of its own: the signal goes to the whole group, as from a terminal.
    const child = spawn(process.execPath, ['--import', 'tsx', DEMO], {
      env: { ...process.env, TMPDIR: dir },
      stdio: 'ignore',
      detached: true,
    })
    const pid = child.pid ?? 0
    const forget = atExit(() => process.kill(-pid, 'SIGTERM'))
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // The data paths and databases of two nodes, the capture, and who asks and speaks for two addresses.
    await until('hand-over under way', 60, () => {
      if (child.exitCode !== null) throw new Error(`the demo ended with ${child.exitCode}`)
      return processesIn(networksOf(pid)).length >= 9
    })
    const networks = networksOf(pid)
    expect(networks).toHaveLength(4)
    process.kill(-pid, signal)
    await ended
    forget()
    expect(child.exitCode).toBe(signal === 'SIGINT' ? 130 : 143)
    expect(networksOf(pid)).toEqual([])
    expect(processesIn(networks)).toEqual([])
    // tsx keeps its cache there.
    expect(readdirSync(dir).filter((name) => !name.startsWith('tsx-'))).toEqual([])
    rmSync(dir, { recursive: true })
  })
})
