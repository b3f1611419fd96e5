import type { Address } from '../model/address.js'
import type { Inputs } from '../model/inputs.js'
import type { EgressIPIntent } from '../model/intent.js'
import { ageOf, compareObjects } from '../model/precedence.js'
import type { ClusterNode } from '../model/topology.js'

export { compareObjects } from '../model/precedence.js'

export interface AddressOwners {
  /** Why another object has the better right to an address, as the end of the sentence "192.0.2.5 of eip-a …"; null when none has. */
  rivalOf(object: EgressIPIntent, address: Address): string | null
  /** Which hosts have the address as their own, as the end of the same sentence; null when none has. */
  conflictOf(address: Address): string | null
  /** Name of the object with the best right to an address (RFC 5952), if any asks for it. */
  ownerOf(text: string): string | undefined
}

type Named = Pick<EgressIPIntent, 'name' | 'created'>

interface Contender {
  readonly object: Named
  readonly node: string | null
}

/**
 * Who has the best right to each address: the object whose current assignment names it (whatever the node), then the older
 * one, then the one first by name. EgressIPs that only the topology has take part with what they ask for and what they hold,
 * those that are left out as invalid with what they hold: a slip in one file must not hand its addresses to another object.
 * A host's own address is one of its host-cidrs, its node-primary-ifaddr or its InternalIPs, unless that node holds it as an
 * egress IP: by its annotations, or because an object's assignment names that node.
 */
export function addressOwners({ intent, topology, current }: Inputs): AddressOwners {
  const contenders = new Map<string, Contender[]>()
  const holders = new Map<string, Set<string>>()
  const add = (map: Map<string, Set<string>>, text: string, node: string) => map.set(text, (map.get(text) ?? new Set()).add(node))
  const hold = (held: ReadonlyMap<string, string>) => {
    for (const [text, node] of held) add(holders, text, node)
  }
  const contend = (object: Named, texts: Iterable<string>, held: ReadonlyMap<string, string> | undefined) => {
    for (const text of new Set(texts)) {
      const list = contenders.get(text) ?? []
      list.push({ object, node: held?.get(text) ?? null })
      contenders.set(text, list)
    }
    if (held) hold(held)
  }
  const asked = (object: EgressIPIntent) => object.addresses.flatMap(({ address }) => (address ? [address.text] : []))
  for (const object of intent.objects) contend(object, asked(object), current.get(object.name))
  for (const { status } of [...intent.objects, ...intent.foreign]) hold(status)
  for (const { name, texts } of intent.invalid) {
    const held = current.get(name)
    contend(
      { name, created: null },
      texts.filter((text) => held?.has(text)),
      held,
    )
  }
  for (const object of intent.foreign) contend(object, [...asked(object), ...object.status.keys()], object.status)
  for (const { egressIP, node } of intent.removed) add(holders, egressIP, node)

  const best = new Map<string, Contender>()
  for (const [text, list] of contenders) best.set(text, list.sort(byRight)[0] as Contender)
  const hosts = hostsOf(topology.nodes, holders)
  return {
    ownerOf: (text) => best.get(text)?.object.name,
    rivalOf(object, { text }) {
      const rival = best.get(text)
      if (!rival || rival.object.name === object.name) return null
      if (rival.node !== null) return `belongs to ${rival.object.name}, which holds it on ${rival.node}`
      const why = ageOf(rival.object) < ageOf(object) ? 'is older' : 'comes first by name'
      return `belongs to ${rival.object.name}, which asks for it too and ${why}`
    },
    conflictOf({ text }) {
      const names = hosts.get(text)
      return names
        ? `is an address of the host ${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`
        : null
    },
  }
}

function byRight(a: Contender, b: Contender): number {
  return Number(a.node === null) - Number(b.node === null) || compareObjects(a.object, b.object)
}

/** Address to the nodes, sorted, whose own it is. */
function hostsOf(nodes: readonly ClusterNode[], holders: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>()
  for (const node of [...nodes].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const own = [...node.hostPrefixes, ...node.primary].map((prefix) => prefix.address)
    for (const text of new Set([...own, ...node.internalIPs].map((address) => address.text))) {
      if (holders.get(text)?.has(node.name) || node.heldEgressIPs.some((held) => held.text === text)) continue
      hosts.set(text, [...(hosts.get(text) ?? []), node.name])
    }
  }
  return hosts
}
