import type { Inputs } from './inputs.js'
import { FIRST_MARK, LAST_MARK } from './numbers.js'
import { compareObjects } from './precedence.js'

/** A mark as the annotation spells it: decimal digits alone. Null where it is no mark. */
export function readMark(text: string): number | null {
  const mark = /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : 0
  return mark >= FIRST_MARK && mark <= LAST_MARK ? mark : null
}

type Marked = Pick<Inputs, 'intent' | 'lock' | 'cluster'>

/**
 * The egress mark that each object has now, by name: that of its annotation, where egretta decides else that of the lock. Of several
 * objects with one mark the oldest has it, then the first by name.
 */
export function marksNow({ intent, lock, cluster }: Marked): ReadonlyMap<string, number> {
  const locked = (name: string): number | null =>
    cluster.placement === 'enforced' && lock && Object.hasOwn(lock.objects, name) ? (lock.objects[name]?.mark ?? null) : null
  const taken = new Set<number>()
  const marks = new Map<string, number>()
  for (const { name, mark: written } of [...intent.objects, ...intent.gone, ...intent.foreign].sort(compareObjects)) {
    const mark = (written === null ? null : readMark(written)) ?? locked(name)
    if (mark === null || taken.has(mark)) continue
    taken.add(mark)
    marks.set(name, mark)
  }
  return marks
}

/** The marks once a placement is there: its own for our objects, those that they have for all others. */
export function marksThen({ intent }: Marked, marks: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const foreign = intent.foreign.flatMap(({ name, mark: written }): [string, number][] => {
    const mark = written === null ? null : readMark(written)
    return mark === null ? [] : [[name, mark]]
  })
  return new Map([...foreign, ...marks])
}
