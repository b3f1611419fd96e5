import { parseAddress } from '../model/address.js'
import { unreachableNodes } from '../model/probe.js'
import { entriesOfNode } from './entries.js'
import type { ExplainSubject } from './explain-address.js'
import type { Deciding } from './explain-pod.js'
import type { ExplainedNode, HeldByNode, LeftByNode, ProbedNode } from './explanation.js'
import { probeSet } from './probes.js'

/** What a node holds at the end of the plan, what leaves it, and what it may not host. Null where there is no node of the name. */
export function explainNode(subject: ExplainSubject, deciders: Deciding, name: string): ExplainedNode | null {
  const { inputs, options, verdicts } = subject
  const index = verdicts.nodes.findIndex(({ node }) => node.name === name)
  const load = verdicts.nodes[index]
  if (!load) return null
  const { node, ipv4, ipv6, capacity } = load
  return {
    name,
    ready: node.ready,
    invalid: node.invalid,
    unreachable: unreachableNodes(inputs, options.down).get(name) ?? null,
    draining: options.drain.includes(name),
    load: { ipv4, ipv6 },
    capacity,
    holds: heldBy(subject, deciders, name),
    leaving: leftBy(subject, name),
    ...chancesOf(subject, name, index),
    probe: probeSet(inputs).nodes[index] as ProbedNode,
    entries: entriesOfNode(subject.after, name),
  }
}

function heldBy({ inputs, placement }: ExplainSubject, { liveOf }: Deciding, name: string): readonly HeldByNode[] {
  const ours = placement.assignments
    .filter(({ node }) => node === name)
    .map(({ egressIP, object, network, networkType, change }) => ({ egressIP, object, network, networkType, change }))
  const foreign = inputs.intent.foreign.flatMap((object) =>
    liveOf(object.name)
      .filter(({ node }) => node === name)
      .map(({ address, network, networkType }) => ({ egressIP: address.text, object: object.name, network, networkType, change: null })),
  )
  return [...ours, ...foreign]
}

function leftBy({ placement }: ExplainSubject, name: string): readonly LeftByNode[] {
  const moved = placement.assignments
    .filter(({ from, node }) => from === name && node !== name)
    .map(({ egressIP, object, node }) => ({ egressIP, object, to: node }))
  const lost = placement.unassigned.filter(({ from }) => from === name).map(({ egressIP, object }) => ({ egressIP, object, to: null }))
  return [...moved, ...lost]
}

/** How many further addresses of the intent the node could host, and the first rule that excludes it from each of the others. */
function chancesOf({ inputs, placement, verdicts }: ExplainSubject, name: string, index: number): Pick<ExplainedNode, 'open' | 'excluded'> {
  const here = new Set(
    placement.assignments.filter(({ node }) => node === name).map(({ object, egressIP }) => JSON.stringify([object, egressIP])),
  )
  const excluded: ExplainedNode['excluded'][number][] = []
  let open = 0
  for (const object of [...inputs.intent.objects].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const texts = new Set(object.addresses.flatMap(({ address }) => address?.text ?? []))
    for (const egressIP of texts) {
      const address = parseAddress(egressIP)
      if (!address || here.has(JSON.stringify([object.name, egressIP]))) continue
      const { reason } = verdicts.on(object, address, index)
      if (reason === 'SelectorMismatch') {
        excluded.push({ object: object.name, egressIP: null, reason })
        break
      }
      if (reason) excluded.push({ object: object.name, egressIP, reason })
      else open++
    }
  }
  return { open, excluded }
}
