import { parseAddress } from '../model/address.js'
import { type Assignment, type Placement, removal } from '../model/assignment.js'
import type { Artefact } from '../model/bundle.js'
import type { Inputs } from '../model/inputs.js'
import { type Speaker, speakersNow } from '../model/speaker.js'
import type { PlanOrigin, PlanSubject } from './index.js'

/** What a plan is compared with instead of the current assignment. */
export interface Previous extends PlanOrigin {
  /** Where each address was to be: object to (RFC 5952 address to node). */
  readonly holders: Inputs['current']
  /** Who was to speak for pods; null where only a plan is known: it does not hold selectors. */
  readonly speakers: readonly Speaker[] | null
  /** Node to the files that its host was to have; null where only a plan is known. */
  readonly bundles: ReadonlyMap<string, readonly Artefact[]> | null
}

/** Where a plan puts each address: object to (RFC 5952 address to node). */
export function holdersOf(assignments: readonly Pick<Assignment, 'egressIP' | 'object' | 'node'>[]): Previous['holders'] {
  const holders = new Map<string, Map<string, string>>()
  for (const { egressIP, object, node } of assignments) {
    const address = parseAddress(egressIP)
    if (node === null || !address) continue
    const held = holders.get(object) ?? new Map<string, string>()
    holders.set(object, held.set(address.text, node))
  }
  return holders
}

/**
 * The same decision, its changes counted from what was decided before instead of from the current assignment. `render` gives
 * the files of every host for inputs with another current assignment, where `previous` does not have them. Where the cluster
 * decides, hosts follow its status, of which a plan says nothing: then only earlier inputs show how they change.
 */
export function comparedWith(previous: Previous, subject: PlanSubject, render: (inputs: Inputs) => PlanSubject['before']): PlanSubject {
  const { inputs, placement } = subject
  const foreign = new Set(inputs.intent.foreign.map(({ name }) => name))
  const ours = [...previous.holders].filter(([object]) => !foreign.has(object))
  const theirs = [...inputs.current].filter(([object]) => foreign.has(object))
  const since = { ...inputs, current: new Map([...ours, ...theirs]) }
  const advisory = inputs.cluster.placement === 'advisory'
  return {
    ...subject,
    inputs: since,
    placement: recounted(placement, new Map(ours)),
    before: previous.bundles ?? (advisory ? subject.before : render(since)),
    previous: { name: previous.name, inputDigest: previous.inputDigest },
    speakers: previous.speakers ?? speakersNow(since),
  }
}

function recounted(placement: Placement, held: Inputs['current']): Placement {
  const heldBy = ({ object, egressIP }: { readonly object: string; readonly egressIP: string }) => held.get(object)?.get(egressIP) ?? null
  const placed = placement.assignments.filter(({ node }) => node !== null)
  const known = new Set([...placed, ...placement.unassigned].map(({ object, egressIP }) => `${object} ${egressIP}`))
  const removed = [...held].flatMap(([object, addresses]) =>
    [...addresses].flatMap(([egressIP, node]) => (known.has(`${object} ${egressIP}`) ? [] : [removal(object, egressIP, node)])),
  )
  return {
    ...placement,
    assignments: [
      ...placed.map((one): Assignment => {
        const was = heldBy(one)
        if (was === one.node) return { ...one, change: 'keep', from: null }
        return was === null ? { ...one, change: 'add', from: null } : { ...one, change: 'move', from: was }
      }),
      ...removed,
    ],
    unassigned: placement.unassigned.map((one) => ({ ...one, from: heldBy(one) })),
  }
}
