import { parseAddress } from '../model/address.js'
import type { Assignment, Placement, PlacementOptions, Unassigned } from '../model/assignment.js'
import type { EgressIPIntent } from '../model/egressip.js'
import type { Inputs } from '../model/inputs.js'
import { NODE_REASONS } from '../model/node-reason.js'
import { selectionOf } from '../model/selection.js'
import type { ClusterPod } from '../model/topology.js'
import type { NodeLoad, Verdicts } from '../model/verdict.js'
import { type Bundles, entriesOfAddress } from './entries.js'
import { canUse, type Deciding, podReference } from './explain-pod.js'
import type { Candidate, ExcludedNode, ExplainedAddress } from './explanation.js'
import { counted, few } from './style.js'

/** What an explanation is drawn from: the outcome of a run, and the verdicts on its placement. */
export interface ExplainSubject {
  readonly inputs: Inputs
  readonly placement: Placement
  readonly options: PlacementOptions
  readonly verdicts: Verdicts
  /** Node to the files that its host will agree with. */
  readonly after: Bundles
}

type About = Pick<
  ExplainedAddress,
  'egressIP' | 'object' | 'node' | 'network' | 'networkType' | 'change' | 'from' | 'certain' | 'why' | 'candidates' | 'excluded'
>

type Why = ExplainedAddress['why']

/** The addresses of the placement that `wanted` picks, in its order: those on nodes, the refused ones, then those of EgressIPs that only the cluster has. */
export function explainAddresses(
  subject: ExplainSubject,
  deciders: Deciding,
  wanted: (object: string, egressIP: string) => boolean,
): readonly ExplainedAddress[] {
  const { inputs, placement } = subject
  const objects = new Map([...inputs.intent.objects, ...inputs.intent.foreign, ...inputs.intent.gone].map((one) => [one.name, one]))
  const users = usersOf(inputs, deciders)
  const picked = ({ object, egressIP }: { readonly object: string; readonly egressIP: string }) => wanted(object, egressIP)
  const abouts = [
    ...placement.assignments.filter(picked).map((one) => aboutAssigned(subject, one, objects.get(one.object))),
    ...placement.unassigned.filter(picked).map((one) => aboutRefused(subject, one, objects.get(one.object))),
    ...inputs.intent.foreign.flatMap(({ name }) => aboutForeign(name, deciders).filter(picked)),
  ]
  return abouts.map((about) => {
    const object = objects.get(about.object)
    const others = object?.addresses.flatMap(({ address }) => (address && address.text !== about.egressIP ? [address.text] : [])) ?? []
    return { ...about, ...users(object, about), entries: entriesOfAddress(subject.after, about.object, about.egressIP, others) }
  })
}

function aboutAssigned(subject: ExplainSubject, one: Assignment, object: EgressIPIntent | undefined): About {
  const { egressIP, node, network, networkType, change, from, certain } = one
  const nodes = node === null || !object ? NO_SAY : judge(subject.verdicts, object, egressIP, node)
  const why = whyThere(subject, one, object, nodes)
  return { egressIP, object: one.object, node, network, networkType, change, from, certain, why, ...nodes }
}

function aboutRefused({ verdicts }: ExplainSubject, one: Unassigned, object: EgressIPIntent | undefined): About {
  const { egressIP, from, reason, message } = one
  const nodesDecide = Object.keys(one.reasons).length > 0 && object !== undefined
  const nodes = nodesDecide ? judge(verdicts, object, egressIP, null) : NO_SAY
  const why = { code: reason, message: sentence(message) }
  return {
    egressIP,
    object: one.object,
    node: null,
    network: null,
    networkType: null,
    change: 'refuse',
    from,
    certain: true,
    why,
    ...nodes,
  }
}

function aboutForeign(object: string, { liveOf }: Deciding): readonly About[] {
  const message = `${object} is in the cluster and not in the intent; its status names the node, and nothing here changes it`
  const why = { code: 'NotOurs', message } as const
  return liveOf(object).map(({ address, node, network, networkType }) => {
    const where = { egressIP: address.text, object, node, network, networkType, from: null }
    return { ...where, change: 'keep', certain: true, why, ...NO_SAY }
  })
}

const sentence = (message: string): string => message.replace(/\.$/, '')

interface Judged {
  readonly candidates: readonly Candidate[]
  readonly excluded: readonly ExcludedNode[]
}

const NO_SAY: Judged = { candidates: [], excluded: [] }

/** Every node but the one that has the address. */
function judge({ nodes, on }: Verdicts, object: EgressIPIntent, egressIP: string, home: string | null): Judged {
  const address = parseAddress(egressIP)
  if (!address) return NO_SAY
  const candidates: Candidate[] = []
  const excluded: ExcludedNode[] = []
  for (const [index, load] of nodes.entries()) {
    const { name } = load.node
    if (name === home) continue
    const { reason } = on(object, address, index)
    if (reason) excluded.push({ node: name, reason })
    else candidates.push({ node: name, addresses: total(load) })
  }
  candidates.sort((a, b) => a.addresses - b.addresses || (a.node < b.node ? -1 : 1))
  return { candidates, excluded }
}

const total = ({ ipv4, ipv6 }: NodeLoad): number => ipv4 + ipv6

/** The rule that put an address on its node. */
function whyThere(subject: ExplainSubject, one: Assignment, object: EgressIPIntent | undefined, judged: Judged): Why {
  const { nodes, on } = subject.verdicts
  if (one.change === 'remove') return { code: 'NotAskedFor', message: `${one.object} does not ask for it any more` }
  const index = nodes.findIndex(({ node }) => node.name === one.node)
  const home = nodes[index]
  if (one.change === 'keep') {
    if (home?.standing === 'Draining')
      return { code: 'DrainIncomplete', message: `${one.node} is being drained, but no other node takes it, so it stays` }
    const address = parseAddress(one.egressIP)
    const over = address && object && home && on(object, address, index).reason === 'CapacityExhausted'
    const full = over ? `; ${one.node} holds more than its capacity, but that takes nothing from it` : ''
    return { code: 'Kept', message: `${one.node} has it already, and an assignment that is valid never moves${full}` }
  }
  const left = one.change === 'move' ? `it leaves ${one.from}${whyLeft(subject, one, judged)}; ` : ''
  const why = whyChosen(home ? total(home) - 1 : 0, String(one.node), judged)
  return { ...why, message: left + why.message }
}

function whyChosen(beside: number, node: string, { candidates, excluded }: Judged): Why {
  const crowded = excluded.filter(({ reason }) => reason === 'CapacityExhausted' || reason === 'HoldsSameObject').length
  const [least] = candidates
  if (!least) {
    const others =
      crowded === 1 ? 'the only other node that may host it is full or holds' : `the ${crowded} others that may host it are full or hold`
    return crowded === 0
      ? { code: 'OnlyCandidate', message: `${node} is the only node that may host it` }
      : { code: 'OnlyRoom', message: `${node} has room, and ${others} another address of the object` }
  }
  const one = candidates.length === 1
  if (beside < least.addresses) {
    const others = one ? `the other candidate ${least.addresses}` : `the ${candidates.length} other candidates ${least.addresses} or more`
    return { code: 'LeastLoaded', message: `${node} holds the fewest egress IPs: ${beside} beside it, ${others}` }
  }
  const equals = candidates.filter(({ addresses }) => addresses === beside).map((candidate) => candidate.node)
  if (beside === least.addresses && equals.every((other) => node < other)) {
    const load = beside === 0 ? 'no other egress IP' : `${counted(beside, 'egress IP')} beside it`
    return { code: 'FirstByName', message: `${node} holds ${load}, as few as ${few(equals)}, and is the first of them by name` }
  }
  return {
    code: 'WholePlacement',
    message: `all addresses are placed together: as many as possible, as evenly as possible, then in the order of names; this one alone could as well be on ${least.node}`,
  }
}

function whyLeft({ inputs, options }: ExplainSubject, { from, egressIP, object }: Assignment, { candidates, excluded }: Judged): string {
  if (!inputs.topology.nodes.some(({ name }) => name === from)) return ', which the cluster does not have'
  const reason = excluded.find(({ node }) => node === from)?.reason
  if (reason) return `, which ${NODE_REASONS[reason].one.replace('contains it', `contains ${egressIP}`).replace('the object', object)}`
  return options.rebalance !== null && candidates.some(({ node }) => node === from)
    ? ' for balance (--rebalance)'
    : ', where it is not valid'
}

/** The pods that an address speaks for: those whose deciding object has it, and a family of it. */
function usersOf(inputs: Inputs, { objectsOf }: Deciding) {
  const select = selectionOf(inputs.topology)
  const decided = new Map<string, readonly ClusterPod[]>()
  const podsOf = (object: EgressIPIntent): readonly ClusterPod[] => {
    const pods = decided.get(object.name) ?? select(object).filter((pod) => objectsOf(pod)[0] === object)
    decided.set(object.name, pods)
    return pods
  }
  return (object: EgressIPIntent | undefined, { egressIP, node, networkType }: About): Pick<ExplainedAddress, 'pods' | 'unsupported'> => {
    const address = parseAddress(egressIP)
    if (!object || !address || node === null) return { pods: [], unsupported: [] }
    const spoken = podsOf(object).filter((pod) => pod.addresses.some(({ family }) => family === address.family))
    const named = (pods: readonly ClusterPod[]) => pods.map(podReference).sort((a, b) => (a.pod < b.pod ? -1 : 1))
    return {
      pods: named(spoken.filter((pod) => canUse(pod, { address, networkType }))),
      unsupported: named(spoken.filter((pod) => !canUse(pod, { address, networkType }))),
    }
  }
}
