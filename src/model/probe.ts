import type { ClusterFacts } from './cluster-facts.js'
import { type JsonObject, listAt, printPath, withoutNulls } from './json.js'
import { PROBE_RESULT_SCHEMA } from './probe-schema.js'
import { type Problem, problem } from './problem.js'
import { schemaCheck } from './schema.js'
import { type SourceObject, subject } from './source.js'

/** What the latest probe of one node found. */
export interface NodeProbe {
  readonly node: string
  readonly reachable: boolean
  /** As written (RFC 3339); null when the result does not say it. */
  readonly time: string | null
  readonly method: string | null
}

const check = schemaCheck(PROBE_RESULT_SCHEMA)

/** The results of one ProbeResult object. A wrong one is InvalidObject and left out; an unknown field is UnknownField. */
function readResults(object: SourceObject): { probes: readonly NodeProbe[]; problems: readonly Problem[] } {
  const value = withoutNulls(object.value) as JsonObject
  const wrong = new Set<number>()
  const faults = check(value)
  const problems = faults.map(({ kind, path, message }) => {
    const unknown = kind === 'unknown'
    if (!unknown && typeof path[2] === 'number') wrong.add(path[2])
    return problem(unknown ? 'UnknownField' : 'InvalidObject', {
      object: subject(object),
      message: `${subject(object)}: ${printPath(path)} ${message}.`,
      source: object.at(path, unknown),
      ...(unknown ? {} : { remedy: 'Correct the field; the result is left out until then.' }),
    })
  })
  if (faults.some(({ kind, path }) => kind === 'wrong' && path.length < 3)) return { probes: [], problems }
  const probes: NodeProbe[] = []
  for (const [index, item] of listAt(value, ['spec', 'results']).entries()) {
    if (wrong.has(index)) continue
    const { node, reachable, time = null, method = null } = item as Omit<NodeProbe, 'time' | 'method'> & Partial<NodeProbe>
    if (time === null || !Number.isNaN(Date.parse(time))) {
      probes.push({ node, reachable, time, method })
      continue
    }
    problems.push(
      problem('InvalidObject', {
        object: subject(object),
        message: `${subject(object)}: the time ${time} of a result does not exist.`,
        remedy: 'Correct the field; the result is left out until then.',
        source: object.at(['spec', 'results', index, 'time']),
      }),
    )
  }
  return { probes, problems }
}

/**
 * What the latest probe of each node found, by name of the node, from any number of ProbeResult objects: the newest time
 * counts, one without a time is the oldest, and of equally old ones the one that says unreachable.
 */
export function readProbes(objects: readonly SourceObject[]): { probes: readonly NodeProbe[]; problems: readonly Problem[] } {
  const read = objects.map(readResults)
  const latest = new Map<string, NodeProbe>()
  for (const probe of read.flatMap(({ probes }) => probes)) {
    const other = latest.get(probe.node)
    if (!other || compareProbes(other, probe) > 0) latest.set(probe.node, probe)
  }
  return {
    probes: [...latest.values()].sort((a, b) => (a.node < b.node ? -1 : 1)),
    problems: read.flatMap(({ problems }) => problems),
  }
}

const when = ({ time }: NodeProbe): number => (time === null ? Number.NEGATIVE_INFINITY : Date.parse(time))

/** The one that counts first; texts break what is left, so that the order of the files does not matter. */
function compareProbes(a: NodeProbe, b: NodeProbe): number {
  if (when(a) !== when(b)) return when(a) > when(b) ? -1 : 1
  if (a.reachable !== b.reachable) return a.reachable ? 1 : -1
  const [x, y] = [a, b].map(({ time, method }) => JSON.stringify([time, method])) as [string, string]
  return x < y ? -1 : x > y ? 1 : 0
}

/** Whether ovnkube probes egress nodes at all: reachabilityTotalTimeoutSeconds 0 switches it off (seed 001). */
export const isProbing = ({ reachabilityTimeout }: Pick<ClusterFacts, 'reachabilityTimeout'>): boolean => reachabilityTimeout !== 0

/** What of the inputs says which nodes are reachable. */
interface Reachability {
  readonly cluster: { readonly unreachable: readonly string[] }
  readonly topology: { readonly facts: Pick<ClusterFacts, 'reachabilityTimeout'>; readonly probes: readonly NodeProbe[] }
}

/**
 * The nodes that count as unreachable, each with how it is known: `--down` and Cluster.spec.unreachable always, a ProbeResult
 * unless the reachability check is off.
 */
export function unreachableNodes({ cluster, topology }: Reachability, down: readonly string[]): ReadonlyMap<string, string> {
  const probes = isProbing(topology.facts) ? topology.probes.filter(({ reachable }) => !reachable) : []
  return new Map([
    ...probes.map(({ node, time }) => [node, time === null ? 'a ProbeResult' : `a ProbeResult of ${time}`] as const),
    ...cluster.unreachable.map((node) => [node, 'Cluster.spec.unreachable'] as const),
    ...down.map((node) => [node, '--down'] as const),
  ])
}
