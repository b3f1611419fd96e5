import type { ExternalBridge } from '../model/node-state.js'
import { type Problem, problem } from '../model/problem.js'
import type { UserDefinedNetwork } from '../model/topology.js'

/**
 * The primary user-defined networks that can be told apart, sorted by name, and the others, with a problem each: such a one has no id, or
 * one that another network has too. The id tells whose reply a packet is, so those that share one would get each other's.
 */
export function knownNetworks(networks: readonly UserDefinedNetwork[]): {
  readonly networks: readonly UserDefinedNetwork[]
  readonly closed: ExternalBridge['closed']
  readonly problems: readonly Problem[]
} {
  const primary = networks.filter(({ role }) => role === 'Primary').sort((a, b) => (a.network < b.network ? -1 : 1))
  const count = new Map<number | null, number>()
  for (const { id } of primary) count.set(id, (count.get(id) ?? 0) + 1)
  const isKnown = ({ id }: UserDefinedNetwork) => id !== null && count.get(id) === 1
  return {
    networks: primary.filter(isKnown),
    closed: primary.filter((network) => !isKnown(network)).map(({ network, for: origin }) => ({ name: network, for: origin })),
    problems: primary.flatMap((network) => {
      if (network.id === null) return unknownId(network)
      const others = count.get(network.id) === 1 ? [] : primary.filter((other) => other !== network && other.id === network.id)
      return others.length > 0 ? sharedId(network, others) : []
    }),
  }
}

const unknownId = ({ network, for: object, source }: UserDefinedNetwork): Problem =>
  problem('UnknownNetworkId', {
    object,
    source,
    message: `The id of network ${network} is in no input (0 is that of the default network), so its ports are closed and the nodes get no neighbor for its masquerade address.`,
  })

const sharedId = ({ network, for: object, id, source }: UserDefinedNetwork, others: readonly UserDefinedNetwork[]): Problem =>
  problem('DuplicateNetworkId', {
    object,
    source,
    message: `Network ${network} has the id ${id}, as ${others.map((other) => other.network).join(', ')} has, so its ports are closed and the nodes get no neighbor for its masquerade address.`,
  })
