import { type Address, isGlobalUnicast, type Prefix, printPrefix } from '../model/address.js'
import type { Hosting, NodeReason } from '../model/assignment.js'
import { hostingNetworks } from '../model/hosting.js'
import { labelIndex } from '../model/label-index.js'
import { prefixIndex } from '../model/prefix-index.js'
import type { LabelSelector } from '../model/selector.js'
import { exclusionOf, type Field } from './eligibility.js'
import { inPool, type Pool, poolOf } from './network.js'

/** What the nodes are to all addresses that have one selector and lie in the same networks. */
export interface Candidates {
  /** The nodes that may host the address. */
  readonly pool: Pool
  /** The first rule that excludes a node, whatever the nodes hold; null where none does. */
  exclusionOn(node: number): NodeReason | null
  readonly hosts: Hosts
}

/** The nodes that have a network for an address. */
interface Hosts {
  /** Node, ascending, to its hosting network. */
  readonly on: ReadonlyMap<number, Hosting>
  /** The networks, each once. */
  readonly networks: readonly Hosting[]
}

/**
 * Who may host what. Addresses with the same selector that lie in the same networks share one answer, so that thousands of
 * addresses on thousands of nodes need a few walks over the nodes only.
 */
export function candidatesOf(field: Field): (selector: LabelSelector, address: Address) => Candidates {
  const hostsOf = hostsByNetworks(field)
  const matchingOf = labelIndex(field.nodes.map(({ labels }, index) => ({ labels, index })))
  const bySelector = new Map<string, { readonly matching: Pool; readonly byHosts: Map<Hosts, Candidates> }>()
  return (selector, address) => {
    const key = JSON.stringify(selector)
    let entry = bySelector.get(key)
    if (!entry) {
      entry = {
        matching: poolOf(
          matchingOf(selector).map(({ index }) => index),
          field.nodes.length,
        ),
        byHosts: new Map(),
      }
      bySelector.set(key, entry)
    }
    const { matching, byHosts } = entry
    const hosts = hostsOf(address)
    const known = byHosts.get(hosts)
    if (known) return known
    const exclusionOn = (node: number) => exclusionOf(field, node, inPool(matching, node), hosts.on.get(node) ?? null)
    const pool = poolOf(
      [...hosts.on.keys()].filter((node) => exclusionOn(node) === null),
      field.nodes.length,
    )
    const candidates = { pool, exclusionOn, hosts }
    byHosts.set(hosts, candidates)
    return candidates
  }
}

/** The hosts of an address: the same object for all addresses that lie in the same networks. */
function hostsByNetworks({ nodes, facts }: Field): (address: Address) => Hosts {
  const networks = nodes.map((node) => hostingNetworks(node, facts))
  const owners = new Map<string, { readonly network: Prefix; readonly nodes: number[] }>()
  for (const [node, list] of networks.entries()) {
    for (const { network } of list) {
      const key = printPrefix(network)
      const owner = owners.get(key)
      if (owner) owner.nodes.push(node)
      else owners.set(key, { network, nodes: [node] })
    }
  }
  const index = prefixIndex([...owners].map(([key, { network }]) => [network, key] as const))
  const known = new Map<string, Hosts>()
  return (address) => {
    const keys = isGlobalUnicast(address) ? index.containing(address) : []
    const name = keys.join(' ')
    const found = known.get(name)
    if (found) return found
    const containing = new Set(keys)
    const candidates = [...new Set(keys.flatMap((key) => owners.get(key)?.nodes ?? []))].sort((a, b) => a - b)
    const on = new Map(
      candidates.flatMap((node) => {
        const hosting = networks[node]?.find(({ network }) => containing.has(printPrefix(network)))
        return hosting ? [[node, hosting] as const] : []
      }),
    )
    const distinct = new Map([...on.values()].map((hosting) => [printPrefix(hosting.network), hosting]))
    const hosts = { on, networks: [...distinct.values()] }
    known.set(name, hosts)
    return hosts
  }
}
