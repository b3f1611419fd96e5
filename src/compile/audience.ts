import { type Address, compareAddresses, type Family } from '../model/address.js'
import { networksSelectedBy } from '../model/network-selection.js'
import type { NodeState } from '../model/node-state.js'
import { type Speaker, voicesOf } from '../model/speaker.js'
import type { ClusterPod, Topology } from '../model/topology.js'

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
  let pods: ReadonlyMap<string, readonly ClusterPod[]> | undefined
  const addresses = { 4: new Map<string, readonly Address[]>(), 6: new Map<string, readonly Address[]>() }
  const marked = new Map<string, ReturnType<Audience['markedOf']>>()
  return {
    podsOf(object, family) {
      pods ??= podsByObject(topology, speakers)
      const own = pods.get(object)
      const found = addresses[family].get(object) ?? (own ? addressesOf(own, family) : NOBODY)
      addresses[family].set(object, found)
      return found
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

/** The pods of the default network by the object that decides them. */
function podsByObject(topology: Topology, speakers: readonly Speaker[]): ReadonlyMap<string, readonly ClusterPod[]> {
  const byObject = new Map<string, ClusterPod[]>()
  for (const [pod, { object }] of voicesOf(topology, speakers)) {
    if (pod.network !== 'default') continue
    const pods = byObject.get(object)
    if (pods) pods.push(pod)
    else byObject.set(object, [pod])
  }
  return byObject
}

function addressesOf(pods: readonly ClusterPod[], family: Family): readonly Address[] {
  const own = pods.flatMap(({ addresses }) => addresses.filter((address) => address.family === family))
  return [...new Map(own.map((address) => [address.text, address])).values()].sort(compareAddresses)
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
