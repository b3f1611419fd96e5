import type { Inputs } from '../model/inputs.js'
import type { EgressIPIntent } from '../model/intent.js'
import { labelIndex } from '../model/label-index.js'
import { readMark } from '../model/mark.js'
import { FIRST_MARK, LAST_MARK } from '../model/numbers.js'
import { type Problem, problem } from '../model/problem.js'
import { compareObjects } from './owners.js'

/** Label of a namespace whose pods use a primary user-defined network: only they need the mark. */
export const PRIMARY_NETWORK_LABEL = 'k8s.ovn.org/primary-user-defined-network'
const ANNOTATION = ['metadata', 'annotations', 'k8s.ovn.org/egressip-mark']

/**
 * The egress mark of every object that needs one: because it selects a namespace on a primary user-defined network, or has one
 * already. An object keeps the number of its annotation, else of the lock; the others get the lowest free numbers, older
 * objects first. Of several objects with one number the oldest keeps it (then the first by name) and the others get new ones,
 * but an EgressIP that is not ours always keeps its own, and one that is being removed has it until it is deleted. A fault of a mark never unplaces an address.
 */
export function marksOf({ intent, topology, lock }: Inputs): {
  readonly marks: ReadonlyMap<string, number>
  readonly problems: readonly Problem[]
} {
  const problems: Problem[] = []
  const lockedMark = (name: string) => (lock && Object.hasOwn(lock.objects, name) ? lock.objects[name]?.mark : undefined)
  const ownerOf = new Map<number, string>()
  const marks = new Map<string, number>()
  const objects = [...intent.objects].sort(compareObjects)
  for (const object of [...intent.foreign, ...intent.gone].sort(compareObjects)) {
    const mark = object.mark === null ? null : readMark(object.mark)
    if (mark !== null && !ownerOf.has(mark)) ownerOf.set(mark, object.name)
  }
  for (const { name } of intent.invalid) {
    const mark = lockedMark(name)
    if (mark !== undefined && !ownerOf.has(mark)) ownerOf.set(mark, name)
  }

  const waiting: EgressIPIntent[] = []
  const primaryOf = labelIndex(topology.namespaces.filter((namespace) => PRIMARY_NETWORK_LABEL in namespace.labels))
  for (const object of objects) {
    const source = object.source.at(ANNOTATION)
    const annotated = object.mark === null ? null : readMark(object.mark)
    if (object.mark !== null && annotated === null) {
      const message = `The mark "${object.mark}" of ${object.name} is not a number from ${FIRST_MARK} to ${LAST_MARK}.`
      problems.push(problem('InvalidMark', { object: object.name, message, source }))
    }
    const mark = annotated ?? lockedMark(object.name) ?? null
    const owner = mark === null ? undefined : ownerOf.get(mark)
    if (mark !== null && owner === undefined) {
      ownerOf.set(mark, object.name)
      marks.set(object.name, mark)
      continue
    }
    if (owner !== undefined) {
      const message = `The mark ${mark} of ${object.name} belongs to ${owner}: packets of both would leave with the same address.`
      problems.push(problem('DuplicateMark', { object: object.name, message, source }))
    }
    if (owner !== undefined || primaryOf(object.namespaceSelector).length > 0) waiting.push(object)
  }

  let next = FIRST_MARK
  for (const object of waiting) {
    while (ownerOf.has(next)) next++
    if (next > LAST_MARK) {
      const message = `No mark is left for ${object.name}: all ${LAST_MARK - FIRST_MARK + 1} are taken.`
      problems.push(problem('MarkExhausted', { object: object.name, message, source: object.source.at() }))
      continue
    }
    marks.set(object.name, next)
    ownerOf.set(next, object.name)
  }
  return { marks: new Map([...marks].sort(([a], [b]) => (a < b ? -1 : 1))), problems }
}
