import { type Catalog, catalog, distinctContent, duplicates } from './catalog.js'
import { type Cluster, readCluster, strayNodes } from './cluster.js'
import { currentHolders, removedAddresses } from './current.js'
import { gatewayModeProblems } from './gateway-mode.js'
import { type Intent, readIntent } from './intent.js'
import type { Lock } from './lock.js'
import { masqueradeChanges } from './masquerade.js'
import type { Problem } from './problem.js'
import { parseSource, type SourceFile, type SourceObject } from './source.js'
import { readTopology, type Topology } from './topology.js'

/** Everything that placement and compilation need, parsed and merged. */
export interface Inputs {
  readonly intent: Intent
  readonly topology: Topology
  readonly cluster: Cluster
  readonly lock: Lock | null
  /**
   * Who has each address now: object to (RFC 5952 address to node). Advisory: the live status. Enforced: the live status
   * where it differs from the one the lock has seen, else the lock.
   */
  readonly current: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** SHA-256, hex, over the canonical parsed objects: the same for any order of files and documents. */
  readonly digest: string
  readonly problems: readonly Problem[]
  /** True when a file could not be read or parsed: nothing may be written (exit 1). */
  readonly unreadable: boolean
}

/**
 * Reads everything that a run is given. Nothing is thrown: what is wrong with a file, an object or a field is a problem, and the
 * rest is read. `earlier` are the problems of reading the files and the lock.
 */
export function readInputs(files: readonly SourceFile[], lock: Lock | null, earlier: readonly Problem[] = []): Inputs {
  const sources = files.map(parseSource)
  const objects = catalog(
    sources.flatMap((source) => source.objects),
    lock,
  )
  const { topology, subnets, problems: topologyProblems } = readTopology(objects)
  const { object, problems: clusterChoice } = clusterObject(objects)
  const { cluster, problems: clusterProblems } = readCluster(object, topology.facts, subnets)
  const { intent, live, problems: intentProblems } = readIntent(objects, lock)
  const current = currentHolders(live, lock, cluster.placement)
  const problems = [
    ...earlier,
    ...sources.flatMap((source) => source.problems),
    ...objects.problems,
    ...clusterChoice,
    ...clusterProblems,
    ...strayNodes(object, cluster, new Set(topology.nodes.map(({ name }) => name))),
    ...gatewayModeProblems(cluster, topology.nodes),
    ...masqueradeChanges({ cluster, topology }),
    ...topologyProblems,
    ...intentProblems,
  ].sort(byPlace)
  return {
    intent: { ...intent, removed: removedAddresses(intent, current, lock) },
    topology,
    cluster,
    lock,
    current,
    digest: objects.digest,
    problems,
    unreadable: problems.some(({ code }) => code === 'UnreadableInput'),
  }
}

/** There is one Cluster object, whatever its name; of several different ones none is taken. */
function clusterObject({ byKind }: Catalog): { object: SourceObject | null; problems: readonly Problem[] } {
  const found = distinctContent((byKind.get('Cluster') ?? []).flat())
  return found.length > 1 ? { object: null, problems: duplicates(found) } : { object: found[0] ?? null, problems: [] }
}

/** By file, line and column, those without a place first; then by content. */
function byPlace(a: Problem, b: Problem): number {
  const key = ({ source, code, message }: Problem) => [source?.file ?? '', source?.line ?? 0, source?.column ?? 0, code, message] as const
  const [x, y] = [key(a), key(b)]
  const at = x.findIndex((part, index) => part !== y[index])
  return at < 0 ? 0 : (x[at] as string | number) < (y[at] as string | number) ? -1 : 1
}
