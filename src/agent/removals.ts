import type { Change } from '../model/change.js'
import { type Problem, problem } from '../model/problem.js'
import type { Entry } from '../syntax/languages.js'
import type { Bundle } from './bundle.js'
import { type Observation, SUBSYSTEMS, split } from './reconcile.js'

/** A subsystem with no more entries than this may lose them all. */
const FEW = 10

/** The part of index.json that is read here. */
interface Index {
  readonly assignments?: readonly { readonly egressIP?: string; readonly node?: string }[]
  readonly nodes?: Readonly<Record<string, string>>
}

/** Addresses that the rendering of this very bundle places on other nodes; none where index.json is absent or of another rendering. */
export function elsewhere(text: string | null, { manifest }: Bundle): ReadonlySet<string> {
  let index: Index
  try {
    index = JSON.parse(text ?? '{}') as Index
  } catch {
    return new Set()
  }
  if (index.nodes?.[manifest.node] !== manifest.digest || !Array.isArray(index.assignments)) return new Set()
  return new Set(index.assignments.flatMap(({ egressIP, node }) => (egressIP !== undefined && node !== manifest.node ? egressIP : [])))
}

/** A problem for each subsystem of which a run would remove more than the percentage. Addresses that went to other nodes do not count. */
export function tooManyRemovals(
  changes: readonly Change<Entry>[],
  observed: Observation,
  moved: ReadonlySet<string>,
  maxRemove: number,
): readonly Problem[] {
  return SUBSYSTEMS.flatMap((name) => {
    const held = split('base', observed[name]).own.length
    const isMoved = (entry: Entry | null) => entry !== null && 'address' in entry && moved.has(entry.address.address.text)
    const removed = changes.filter(({ subsystem, op, from }) => subsystem === name && op === 'delete' && !isMoved(from)).length
    if (held <= FEW || removed * 100 <= held * maxRemove) return []
    return [
      problem('TooManyRemovals', {
        message: `the run would remove ${removed} of ${held} ${name}, more than ${maxRemove} percent; nothing was changed`,
      }),
    ]
  })
}
