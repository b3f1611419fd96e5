import { addressFault, parseAddress } from '../model/address.js'
import { suggestion } from '../model/near.js'
import type { Problem } from '../model/problem.js'
import type { ClusterPod } from '../model/topology.js'
import { answerIp, answerNode, answerObject, answerPod, answerProbes } from './answer.js'
import { type ExplainSubject, explainAddresses } from './explain-address.js'
import { explainNode } from './explain-node.js'
import { explainObject } from './explain-object.js'
import { type Deciding, deciding, explainPod } from './explain-pod.js'
import type { Explanation, Question } from './explanation.js'
import { probeSet } from './probes.js'

/** What is not in the inputs, with what may have been meant: one sentence without its full stop. */
export interface Unknown {
  readonly unknown: string
}

type Found = Omit<Explanation, 'apiVersion' | 'kind' | 'inputDigest' | 'placement' | 'question' | 'problems'>

/**
 * Answers one question about inputs and the placement made of them. Pure: the same inputs in any order give the same answer. Names may
 * have the kind before them, as entries say it (`EgressIP/eip-a`); an address may have any spelling.
 */
export function explain(question: Question, subject: ExplainSubject & { readonly problems: readonly Problem[] }): Explanation | Unknown {
  const { inputs } = subject
  const deciders = deciding(inputs, subject.placement)
  const found = answerTo(question, subject, deciders)
  if ('unknown' in found) return found
  const names = subjectsOf(found)
  return {
    apiVersion: 'egretta.dev/v1alpha1',
    kind: 'Explanation',
    inputDigest: inputs.digest,
    placement: inputs.cluster.placement,
    question,
    ...found,
    problems: subject.problems.filter(({ object }) => object !== null && names.has(object)),
  }
}

function answerTo(question: Question, subject: ExplainSubject, deciders: Deciding): Found | Unknown {
  switch (question.kind) {
    case 'ip':
      return ip(question.name, subject, deciders)
    case 'pod':
      return pod(question.name, subject, deciders)
    case 'node':
      return node(question.name, subject, deciders)
    case 'object':
      return object(question.name, subject, deciders)
    case 'probes': {
      const probes = probeSet(subject.inputs)
      return { answer: answerProbes(probes), probes }
    }
  }
}

/** The objects of which problems belong to an answer. */
function subjectsOf({ addresses, object, pod, node }: Found): ReadonlySet<string> {
  const objects = [...(addresses ?? []).map((one) => one.object), ...(object ? [object.name] : []), ...(pod?.object ? [pod.object] : [])]
  return new Set([...objects, ...(pod ? [`Pod/${pod.pod}`] : []), ...(node ? [`Node/${node.name}`] : [])])
}

/** Without the kind that entries and problems put before a name. */
const bare = (name: string, kind: string): string => (name.startsWith(`${kind}/`) ? name.slice(kind.length + 1) : name)

/** Also `192.0.2.50/32`, `[2001:db8::50]`, `::ffff:192.0.2.50`, and the name of a CloudPrivateIPConfig (IPv6 with dots for colons). */
function addressText(written: string): string {
  const text = written
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\/(32|128)$/, '')
  const mapped = /^::ffff:([0-9.]+)$/i.exec(text)?.[1]
  const dotted = /^([0-9a-f]{4}\.){7}[0-9a-f]{4}$/i.test(text) ? text.replaceAll('.', ':') : text
  return parseAddress(mapped ?? dotted)?.text ?? text
}

function ip(written: string, subject: ExplainSubject, deciders: Deciding): Found | Unknown {
  const text = addressText(written)
  const addresses = explainAddresses(subject, deciders, (_, egressIP) => egressIP === text)
  return addresses.length > 0 ? { answer: answerIp(text, addresses), addresses } : { unknown: noEgressIP(text, subject) }
}

function noEgressIP(text: string, { inputs, placement }: ExplainSubject): string {
  const address = parseAddress(text)
  if (!address) return `"${text}" is not an address: ${addressFault(text)}`
  const { nodes, pods } = inputs.topology
  const host = nodes.find((one) =>
    [...[...one.hostPrefixes, ...one.primary].map((prefix) => prefix.address), ...one.internalIPs].some((own) => own.text === text),
  )
  if (host) return `${text} is no egress IP; it is an address of the host ${host.name} (egretta explain node ${host.name})`
  const owner = pods.find((one) => !one.hostNetwork && one.addresses.some((own) => own.text === text))
  if (owner)
    return `${text} is no egress IP; it is the address of the pod ${owner.namespace}/${owner.name} (egretta explain pod ${owner.namespace}/${owner.name})`
  const known = [...placement.assignments, ...placement.unassigned].map(({ egressIP }) => egressIP)
  const foreign = inputs.intent.foreign.flatMap(({ status }) => [...status.keys()])
  const near = nearest(address.value, address.family, [...known, ...foreign])
  return `no EgressIP of the inputs has ${text}; ${near.length > 0 ? `the nearest are ${near.join(', ')}` : 'none has an address of its family'}`
}

/** The three addresses of a family that are nearest by value. */
function nearest(value: bigint, family: 4 | 6, texts: readonly string[]): readonly string[] {
  const away = (other: bigint) => (other < value ? value - other : other - value)
  const own = [...new Set(texts)].flatMap((text) => parseAddress(text) ?? []).filter((address) => address.family === family)
  own.sort((a, b) => (away(a.value) < away(b.value) ? -1 : away(a.value) > away(b.value) ? 1 : a.value < b.value ? -1 : 1))
  return own.slice(0, 3).map(({ text }) => text)
}

function pod(written: string, subject: ExplainSubject, deciders: Deciding): Found | Unknown {
  const { inputs } = subject
  const wanted = bare(written, 'Pod')
  const key = ({ namespace, name }: ClusterPod) => `${namespace}/${name}`
  const found = inputs.topology.pods.find((one) => key(one) === wanted)
  if (found) {
    const explained = explainPod(inputs, deciders, found)
    return { answer: answerPod(explained), pod: explained }
  }
  const keys = inputs.topology.pods.map(key)
  const [namespace, name] = wanted.includes('/') ? wanted.split('/') : [null, wanted]
  const namesakes = inputs.topology.pods
    .filter((one) => one.name === name)
    .map(key)
    .sort()
  if (namespace === null) {
    const meant = namesakes.length > 0 ? `pods of that name: ${namesakes.slice(0, 3).join(', ')}` : suggestion(wanted, keys, 'pod')
    return { unknown: `write a pod as NAMESPACE/NAME, not "${wanted}"; ${meant}` }
  }
  const elsewhere = namesakes.length > 0 ? `did you mean ${namesakes.slice(0, 3).join(' or ')}?` : suggestion(wanted, keys, 'pod')
  return { unknown: `the inputs have no pod ${wanted}; ${elsewhere}` }
}

function node(written: string, subject: ExplainSubject, deciders: Deciding): Found | Unknown {
  const wanted = bare(written, 'Node')
  const found = explainNode(subject, deciders, wanted)
  if (found) return { answer: answerNode(found), node: found }
  const names = subject.inputs.topology.nodes.map(({ name }) => name)
  return { unknown: `the inputs have no node ${wanted}; ${suggestion(wanted, names, 'node')}` }
}

function object(written: string, subject: ExplainSubject, deciders: Deciding): Found | Unknown {
  const wanted = bare(written, 'EgressIP')
  const found = explainObject(subject, deciders, wanted)
  if (found) {
    const addresses = explainAddresses(subject, deciders, (name) => name === wanted)
    return { answer: answerObject(found, addresses), object: found, addresses }
  }
  const { objects, foreign, gone, invalid } = subject.inputs.intent
  const names = [...objects, ...foreign, ...gone, ...invalid].map(({ name }) => name)
  return { unknown: `the inputs have no EgressIP ${wanted}; ${suggestion(wanted, names, 'EgressIP')}` }
}
