import type { Departure, ExplainedAddress, ExplainedNode, ExplainedObject, ExplainedPod, PodReference, ProbeSet } from './explanation.js'
import { counted, few } from './style.js'

const podNames = (pods: readonly PodReference[]): string =>
  pods.length === 0 ? 'no pod' : `${counted(pods.length, 'pod')} (${few(pods.map(({ pod }) => pod))})`

/** What a pod or a reader has to wait for before the answer is true. */
const pending = (changes: readonly ExplainedAddress['change'][]): string => (changes.includes('add') ? ', once the plan is applied' : '')

/** Who uses this address? */
export function answerIp(egressIP: string, addresses: readonly ExplainedAddress[]): string {
  const [first] = addresses
  const held = addresses.find(({ node }) => node !== null)
  if (held) {
    const more = addresses.length - 1
    const rivals = more > 0 ? `; ${counted(more, 'other object asks', 'other objects ask')} for it in vain` : ''
    const predicted = held.certain ? '' : ', as predicted'
    return `${egressIP} is used by ${podNames(held.pods)}, through ${held.object} on ${held.node}${pending([held.change])}${predicted}${rivals}.`
  }
  if (first?.change === 'remove')
    return `${egressIP} is used by no pod: ${first.object} does not ask for it any more, and it leaves ${first.from}.`
  return `${egressIP} is used by no pod: it is on no node (${first?.object}: ${first?.why.code}).`
}

const FAMILY = { 4: 'IPv4', 6: 'IPv6' } as const

/** Which address does this pod use? */
export function answerPod({ pod, departures, object, notSelected, node }: ExplainedPod): string {
  if (notSelected && departures.length === 0) {
    const host =
      notSelected.code === 'HostNetwork' ? ` leaves with the address of its node${node === null ? '' : ` ${node}`}` : ' uses no egress IP'
    return `${pod}${host}: ${notSelected.message}.`
  }
  const several = departures.length > 1
  const parts = departures.map((one) => `${leaving(one, node)}${several ? ` over ${FAMILY[one.family]}` : ''}`)
  const why = notSelected ? `: ${notSelected.message}` : `, through ${object}`
  const wait = pending(departures.flatMap(({ egressIPs }) => egressIPs.map(({ change }) => change)))
  return `${pod} leaves with ${parts.join(' and ')}${why}${wait}.`
}

function leaving({ egressIPs, nodeAddress }: Departure, node: string | null): string {
  if (egressIPs.length > 0) return egressIPs.map(({ egressIP }) => egressIP).join(' or ')
  const where = node === null ? 'its node' : `its node ${node}`
  return nodeAddress === null ? `an address of ${where}` : `${nodeAddress} (the address of ${where})`
}

export function answerNode({ name, holds, load }: ExplainedNode): string {
  const total = load.ipv4 + load.ipv6
  const list = holds.map(({ egressIP, object }) => `${egressIP} of ${object}`)
  return `${name} holds ${total === 0 ? 'no egress IP' : `${counted(total, 'egress IP')}: ${few(list, 4)}`}.`
}

export function answerObject({ name, origin, pods }: ExplainedObject, addresses: readonly ExplainedAddress[]): string {
  if (origin === 'invalid') return `${name} is left out, because it is invalid: none of its addresses is placed.`
  if (origin === 'gone') return `${name} is being removed: the intent does not have it any more.`
  const placed = addresses.flatMap(({ egressIP, node }) => (node === null ? [] : [`${egressIP} on ${node}`]))
  const where = placed.length === 0 ? 'no address on a node' : few(placed, 4)
  const refused = addresses.filter(({ change }) => change === 'refuse').length
  const rest = refused > 0 ? ` (${refused} refused)` : ''
  return `${name} has ${where}${rest}; ${pods.length === 1 ? '1 pod uses it' : `${pods.length} pods use it`}${pending(addresses.map(({ change }) => change))}.`
}

export function answerProbes({ nodes, timeout, everything }: ProbeSet): string {
  if (timeout === 0) return 'No node is probed: the reachability check is off (reachabilityTotalTimeoutSeconds is 0).'
  const probed = nodes.filter((node) => node.probed)
  const whole = everything.length > 0 ? `, the whole cluster, because egressNodeSelector of ${few(everything)} is empty` : ''
  return `${probed.length} of ${counted(nodes.length, 'node')} ${probed.length === 1 ? 'is' : 'are'} probed${whole}.`
}
