import { contains, networkOf, type Prefix, printPrefix } from '../model/address.js'
import { cloudOf } from '../model/hosting.js'
import type { Inputs } from '../model/inputs.js'
import type { EgressIPIntent } from '../model/intent.js'
import { type Problem, problem } from '../model/problem.js'
import { selectionOf } from '../model/selection.js'
import { matches } from '../model/selector.js'
import type { ClusterNode, ClusterPod } from '../model/topology.js'
import type { Claim } from './claims.js'
import { type Capacity, type Field, type Held, isFull } from './eligibility.js'
import { PRIMARY_NETWORK_LABEL } from './marks.js'
import { compareObjects } from './owners.js'

/** A claim with the index of its node. */
export interface Placed {
  readonly claim: Claim
  readonly index: number
}

/** What is worth knowing about a placement although no address is refused for it. `held` is what each node holds at the end. */
export function adviceOn(inputs: Inputs, field: Field, placed: readonly Placed[], held: readonly Held[]): readonly Problem[] {
  return [
    ...inputs.intent.objects.flatMap((object) => selectorAdvice(inputs, object)),
    ...overlappingSelections(inputs),
    ...placed.flatMap((place) => [...overlappingNetworks(field, place), ...unsupportedNetwork(inputs, place)]),
    ...imbalance(field, placed, held),
  ]
}

/** A selector that hardly means what it says. Without a namespace in the topology nothing can be said. */
function selectorAdvice({ topology }: Inputs, object: EgressIPIntent): readonly Problem[] {
  const source = object.source.at(['spec', 'namespaceSelector'])
  const isEmpty = ({ matchLabels, matchExpressions }: EgressIPIntent['namespaceSelector']) =>
    Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0
  if (isEmpty(object.namespaceSelector) && isEmpty(object.podSelector)) {
    const message = `${object.name} selects every pod of the cluster, those of the system namespaces too.`
    return [problem('SelectorMatchesEverything', { object: object.name, message, source })]
  }
  const none = topology.namespaces.length > 0 && !topology.namespaces.some(({ labels }) => matches(object.namespaceSelector, labels))
  if (!none) return []
  const { length } = topology.namespaces
  const message = `namespaceSelector of ${object.name} matches ${length === 1 ? 'not the only namespace' : `none of the ${length} namespaces`}.`
  return [problem('SelectorMatchesNoNamespace', { object: object.name, message, source })]
}

/** Pods that two objects select: only one can decide their address. Upstream takes whichever it sees first; here it is the older one. */
function overlappingSelections({ intent, topology }: Inputs): readonly Problem[] {
  const select = selectionOf(topology)
  const winners = new Map<ClusterPod, EgressIPIntent>()
  const contested = new Map<string, { readonly winner: EgressIPIntent; readonly loser: EgressIPIntent; readonly pods: string[] }>()
  for (const object of [...intent.objects, ...intent.foreign].sort(compareObjects)) {
    for (const pod of select(object)) {
      const winner = winners.get(pod)
      if (!winner) {
        winners.set(pod, object)
        continue
      }
      const key = JSON.stringify([winner.name, object.name])
      const found = contested.get(key) ?? { winner, loser: object, pods: [] }
      found.pods.push(`${pod.namespace}/${pod.name}`)
      contested.set(key, found)
    }
  }
  const ours = new Set(intent.objects)
  return [...contested.values()].flatMap(({ winner, loser, pods }) => {
    const subject = ours.has(loser) ? loser : winner
    if (!ours.has(subject)) return []
    const [first] = pods.sort()
    const which = pods.length === 1 ? `The pod ${first} is` : `${pods.length} pods, such as ${first}, are`
    const message = `${which} selected by both ${winner.name} and ${loser.name}; ${winner.name} decides the address.`
    return [problem('OverlappingSelection', { object: subject.name, message, source: subject.source.at(['spec', 'namespaceSelector']) })]
  })
}

/** An address that lies in several networks of its node, of which the primary one, else the longest, hosts it. */
function overlappingNetworks(field: Field, { claim, index }: Placed): readonly Problem[] {
  const node = field.nodes[index] as ClusterNode
  const hosting = claim.hostings[index]
  if (!hosting || cloudOf(node, field.facts)) return []
  const single = (prefix: Prefix) => prefix.length === (prefix.address.family === 4 ? 32 : 128)
  const networks = [...node.primary, ...node.hostPrefixes].filter((prefix) => contains(prefix, claim.address) && !single(prefix))
  const [chosen, ...others] = [...new Set([hosting.network, ...networks].map((prefix) => printPrefix(networkOf(prefix))))]
  if (others.length === 0) return []
  const message = `${claim.address.text} of ${claim.object.name} lies in ${others.sort().join(' and ')} of ${node.name} too; ${chosen} (${hosting.type}) hosts it.`
  return [problem('OverlappingNetworks', { object: claim.object.name, message, source: claim.source })]
}

/** Secondary networks serve pods of the default network alone (upstream has no path from a user-defined network to them). */
function unsupportedNetwork({ topology }: Inputs, { claim, index }: Placed): readonly Problem[] {
  if (claim.hostings[index]?.type !== 'secondary') return []
  const { name, namespaceSelector } = claim.object
  const namespaces = topology.namespaces.filter(({ labels }) => PRIMARY_NETWORK_LABEL in labels && matches(namespaceSelector, labels))
  if (namespaces.length === 0) return []
  const [first] = namespaces.map((namespace) => namespace.name).sort()
  const message = `${claim.address.text} of ${name} is on a secondary network, which pods of a primary user-defined network, as in namespace ${first}, do not use.`
  return [problem('UnsupportedNetwork', { object: name, message, source: claim.source })]
}

/** One hint for the whole placement: the two nodes that differ most and between which an address could move. */
function imbalance(field: Field, placed: readonly Placed[], held: readonly Held[]): readonly Problem[] {
  const load = held.map(({ ipv4, ipv6 }) => ipv4 + ipv6)
  const on = new Set(placed.map(({ claim, index }) => `${index} ${claim.object.name}`))
  const moves = placed.flatMap(({ claim, index }) =>
    claim.exclusions.flatMap((exclusion, to) => {
      const gap = (load[index] as number) - (load[to] as number)
      if (exclusion !== null || gap < 2 || on.has(`${to} ${claim.object.name}`)) return []
      const full = isFull(field.capacity[to] as Capacity, held[to] as Held, claim.address.family)
      return full ? [] : [{ from: index, to, gap }]
    }),
  )
  const [best] = moves.sort((a, b) => b.gap - a.gap || a.from - b.from || a.to - b.to)
  if (!best) return []
  const [from, to] = [best.from, best.to].map((index) => `${field.nodes[index]?.name} holds ${load[index]}`)
  return [problem('Imbalance', { message: `${from} egress IPs and ${to}, although addresses could move from one to the other.` })]
}
