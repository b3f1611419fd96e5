import { join } from 'node:path'
import { type Report, type Request, run } from '../../src/agent/run.js'
import { clusterNode, NAMESPACE, render, SECOND_CARD, type Wanted } from './inputs.js'
import { entering, type Namespace } from './netns.js'
import { CARD, CLIENT, type LabNode } from './network.js'
import { SERVER, type SecondaryLab } from './secondary.js'
import { countSources, type Watch, watchSent } from './sources.js'
import { visit } from './traffic.js'

/** The nodes of the tests with a secondary network; both host it. */
export const HOSTS = [clusterNode('node-a', 11), clusterNode('node-b', 12)] as const

/** A pod of one family, the egress IP that it leaves with, and where it goes. */
export interface Way {
  readonly pod: string
  readonly source: string
  readonly egressIP: string
  /** Beyond the secondary network: only the table of the second card leads there. */
  readonly target: string
  /** On the primary network, as an address of a node is. */
  readonly node: string
}

/** One pod for each family: an EgressIP never has two addresses on one node, and a pod is selected by one. */
export const WAYS: readonly Way[] = [
  { pod: 'web', source: '10.128.11.5', egressIP: '198.51.100.50', target: SERVER.far.ipv4, node: CLIENT.ipv4 },
  { pod: 'api', source: 'fd01:0:0:11::6', egressIP: '2001:db8:2::50', target: SERVER.far.ipv6, node: CLIENT.ipv6 },
]

export const PODS = WAYS.map(({ pod, source }) => ({ name: pod, node: 'node-a', addresses: [source] }))

/** The egress IPs of both pods on one node. */
export const leavingFrom = (node: string, mode: Wanted['mode'], over: Partial<Wanted> = {}): Wanted => ({
  nodes: HOSTS,
  mode,
  pods: PODS,
  egress: WAYS.map(({ pod, egressIP }) => ({ name: pod, addresses: [egressIP], node, namespace: NAMESPACE, app: pod })),
  ...over,
})

/** Renders into a folder of the lab; answers where the bundle of a node is. */
export function rendered(lab: SecondaryLab, name: string, wanted: Wanted): (node: LabNode) => string {
  const out = join(lab.dir, name)
  render(wanted, out)
  return (node) => join(out, 'nodes', node.name)
}

/** A run of the agent on a node, in this process. Throws, with what it says, unless it ends converged. */
export async function converge(node: LabNode, bundle: string, over: Partial<Request> = {}): Promise<Report> {
  const report = await run({
    command: 'apply',
    bundle,
    node: node.name,
    phase: 'steady',
    stateDir: node.stateDir,
    rundir: node.ovs.rundir,
    maxRemove: 100,
    allowOlder: true,
    exec: { prefix: ['nsenter', ...entering(node.namespace.name)] },
    ...over,
  })
  if (report.exitCode === 0) return report
  const said = [
    ...report.problems.map(({ code, message }) => `${code}: ${message}`),
    ...report.pending.map(({ key, reason }) => `${key}: ${reason}`),
  ]
  throw new Error(`the agent of ${node.name} ends with ${report.exitCode}\n${said.join('\n')}`)
}

/** The namespace of a way's pod. */
export function podOf(lab: SecondaryLab, { pod }: Way): Namespace {
  const namespace = lab.pods.get(pod)
  if (!namespace) throw new Error(`the lab has no pod ${pod}`)
  return namespace
}

/** What a station beyond the secondary network says to each pod, by protocol and address of the pod. */
export async function visits(lab: SecondaryLab): Promise<Readonly<Record<string, string>>> {
  const asked = WAYS.flatMap((way) =>
    (['tcp', 'udp', 'icmp'] as const).map(
      async (protocol) => [`${protocol} ${way.source}`, await visit(podOf(lab, way), protocol, way.source, way.target)] as const,
    ),
  )
  return Object.fromEntries(await Promise.all(asked))
}

/** What `visits` answers when every packet leaves with its egress IP. */
export const ANSWERS = Object.fromEntries(
  WAYS.flatMap(({ source, egressIP }) => [
    [`tcp ${source}`, egressIP],
    [`udp ${source}`, egressIP],
    [`icmp ${source}`, 'answered'],
  ]),
)

/** How many packets left the two network cards of a node, by source. */
export interface Left {
  readonly primary: Readonly<Record<string, number>>
  readonly secondary: Readonly<Record<string, number>>
}

/** Watches both network cards of a node until it is stopped. */
export async function watchCards(lab: SecondaryLab, node: LabNode, name: string): Promise<{ stop(): Promise<Left> }> {
  const watch = (card: string): Promise<Watch> => watchSent(node.namespace, card, join(lab.dir, `${name}-${node.name}-${card}.pcap`))
  const [primary, secondary] = await Promise.all([watch(CARD), watch(SECOND_CARD)])
  return {
    stop: async () => {
      const [first, second] = await Promise.all([primary.stop(), secondary.stop()])
      return { primary: countSources(first), secondary: countSources(second) }
    },
  }
}
