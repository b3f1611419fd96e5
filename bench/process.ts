import { spawnSync } from 'node:child_process'

export interface Run {
  readonly seconds: number
  readonly stdout: string
}

/** Runs a Node.js program to its end, behind the words of `prefix`; throws when it fails otherwise than by what a plan says (exit 3). */
export function run(args: readonly string[], prefix: readonly string[] = []): Run {
  const [program = '', ...words] = [...prefix, process.execPath, ...args]
  const begin = process.hrtime.bigint()
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', maxBuffer: 2 ** 30 })
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9
  if (status !== 0 && status !== 3) throw new Error(`node ${args.join(' ')} exits with ${status}:\n${stderr.slice(-2000)}`)
  return { seconds, stdout }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[half] as number) : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2
}
