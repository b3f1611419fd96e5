import { type Address, compareAddresses, type Family } from '../model/address.js'
import { networksSelectedBy } from '../model/network-selection.js'
import type { NodeState } from '../model/node-state.js'
import { type Speaker, voicesOf } from '../model/speaker.js'
import type { Topology } from '../model/topology.js'

/** For whom the objects speak while the egress IPs are where they are. */
export interface Speaking {
  readonly speakers: readonly Speaker[]
  /** Egress mark by name of the object. */
  readonly marks: ReadonlyMap<string, number>
}

/** Nobody selects a pod. */
export const SILENCE: Speaking = { speakers: [], marks: new Map() }

/** The pods and networks that leave with the egress IPs of an object. Each answer is found once, and only when it is asked for. */
export interface Audience {
  /** Addresses of the pods of the default network, of the family, that the object decides; sorted. */
  podsOf(object: string, family: Family): readonly Address[]
  /** The mark of the object and the names of the primary user-defined networks that it selects, sorted; null without mark or network. */
  markedOf(object: string): { readonly mark: number; readonly networks: readonly string[] } | null
}

/** The audience of the objects of a topology. Of several objects that select a pod the first by precedence has it, as the plan says. */
export function audienceOf(topology: Topology, { speakers, marks }: Speaking): Audience {
  const byName = new Map(speakers.map((one) => [one.name, one]))
  let pods: ReadonlyMap<string, Readonly<Record<Family, readonly Address[]>>> | undefined
  const marked = new Map<string, ReturnType<Audience['markedOf']>>()
  return {
    podsOf(object, family) {
      pods ??= podsByObject(topology, speakers)
      return pods.get(object)?.[family] ?? NOBODY
    },
    markedOf(object) {
      let found = marked.get(object)
      if (found === undefined) {
        const [mark, speaker] = [marks.get(object), byName.get(object)]
        const networks = mark === undefined || !speaker ? [] : networksSelectedBy(topology, speaker).map(({ network }) => network)
        found = mark === undefined || networks.length === 0 ? null : { mark, networks: [...networks].sort() }
        marked.set(object, found)
      }
      return found
    },
  }
}

const NOBODY: readonly Address[] = []

function podsByObject(topology: Topology, speakers: readonly Speaker[]) {
  const byObject = new Map<string, Record<Family, Map<string, Address>>>()
  for (const [pod, { object }] of voicesOf(topology)(speakers)) {
    if (pod.network !== 'default') continue
    const found = byObject.get(object) ?? { 4: new Map(), 6: new Map() }
    byObject.set(object, found)
    for (const address of pod.addresses) found[address.family].set(address.text, address)
  }
  const sorted = (found: ReadonlyMap<string, Address>) => [...found.values()].sort(compareAddresses)
  return new Map([...byObject].map(([object, found]) => [object, { 4: sorted(found[4]), 6: sorted(found[6]) }]))
}

/** Whether the objects of a state still have the audience that it was compiled for. */
export const isHeard = (state: NodeState, before: Audience, now: Audience): boolean =>
  state.secondary.every(({ egressIPs }) =>
    egressIPs.every(({ address, for: origin }) => {
      const [was, is] = [before, now].map((audience) => audience.podsOf(nameOf(origin), address.family)) as [Pods, Pods]
      return was === is || (was.length === is.length && was.every(({ text }, at) => text === is[at]?.text))
    }),
  ) &&
  state.egressAddresses.every(({ for: origin }) => {
    const [was, is] = [before.markedOf(nameOf(origin)), now.markedOf(nameOf(origin))]
    return was?.mark === is?.mark && was?.networks.join() === is?.networks.join()
  })

type Pods = readonly Address[]

/** `eip-a` of `EgressIP/eip-a` */
export const nameOf = (origin: string): string => origin.replace(/^EgressIP\//, '')
