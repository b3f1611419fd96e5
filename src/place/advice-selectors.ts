import { canonicalJson } from '../model/bundle.js'
import { DEFAULT_NODE_SELECTOR } from '../model/egressip-crd.js'
import type { Inputs } from '../model/inputs.js'
import type { EgressIPIntent } from '../model/intent.js'
import { valueAt, withoutNulls } from '../model/json.js'
import { type Problem, problem } from '../model/problem.js'
import { type LabelSelector, matches } from '../model/selector.js'
import type { ClusterNamespace } from '../model/topology.js'
import type { Field } from './eligibility.js'

/** The namespaces that a selector matches. */
type NamespacesOf = (selector: LabelSelector) => readonly ClusterNamespace[]

/** The selectors of an object that hardly mean what they say, or that the cluster does not heed. `pods` is how many pods they select. */
export function selectorAdvice(
  inputs: Inputs,
  field: Field,
  object: EgressIPIntent,
  namespacesOf: NamespacesOf,
  pods: number,
): readonly Problem[] {
  const nothing = pods === 0 ? selectsNothing(inputs, object, namespacesOf) : []
  return [...selectsEverything(object), ...nothing, ...notEnforced(inputs, field, object)]
}

const isEmpty = ({ matchLabels, matchExpressions }: LabelSelector): boolean =>
  Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0

function selectsEverything({ name, namespaceSelector, podSelector, egressNodeSelector, source }: EgressIPIntent): readonly Problem[] {
  const problems: Problem[] = []
  const warn = (field: string, message: string, remedy: string) => {
    problems.push(problem('SelectorMatchesEverything', { object: name, message, remedy, source: source.at(['spec', field]) }))
  }
  if (isEmpty(namespaceSelector)) {
    const which = isEmpty(podSelector) ? 'every pod of the cluster, those' : 'pods of every namespace, those'
    const remedy = 'Name the namespaces that are meant in namespaceSelector.'
    warn('namespaceSelector', `${name} selects ${which} of the system namespaces too.`, remedy)
  }
  if (isEmpty(egressNodeSelector)) {
    const remedy = 'Name the nodes that are meant in egressNodeSelector.'
    warn('egressNodeSelector', `Every node of the cluster may host the addresses of ${name}, and every one is probed for that.`, remedy)
  }
  return problems
}

/** Without a namespace, or without a pod, in the topology nothing can be said. */
function selectsNothing(
  { topology: { namespaces, pods } }: Inputs,
  { name, namespaceSelector, source }: EgressIPIntent,
  namespacesOf: NamespacesOf,
): readonly Problem[] {
  if (namespaces.length === 0) return []
  if (namespacesOf(namespaceSelector).length === 0) {
    const { length } = namespaces
    const what = length === 1 ? 'does not match the only namespace' : `matches none of the ${length} namespaces`
    const message = `namespaceSelector of ${name} ${what}.`
    return [problem('SelectorMatchesNoNamespace', { object: name, message, source: source.at(['spec', 'namespaceSelector']) })]
  }
  if (pods.length === 0) return []
  const message = `${name} selects no pod that runs at present.`
  return [problem('SelectorMatchesNoPod', { object: name, message, source: source.at(['spec', 'podSelector']) })]
}

const DEFAULT = canonicalJson(DEFAULT_NODE_SELECTOR)
const isDefault = ({ matchLabels = {}, ...rest }: LabelSelector): boolean =>
  Object.keys(matchLabels).length === 0 && canonicalJson(rest) === DEFAULT

/**
 * A selector of its own that the cluster drops or ignores (seed 003, "version skew"). A CRD that has the field is taken for a sign that
 * the cluster-manager heeds it, unless the status says otherwise.
 */
function notEnforced(inputs: Inputs, field: Field, object: EgressIPIntent): readonly Problem[] {
  if (isDefault(object.egressNodeSelector)) return []
  const because = whyNot(inputs, field, object)
  if (because === null) return []
  const message = `egressNodeSelector of ${object.name} may have no effect: ${because}.`
  return [problem('SelectorNotEnforced', { object: object.name, message, source: object.source.at(['spec', 'egressNodeSelector'], true) })]
}

function whyNot({ topology, cluster }: Inputs, field: Field, object: EgressIPIntent): string | null {
  const { takesNodeSelector } = topology.facts
  if (takesNodeSelector === false) return 'the EgressIP CRD of the cluster does not have the field and drops it'
  if (cluster.placement !== 'advisory') return null
  if (takesNodeSelector === null) return 'ovnkube decides the placement, and no EgressIP CRD among the inputs shows that it knows the field'
  const strayed = strayedAddress(field, object)
  return strayed && `ovnkube has put ${strayed.address} on ${strayed.node}, which does not match it`
}

/** An address that the live status, under the same selector, has on a node that does not match. */
function strayedAddress(field: Field, { live, status, egressNodeSelector }: EgressIPIntent) {
  const applied = withoutNulls(valueAt(live?.value, ['spec', 'egressNodeSelector']))
  if (canonicalJson(applied ?? null) !== canonicalJson(egressNodeSelector)) return null
  for (const [address, name] of status) {
    const node = field.nodes[field.indexOf.get(name) ?? -1]
    if (node && !matches(egressNodeSelector, node.labels)) return { address, node: name }
  }
  return null
}
