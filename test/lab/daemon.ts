import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './netns.js'
import type { LabNode } from './network.js'

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'agent', 'main.ts')

/** `egretta-agent run` on a node, as a process of its own. */
export interface Daemon {
  /** What it printed so far, on both streams. */
  said(): string
  /** Sends a signal; answers the time at which it did, in milliseconds since 1970. */
  signal(name: NodeJS.Signals): number
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>
}

/** Starts the agent on a node and waits until it is steady. Throws when it ends before, with what it said. */
export async function startDaemon(node: LabNode, source: string, ...args: readonly string[]): Promise<Daemon> {
  const options = ['--source', source, '--node', node.name, '--state-dir', node.stateDir, '--settle', '0', ...args]
  const child = node.namespace.spawn(process.execPath, ['--import', 'tsx', MAIN, 'run', ...options], {
    env: { ...process.env, OVS_RUNDIR: node.ovs.rundir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (bytes: Buffer) => {
      said += bytes.toString()
    })
  }
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  await until(`steady agent on ${node.name}`, 20, () => {
    if (child.exitCode !== null) throw new Error(`the agent of ${node.name} ended with ${child.exitCode}: ${said}`)
    return said.includes(`${node.name} (steady): `)
  })
  return {
    said: () => said,
    signal(name) {
      const at = Date.now()
      child.kill(name)
      return at
    },
    ended,
  }
}

/** The folder from which the agent of a node takes its bundles. */
export interface Source {
  readonly folder: string
  /** Puts the bundle of the node out of a rendering there, file by file; answers when that was done, in milliseconds since 1970. */
  put(out: string): number
}

export function sourceOf(node: LabNode, folder: string): Source {
  mkdirSync(folder, { recursive: true })
  return {
    folder,
    put(out) {
      const mine = join('nodes', node.name)
      rmSync(join(folder, mine), { recursive: true, force: true })
      for (const part of [mine, 'index.json']) cpSync(join(out, part), join(folder, part), { recursive: true })
      return Date.now()
    },
  }
}
