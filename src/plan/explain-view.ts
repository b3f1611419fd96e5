import type { NodeReason } from '../model/assignment.js'
import { NODE_REASONS } from '../model/node-reason.js'
import type {
  Departure,
  EntryReference,
  ExplainedAddress,
  ExplainedNode,
  ExplainedObject,
  ExplainedPod,
  Explanation,
  ProbedNode,
  ProbeSet,
} from './explanation.js'
import type { Style } from './style.js'
import { columns, counted, few, paint, wrap } from './style.js'
import { viewProblems } from './view.js'

/** More nodes, pods or entries than these are counted, not listed; `-o json` has them all. */
const LISTED = { nodes: 8, pods: 12, entries: 24 }

/** An explanation as a person reads it. The first line is the answer. */
export function viewExplanation(explanation: Explanation, style: Style): string {
  const { answer, addresses, object, pod, node, probes, problems } = explanation
  const objectLines = object ? viewObject(object, style) : []
  const sections = [
    wrap(style, '', answer).map((line) => paint(style, 'bold', line)),
    objectLines,
    ...(addresses ?? []).map((one) => viewAddress(one, object === undefined, explanation.placement === 'advisory', style)),
    object ? podLines(object.pods, style) : [],
    pod ? viewPod(pod, style) : [],
    ...(node ? viewNode(node, style) : []),
    ...(probes ? viewProbes(probes, style) : []),
    problems.length > 0
      ? [
          paint(style, 'bold', 'Problems:'),
          ...viewProblems(problems, style)
            .trimEnd()
            .split('\n')
            .map((line) => `  ${line}`),
        ]
      : [],
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

const CHANGES: Readonly<Record<ExplainedAddress['change'], string>> = {
  keep: 'stays',
  add: 'is new',
  move: 'moves',
  remove: 'goes',
  refuse: 'refused',
}

function viewAddress(one: ExplainedAddress, withPods: boolean, advisory: boolean, style: Style): readonly string[] {
  const { egressIP, object, node, network, networkType, change, from, why, certain } = one
  const where = node === null ? 'on no node' : `on ${node}`
  const hosting = network === null ? [] : [`${networkType} network ${network}`]
  const route = from === null ? [] : [`from ${from}`]
  const head = [egressIP, object, where, ...hosting, CHANGES[change], ...route, ...(certain ? [] : ['predicted'])]
  const none = advisory && change !== 'keep' ? 'none: where the cluster decides the placement, hosts are rendered from its status' : 'none'
  return [
    paint(style, 'bold', head.join('  ')),
    ...labelled(node === null ? 'why' : 'why there', `${why.message} (${why.code})`, style),
    ...elsewhereLines(one, style),
    ...(withPods ? podLines(one.pods, style).map((line) => `  ${line}`) : []),
    ...unsupportedLines(one, style),
    ...(node === null ? [] : entryLines(one.entries, none)),
  ]
}

const labelled = (label: string, text: string, style: Style): readonly string[] =>
  wrap(style, '    ', text).map((line, i) => (i === 0 ? `  ${label}: ${line.trimStart()}` : line))

function elsewhereLines({ candidates, excluded, node }: ExplainedAddress, style: Style): readonly string[] {
  const loads = candidates.slice(0, LISTED.nodes).map((one) => `${one.node} (holds ${one.addresses})`)
  const more = candidates.length > loads.length ? [`${candidates.length - loads.length} more`] : []
  const could = candidates.length === 0 ? [] : labelled('could also be on', [...loads, ...more].join(', '), style)
  if (excluded.length === 0) return could
  const title = `  ${node === null ? 'why on no node' : 'why not elsewhere'}:`
  if (excluded.length <= LISTED.nodes) {
    const rows = excluded.map((one) => [`    ${one.node}`, one.reason, NODE_REASONS[one.reason].one])
    return [...could, title, ...columns(rows)]
  }
  const rows = byReason(excluded.map((one) => ({ reason: one.reason, name: one.node }))).map(({ reason, names }) => [
    `    ${counted(names.length, 'node')}`,
    reason,
    `${NODE_REASONS[reason][names.length === 1 ? 'one' : 'many']}: ${few(names, 4)}`,
  ])
  return [...could, title, ...columns(rows)]
}

/** In the order of the rules. */
function byReason(excluded: readonly { readonly reason: NodeReason; readonly name: string }[]) {
  return (Object.keys(NODE_REASONS) as NodeReason[]).flatMap((reason) => {
    const names = [...new Set(excluded.filter((one) => one.reason === reason).map(({ name }) => name))]
    return names.length > 0 ? [{ reason, names }] : []
  })
}

function podLines(pods: readonly { readonly pod: string; readonly network: string }[], style: Style): readonly string[] {
  if (pods.length === 0) return ['pods: none']
  const rows = pods
    .slice(0, LISTED.pods)
    .map(({ pod, network }) => [`  ${pod}`, network === 'default' ? 'default network' : `network ${network}`])
  return ['pods:', ...columns(rows), ...rest(pods.length, rows.length, style)]
}

const rest = (all: number, listed: number, style: Style): readonly string[] =>
  all > listed ? [paint(style, 'dim', `  and ${all - listed} more; -o json lists them`)] : []

function unsupportedLines({ unsupported }: ExplainedAddress, style: Style): readonly string[] {
  if (unsupported.length === 0) return []
  const text = `${few(unsupported.map(({ pod }) => pod))}: on a user-defined network, which has no way to an address on a secondary network`
  return labelled('not used by', text, style)
}

function entryLines(entries: readonly EntryReference[], none: string): readonly string[] {
  if (entries.length === 0) return [`  entries: ${none}`]
  const rows = entries.slice(0, LISTED.entries).map(({ node, artefact, key }) => [`    ${node}`, artefact, key])
  const more = entries.length > rows.length ? [`    and ${entries.length - rows.length} more; -o json lists them`] : []
  return ['  entries:', ...columns(rows), ...more]
}

const ORIGINS = {
  intent: 'in the intent',
  foreign: 'in the cluster only; nothing here changes it',
  gone: 'in the cluster and the lock, not in the intent: it is being removed',
  invalid: 'invalid, so left out',
} as const

function viewObject(
  { origin, source, created, mark, nodeSelector, matchingNodes, overruled }: ExplainedObject,
  style: Style,
): readonly string[] {
  const others = overruled.map(({ pod, by }) => `${pod} (${by})`)
  return [
    `stands: ${ORIGINS[origin]}${source ? ` (${source.file}:${source.line}:${source.column})` : ''}`,
    ...(created === null ? [] : [`created: ${created}`]),
    ...(mark === null ? [] : [`mark: ${mark}`]),
    ...(nodeSelector === null ? [] : [`egressNodeSelector: ${nodeSelectorText(nodeSelector, counted(matchingNodes, 'node'))}`]),
    ...(others.length === 0 ? [] : wrap(style, '', `selects, but another object decides: ${few(others, 6)}; ${NO_GUARANTEE}`)),
  ]
}

const nodeSelectorText = (selector: string, nodes: string): string =>
  selector === '' ? `{} matches ${nodes}: the whole cluster is probed` : `${selector} matches ${nodes}`

const NO_GUARANTEE = 'the older object wins, then the first by name; OVN-Kubernetes itself guarantees neither'

function viewPod(pod: ExplainedPod, style: Style): readonly string[] {
  const network = pod.network === 'default' ? 'the default network' : `network ${pod.network}`
  const several = pod.departures.some(({ egressIPs }) => egressIPs.length > 1)
  return [
    `on ${pod.node ?? 'no node yet'}, ${network}${pod.phase === '' ? '' : `, ${pod.phase}`}`,
    ...columns(pod.departures.map((one) => departureRow(one, pod))),
    ...(several ? wrap(style, '', 'Each connection takes any of the addresses of its family.') : []),
    ...(pod.others.length > 0 ? wrap(style, '', `also selected by ${few(pod.others)}, in vain: ${NO_GUARANTEE}`) : []),
    ...(pod.notSelected ? wrap(style, '', `not selected: ${pod.notSelected.message} (${pod.notSelected.code})`) : []),
  ]
}

function departureRow({ address, egressIPs, nodeAddress }: Departure, { node, object }: ExplainedPod): readonly string[] {
  if (egressIPs.length > 0) return [`  ${address}`, '->', egressIPs.map((one) => `${one.egressIP} on ${one.node}`).join(', ')]
  const why = object === null ? '' : `: ${object} has no address of this family that it can use`
  return [`  ${address}`, '->', `${nodeAddress ?? 'the address'} of ${node ?? 'its node'}${why}`]
}

function viewNode(node: ExplainedNode, style: Style): readonly (readonly string[])[] {
  const { ready, unreachable, invalid, draining, load, capacity } = node
  const limits = [
    [capacity.ip, ''],
    [capacity.ipv4, ' IPv4'],
    [capacity.ipv6, ' IPv6'],
  ] as const
  const limit = limits.flatMap(([n, what]) => (n === null ? [] : [`${n}${what}`])).join(', ')
  const state = [
    ready ? 'Ready' : 'not Ready',
    ...(unreachable === null ? [] : [`unreachable (${unreachable})`]),
    ...(invalid === null ? [] : [`invalid: ${invalid}`]),
    ...(draining ? ['being drained'] : []),
  ]
  const held = node.holds.map((one) => [
    `  ${one.egressIP}`,
    one.object,
    one.network === null ? '' : `${one.networkType} network ${one.network}`,
    one.change === null ? 'not ours' : CHANGES[one.change],
  ])
  const leaving = node.leaving.map(({ egressIP, object, to }) => [`  ${egressIP}`, object, to === null ? 'to no node' : `to ${to}`])
  return [
    [
      `state: ${state.join(', ')}`,
      `load: ${load.ipv4} IPv4, ${load.ipv6} IPv6; capacity: ${limit === '' ? 'no limit' : limit}`,
      `could take ${counted(node.open, 'further address', 'further addresses')} of the intent`,
      ...wrap(style, '', probeSentence(node.probe)),
    ],
    held.length > 0 ? ['holds:', ...columns(held)] : [],
    leaving.length > 0 ? ['leaves it:', ...columns(leaving)] : [],
    exclusionLines(node),
    bundleLines(node),
  ]
}

function exclusionLines({ excluded }: ExplainedNode): readonly string[] {
  if (excluded.length === 0) return []
  const named = excluded.map(({ object, egressIP, reason }) => ({ reason, name: egressIP === null ? object : `${egressIP} of ${object}` }))
  const rows = byReason(named).map(({ reason, names }) => [`  ${reason}`, few(names, 6)])
  return ['may not host:', ...columns(rows)]
}

function bundleLines({ entries }: ExplainedNode): readonly string[] {
  if (entries.length === 0) return ['bundle: none; its l3-gateway-config does not name a gateway']
  const paths = [...new Set(entries.map(({ artefact }) => artefact))]
  const rows = paths.map((path) => {
    const own = entries.filter(({ artefact }) => artefact === path)
    const origins = [...new Set(own.flatMap((entry) => entry.for ?? []))].sort()
    return [`  ${path}`, counted(own.length, 'entry', 'entries'), origins.length > 0 ? `from ${few(origins, 5)}` : '']
  })
  return ['bundle:', ...columns(rows)]
}

function probeSentence({ why, objects, last }: ProbedNode): string {
  const result = last
    ? `; last result: ${last.reachable ? 'reachable' : 'unreachable'}${last.time === null ? '' : ` at ${last.time}`}${last.method === null ? '' : ` (${last.method})`}`
    : ''
  const selecting = few([...objects], 5)
  const text = {
    Probed: `probed: yes, egressNodeSelector of ${selecting} matches it`,
    NotSelected: 'probed: no, no egressNodeSelector matches it',
    NotReady: `probed: no, it is not Ready (egressNodeSelector of ${selecting} matches it)`,
    CheckOff: 'probed: no, the reachability check is off, and probe results do not count',
  }[why]
  return text + result
}

function viewProbes({ nodes, selectors, everything, timeout }: ProbeSet, style: Style): readonly (readonly string[])[] {
  const warning = `warning: egressNodeSelector of ${few(everything)} is empty, so every Ready node of the cluster is probed every 5 s; name the nodes that are meant (seed 003).`
  const listed = nodes.slice(0, LISTED.nodes * 4).map((one) => [`  ${one.node}`, probeSentence(one).replace(/^probed: /, '')])
  const rows = selectors.map(({ selector, objects, nodes: n }) => [
    `  ${selector === '' ? '{}' : selector}`,
    counted(n, 'node'),
    `of ${few(objects, 5)}`,
  ])
  return [
    everything.length > 0 && timeout !== 0 ? wrap(style, '', warning).map((line) => paint(style, 'yellow', line)) : [],
    selectors.length > 0 ? ['The union of these selectors, of which the Ready nodes:', ...columns(rows)] : [],
    [...columns(listed), ...rest(nodes.length, listed.length, style)],
  ]
}
