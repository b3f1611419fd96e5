// Times the rendering of every bundle of a generated cluster; prints one line of JSON. `rendering.ts NODES RUNS`
import { compile, type Held, recompile, type Speaking } from '../src/compile/index.js'
import { readInputs } from '../src/model/inputs.js'
import { marksThen } from '../src/model/mark.js'
import type { NodeState } from '../src/model/node-state.js'
import type { SourceFile } from '../src/model/source.js'
import { speakersThen } from '../src/model/speaker.js'
import { NO_OPTIONS, place } from '../src/place/place.js'
import { render } from '../src/render/index.js'
import { benchCluster } from './cluster.js'

const [count = 50, runs = 3] = process.argv.slice(2, 4).map(Number)
const inputs = inputsOf(count)
const placement = place(inputs, NO_OPTIONS)
const held = placement.assignments.flatMap(({ object, egressIP, node }): Held[] => (node === null ? [] : [{ object, egressIP, node }]))
const speaking: Speaking = { speakers: speakersThen(inputs, placement), marks: marksThen(inputs, placement.marks) }
const all = (): readonly NodeState[] => compile(inputs, held, speaking).states

let bytes = sizeOf(all())
const seconds: number[] = []
for (let run = 0; run < runs; run++) {
  const begin = process.hrtime.bigint()
  bytes = sizeOf(all())
  seconds.push(Number(process.hrtime.bigint() - begin) / 1e9)
}
process.stdout.write(`${JSON.stringify({ seconds, bytes, renewed: renewed() })}\n`)

/** Two EgressIPs and ten pods for each node, and services of both families. */
function inputsOf(nodes: number) {
  const { intent, ...topology } = benchCluster({ objects: 2 * nodes, nodes, pods: 10 * nodes }, true)
  const file = (file: string, items: readonly object[], role: SourceFile['role']): SourceFile => ({
    file,
    text: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    role,
  })
  const cluster = {
    apiVersion: 'egretta.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'bench' },
    spec: { subnets: { pod: ['172.16.0.0/12', 'fd01::/48'], service: ['10.254.0.0/16', 'fd02::/112'] } },
  }
  return readInputs(
    [
      file('intent.json', [cluster, ...intent], 'intent'),
      ...Object.entries(topology).map(([name, items]) => file(`${name}.json`, items, 'topology')),
    ],
    null,
  )
}

/** Number of characters of all files of all nodes. */
function sizeOf(states: readonly NodeState[]): number {
  let size = 0
  for (const state of states) for (const { text } of render(state)) size += text.length
  return size
}

/** How many states are made anew when one egress IP moves to another node of its network. */
function renewed(): number {
  const states = all()
  const [first, ...others] = held as [Held, ...Held[]]
  const beside = states.findIndex(({ node }) => node === first.node)
  const moved = { ...first, node: (states[beside + 1] ?? states[beside - 1])?.node ?? first.node }
  const next = recompile(inputs, { held: [moved, ...others], speaking }, { held, speaking, states })
  return next.filter((state, at) => state !== states[at]).length
}
