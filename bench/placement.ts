// Times one placement of a generated cluster; prints one line of JSON. `placement.ts OBJECTS NODES RUNS place|first-fit`
import { readInputs } from '../src/model/inputs.js'
import type { SourceFile } from '../src/model/source.js'
import { NO_OPTIONS, place } from '../src/place/place.js'
import { benchCluster } from './cluster.js'
import { firstFit, type Score } from './first-fit.js'

const [objects = 1000, nodes = 500, runs = 3] = process.argv.slice(2, 5).map(Number)
const inputs = inputsOf(objects, nodes)
const before = peak()
const solve = process.argv[5] === 'first-fit' ? () => firstFit(inputs) : placed
const seconds: number[] = []
let score: Score = solve()
const first = peak()
for (let run = 0; run < runs; run++) {
  const begin = process.hrtime.bigint()
  score = solve()
  seconds.push(Number(process.hrtime.bigint() - begin) / 1e9)
}
process.stdout.write(`${JSON.stringify({ seconds, ...score, peak: Math.max(first, peak()), before })}\n`)

/** Without pods: they have no part in where an address goes. */
function inputsOf(objects: number, nodes: number) {
  const { intent, pods: _, ...topology } = benchCluster({ objects, nodes, pods: 0 })
  const file = (file: string, items: readonly object[], role: SourceFile['role']): SourceFile => ({
    file,
    text: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    role,
  })
  return readInputs(
    [file('intent.json', intent, 'intent'), ...Object.entries(topology).map(([name, items]) => file(`${name}.json`, items, 'topology'))],
    null,
  )
}

function placed(): Score {
  const { assignments } = place(inputs, NO_OPTIONS)
  const held = new Map<string, number>()
  for (const { node } of assignments) if (node !== null) held.set(node, (held.get(node) ?? 0) + 1)
  return {
    assigned: assignments.filter(({ node }) => node !== null).length,
    moves: assignments.filter(({ change }) => change === 'move').length,
    sumOfSquares: [...held.values()].reduce((sum, count) => sum + count ** 2, 0),
  }
}

/** Peak resident set of this process so far, MiB. */
function peak(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024)
}
