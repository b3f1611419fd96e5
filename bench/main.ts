// npm run bench: how fast egretta places, renders, plans and applies, beside plain yardsticks measured in the same run. Prints medians.
// `npm run bench -- placement`, `-- rendering`, `-- plan` or `-- agent` for one part; RUNS=5 for more runs (default 3).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HostSize, type Measured, measureAgent } from './agent.js'
import { benchCluster, type Size } from './cluster.js'
import { type Format, writeCluster } from './files.js'
import type { Score } from './first-fit.js'
import { median, run } from './process.js'

const RUNS = Number(process.env.RUNS ?? 3)
const SMALL: Size = { objects: 1_000, nodes: 500, pods: 10_000 }
const LARGE: Size = { objects: 10_000, nodes: 5_000, pods: 150_000 }
const here = (file: string): string => join(import.meta.dirname, file)
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const number = (value: number): string => value.toLocaleString('en')

interface Placed extends Score {
  readonly seconds: readonly number[]
  readonly peak: number
}

function placement(): void {
  print(`placement, in memory, after one run that is not counted (median of ${RUNS} runs)`)
  const times = [SMALL, LARGE].map(({ objects, nodes }) => {
    const [ours, plain] = ['place', 'first-fit'].map((how) => {
      const { stdout } = run(['--import', 'tsx', here('placement.ts'), String(objects), String(nodes), String(RUNS), how])
      return JSON.parse(stdout) as Placed
    }) as [Placed, Placed]
    print(`  ${number(objects)} objects x 2 addresses x ${number(nodes)} nodes`)
    for (const [name, { seconds, assigned, moves, sumOfSquares, peak }] of [['egretta', ours] as const, ['first fit', plain] as const]) {
      const told = `${number(assigned)} of ${number(2 * objects)} assigned, ${moves} moved, sum of squares ${number(sumOfSquares)}`
      print(`    ${name.padEnd(9)} ${median(seconds).toFixed(3).padStart(8)} s  ${told}, peak ${number(peak)} MiB`)
    }
    return median(ours.seconds)
  })
  const [small, large] = times as [number, number]
  print(`  growth: ten times the objects and nodes take ${(large / small).toFixed(1)} times as long (wanted: at most 12)\n`)
}

interface Rendered {
  readonly seconds: readonly number[]
  readonly bytes: number
  readonly renewed: number
}

function rendering(): void {
  print(`rendering of all bundles, in memory, after one run that is not counted (median of ${RUNS} runs)`)
  let smallest: number | null = null
  for (const nodes of [50, 500, 5_000]) {
    const { stdout } = run(['--import', 'tsx', here('rendering.ts'), String(nodes), String(RUNS)])
    const { seconds, bytes, renewed } = JSON.parse(stdout) as Rendered
    const each = (median(seconds) / nodes) * 1_000
    smallest ??= each
    const growth = `${(each / smallest).toFixed(2)} times that of 50 nodes`
    const told = `${each.toFixed(2)} ms and ${number(Math.round(bytes / nodes / 1_000))} kB a node, ${growth}`
    print(`  ${number(nodes).padStart(5)} nodes ${median(seconds).toFixed(3).padStart(8)} s: ${told}`)
    print(`        a move of one egress IP renders ${renewed} nodes anew (wanted: 2)`)
  }
  print('')
}

function plan(folder: string, name: string, size: Size, format: Format, lean: boolean, most: number): void {
  const files = writeCluster(folder, benchCluster(size, lean), format)
  const command = [
    here('../dist/cli/main.js'),
    'plan',
    '--intent',
    join(folder, 'intent'),
    '--topology',
    join(folder, 'topology'),
    '-o',
    'json',
  ]
  run(command)
  const pairs = Array.from({ length: RUNS }, () => ({ plan: run(command).seconds, parse: run([here('parse.mjs'), ...files]).seconds }))
  const ratio = median(pairs.map((pair) => pair.plan / pair.parse))
  const [ours, bare] = [median(pairs.map((pair) => pair.plan)), median(pairs.map((pair) => pair.parse))]
  print(`  ${name}`)
  print(
    `    egretta plan -o json ${ours.toFixed(2)} s, bare parsing ${bare.toFixed(2)} s: ${ratio.toFixed(2)} times (wanted: at most ${most})`,
  )
  rmSync(folder, { recursive: true })
}

function plans(): void {
  print(`whole plan beside bare parsing of the same files, each a process of its own (median of ${RUNS} pairs)`)
  const folder = mkdtempSync(join(tmpdir(), 'egretta-bench-'))
  const told = ({ objects, nodes, pods }: Size) => `${number(objects)} objects, ${number(nodes)} nodes, ${number(pods)} pods`
  try {
    plan(join(folder, 'yaml'), `YAML (js-yaml loadAll): ${told(SMALL)}`, SMALL, 'yaml', false, 2.5)
    plan(join(folder, 'json'), `JSON (JSON.parse): ${told(LARGE)}`, LARGE, 'json', false, 5)
    plan(join(folder, 'lean'), `JSON, pods trimmed to what egretta reads: ${told(LARGE)}`, LARGE, 'json', true, 5)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const HOST: HostSize = { flows: 10_000, elements: 10_000, neighbors: 2_000 }
const IDLE_SECONDS = Number(process.env.IDLE ?? 70)

function agent(): void {
  const told = `${number(HOST.flows)} flows, ${number(HOST.elements)} elements, ${number(HOST.neighbors)} neighbors`
  print(`the agent beside the tools that it uses, on a host of its own with ${told} (median of ${RUNS} pairs)`)
  if (process.getuid?.() !== 0) {
    print('  left out: it needs root, for a network namespace\n')
    return
  }
  const { passes, changes, changed, idle } = measureAgent(HOST, RUNS, IDLE_SECONDS)
  const compared = (what: string, pairs: Measured['passes'], bare: string) => {
    const ratio = median(pairs.map(({ pass, raw }) => pass / raw))
    const [ours, tools] = [median(pairs.map(({ pass }) => pass)), median(pairs.map(({ raw }) => raw))]
    print(`  ${what}`)
    print(`    pass ${ours.toFixed(3)} s, ${bare} ${tools.toFixed(3)} s: ${ratio.toFixed(2)} times (wanted: at most 1.5)`)
  }
  compared('nothing to do', passes, 'nft -j list, dump-flows and ip -j')
  compared(`${number(changed)} changes, one entry in a hundred`, changes, 'two such read-backs and the tools told to make the change')
  print(`  nothing to do for ${idle.seconds} s`)
  print(`    ${idle.cpu.toFixed(2)} percent of a core (wanted: under 1), ${idle.memory.toFixed(0)} MiB (wanted: under 120)\n`)
}

const PARTS: Readonly<Record<string, () => void>> = { placement, rendering, plan: plans, agent }
const part = process.argv[2]
for (const [name, measure] of Object.entries(PARTS)) if (part === undefined || part === name) measure()
