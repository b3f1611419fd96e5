import { networkOf, type Prefix, parsePrefix, printPrefix } from '../model/address.js'
import type { HostFacts, HostInterfaceAddress } from '../model/host-facts.js'
import type { Path } from '../model/json.js'
import { type Position, type Problem, problem } from '../model/problem.js'
import type { Needs, Say, UsedInterface } from './needs.js'
import { forwardingProblems } from './preflight-forwarding.js'
import { routingProblems } from './preflight-routing.js'
import { toolProblems } from './preflight-tools.js'
import { counted } from './style.js'

/** Share of gc_thresh3 from which the neighbor table counts as nearly full. */
const NEARLY_FULL = 0.8

/**
 * What keeps a host from doing what its node needs, each with what to do about it. An error means that pods would not get through, or that
 * a second host could speak for an egress IP. `at` answers where a value of the facts stands; without it no problem has a place.
 */
export function preflight(needs: Needs, facts: HostFacts, at: (path: Path) => Position | null = () => null): readonly Problem[] {
  const say: Say = (code, { path, message, ...about }) =>
    problem(code, { ...about, object: `Node/${facts.node}`, message: `Node ${facts.node}: ${message}.`, source: at(['spec', ...path]) })
  const found = needs.networks.map((one) => interfaceOf(one, facts, say))
  const used = found.flatMap(({ used: one }) => one ?? [])
  return [
    ...found.flatMap(({ problems }) => problems),
    ...forwardingProblems(needs, used, facts, say),
    ...routingProblems(needs, used, facts, say),
    ...podProblems(needs, facts, say),
    ...configuredProblems(needs, facts, say),
    ...neighborProblems(facts, say),
    ...toolProblems(needs, facts, say),
  ]
}

/** The interface of a network: the one that is up and has an address in it that the host speaks with. */
function interfaceOf(
  { network, egressIPs }: Needs['networks'][number],
  { interfaces }: HostFacts,
  say: Say,
): { readonly used: UsedInterface | null; readonly problems: readonly Problem[] } {
  const name = printPrefix(networkOf(network))
  const waiting = `${counted(egressIPs.length, 'egress IP')} of ${name} (${egressIPs.map(({ text }) => text).join(', ')})`
  const within = interfaces.flatMap((link, index) => {
    const addresses = link.addresses.filter(({ address }) => sameNetwork(parsePrefix(address), network))
    return addresses.length > 0 ? [{ link, index, addresses }] : []
  })
  const usable = within.filter(({ addresses }) => addresses.some((address) => faultOf(address) === null))
  const up = usable.filter(({ link }) => link.up)
  const [first, second] = up
  const none = (problem: Problem) => ({ used: null, problems: [problem] })
  if (first && second) {
    return none(
      say('AmbiguousInterface', {
        message: `${up.map(({ link }) => link.name).join(' and ')} both have an address of ${name}, so it is not known which of them ${waiting} belong to`,
        remedy: `Leave the network on one interface, for example: ip address delete ${second.addresses[0]?.address} dev ${second.link.name}`,
        path: ['interfaces', second.index],
      }),
    )
  }
  if (first) return { used: { network, link: first.link }, problems: [] }
  const [down] = usable
  if (down) {
    return none(
      say('InterfaceNotReady', {
        message: `${down.link.name} is down, and ${waiting} wait for it`,
        remedy: `Set it up: ip link set ${down.link.name} up`,
        path: ['interfaces', down.index, 'up'],
      }),
    )
  }
  const [unusable] = within
  const [address] = unusable?.addresses ?? []
  const fault = address ? faultOf(address) : null
  if (unusable && address && fault) {
    return none(
      say('InterfaceNotReady', {
        message: `the address ${address.address} of ${unusable.link.name} does not say which network the interface is on, because ${fault.why}, and ${waiting} wait`,
        remedy: fault.remedy(unusable.link.name),
        path: ['interfaces', unusable.index, 'addresses'],
      }),
    )
  }
  return none(
    say('InterfaceMissing', {
      message: `no interface has an address of ${name}, and ${waiting} wait for one`,
      remedy: `Give the interface an address: ip address add ADDRESS/${network.length} dev DEVICE`,
      path: ['interfaces'],
    }),
  )
}

const sameNetwork = (prefix: Prefix | undefined, network: Prefix): boolean =>
  prefix !== undefined && printPrefix(networkOf(prefix)) === printPrefix(networkOf(network))

/** Why an address does not say which network an interface is on; null when it does. */
function faultOf({
  address,
  scope,
  label,
  secondary,
  deprecated,
}: HostInterfaceAddress): { readonly why: string; readonly remedy: (dev: string) => string } | null {
  const anew = (dev: string) => `ip address delete ${address} dev ${dev} && ip address add ${address} dev ${dev} scope global`
  if (scope !== 'global') return { why: `its scope is ${scope}`, remedy: (dev) => `Give it scope global: ${anew(dev)}` }
  if (label?.endsWith('vip'))
    return { why: `its label ${label} is that of a virtual address`, remedy: (dev) => `Give it another label: ${anew(dev)}` }
  if (secondary)
    return {
      why: 'it is the second of its network',
      remedy: (dev) => `Make an address of the network the first of ${dev}: see ip address show dev ${dev}`,
    }
  if (deprecated)
    return {
      why: 'it is deprecated',
      remedy: (dev) => `Let it be preferred: ip address change ${address} dev ${dev} preferred_lft forever`,
    }
  return null
}

/** A pod with an address of the host would take the host's own packets along to another interface: it is a pod of the host network. */
const podProblems = ({ pods }: Needs, { interfaces }: HostFacts, say: Say): readonly Problem[] =>
  interfaces.flatMap(({ name, addresses }, index) =>
    addresses.flatMap(({ address }) => {
      const text = address.split('/')[0]
      if (!pods.some((pod) => pod.text === text)) return []
      const message = `${text} is to be routed as a pod with an egress IP, but it is an address of ${name}, so what the host itself sends would go the same way`
      const remedy = 'Correct the topology: a pod of the host network has no egress IP.'
      return [say('NodeAddress', { message, remedy, path: ['interfaces', index, 'addresses'] })]
    }),
  )

/** An egress IP that the host gives itself would be on it at the next start, whichever node holds it then. */
const configuredProblems = ({ egressIPs }: Needs, { configuredAddresses }: HostFacts, say: Say): readonly Problem[] =>
  configuredAddresses.flatMap(({ address, file }, index) =>
    egressIPs.some(({ text }) => text === address)
      ? [
          say('ConfiguredEgressIP', {
            message: `the configuration file ${file} gives the egress IP ${address} to an interface, also when another node holds it`,
            remedy: `Remove ${address} from ${file}; egretta adds it to the interface while the node holds it.`,
            path: ['configuredAddresses', index],
          }),
        ]
      : [],
  )

function neighborProblems({ neighbors, sysctls }: HostFacts, say: Say): readonly Problem[] {
  return (['ipv4', 'ipv6'] as const).flatMap((family) => {
    const name = `net.${family}.neigh.default.gc_thresh3`
    const most = sysctls[name]
    const now = neighbors[family]
    if (most === undefined || now < most * NEARLY_FULL) return []
    return [
      say('NeighborTableFull', {
        message: `the kernel knows ${now} neighbors over ${family === 'ipv4' ? 'IPv4' : 'IPv6'} and takes at most ${most}; beyond that packets to new ones are dropped`,
        remedy: `Allow more: sysctl -w ${name}=${Math.max(8192, most * 4)}`,
        path: ['neighbors', family],
      }),
    ]
  })
}
