import type { ApiObjectMetadata } from 'cdk8s'
import { ApiObject, Lazy } from 'cdk8s'
import type { Construct } from 'constructs'
import { addressFault, parseAddress } from '../model/address.js'
import { describe, printPath } from '../model/json.js'
import { FIRST_MARK, LAST_MARK } from '../model/numbers.js'
import { isObjectName, isSelector, selectorFaults } from '../model/selector.js'

/** Annotation with the packet mark of an object (seed 002): state that whoever decides the placement writes, not intent. */
export const MARK_ANNOTATION = 'k8s.ovn.org/egressip-mark'

/** What was decided about one object: the value of its status, and its mark if it needs one. */
export interface Decision {
  readonly items: readonly { readonly egressIP: string; readonly node: string }[]
  readonly mark: number | null
}

const DECIDES = Symbol.for('egretta.decides')

/** A scope that decides the placement of the EgressIPs below it. Null: it does not decide, or not about this name. */
interface Deciding {
  readonly [DECIDES]: (name: string) => Decision | null
}

/** Makes a construct the one that EgressIPs below it ask for their status. */
export function decideBelow(scope: Construct, decide: (name: string) => Decision | null): void {
  Object.defineProperty(scope, DECIDES, { value: decide })
}

const API_VERSION = 'k8s.ovn.org/v1'
const KIND = 'EgressIP'
const SERVER_SIDE = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
  'ownerReferences',
]
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * The manifest of one EgressIP, wherever it was declared: the author's labels, annotations and spec, without what the API
 * server adds. Status and mark stand in it only where an EgressCluster above it decides the placement: the CRD has no
 * status subresource, so whoever applies a manifest with status overwrites the live one.
 */
export class EgressIPManifest extends ApiObject {
  constructor(scope: Construct, id: string, name: string, metadata: ApiObjectMetadata, spec: object) {
    const own = authored(metadata)
    const decided = <T>(value: (decision: Decision) => T | null) => Lazy.any({ produce: () => later(decisionOf(scope, name), value) })
    super(scope, id, {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: { ...own, name, annotations: { ...own.annotations, [MARK_ANNOTATION]: decided(({ mark }) => mark && String(mark)) } },
      spec,
      status: decided(({ items }) => ({ items: items.map(({ egressIP, node }) => ({ egressIP, node })) })),
    })
  }
}

/** cdk8s leaves a field out when it is undefined. */
const later = <T>(decision: Decision | null, value: (decision: Decision) => T | null): T | undefined =>
  (decision && value(decision)) ?? undefined

function decisionOf(scope: Construct, name: string): Decision | null {
  const decider = scope.node.scopes.toReversed().find((above): above is Construct & Deciding => DECIDES in above)
  return decider ? decider[DECIDES](name) : null
}

/** A Kubernetes LabelSelector as an app writes it: what client-node and other generated types of Kubernetes describe fits too. */
export interface LabelSelectorProps {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined
  readonly matchExpressions?:
    | readonly {
        readonly key: string
        /** In, NotIn, Exists or DoesNotExist. */
        readonly operator: string
        /** For In and NotIn. */
        readonly values?: readonly string[] | undefined
      }[]
    | undefined
}

export interface EgressIPProps {
  /** metadata.name; default: the construct's id. */
  readonly name?: string
  readonly metadata?: ApiObjectMetadata
  /** IPv4 and IPv6 addresses; each goes to another node. */
  readonly egressIPs: readonly string[]
  readonly namespaceSelector: LabelSelectorProps
  /** Default: every pod of the namespaces. */
  readonly podSelector?: LabelSelectorProps
  /** Default of the CRD: nodes with the label k8s.ovn.org/egress-assignable. `{}` is every node. */
  readonly egressNodeSelector?: LabelSelectorProps
}

const DECLARED = Symbol.for('egretta.EgressIP')

/**
 * An EgressIP declared in code (`k8s.ovn.org/v1`). Below an EgressCluster it is placed like the objects of intent files;
 * below any other Chart it is a manifest like every ApiObject. Synthesis fails with the construct's path when a prop is
 * wrong: that is an error of the app's own code, not of an intent file.
 */
export class EgressIP extends EgressIPManifest {
  /** cdk8s answers `instanceof` for every kind of ApiObject alike; this tells ours. */
  static isEgressIP(construct: unknown): construct is EgressIP {
    return typeof construct === 'object' && construct !== null && DECLARED in construct
  }

  /** The object as declared, as a file of intent would hold it. */
  readonly declared: Readonly<Record<string, unknown>>

  constructor(scope: Construct, id: string, props: EgressIPProps) {
    const { name, metadata, ...spec } = props
    super(scope, id, name ?? id, metadata ?? {}, spec)
    Object.defineProperty(this, DECLARED, { value: true })
    this.declared = { apiVersion: API_VERSION, kind: KIND, metadata: { ...authored(metadata ?? {}), name: this.name }, spec }
    this.node.addValidation({ validate: () => faults(this.name, props) })
  }
}

/** What is wrong with the props. An app in plain JavaScript can hand over anything. */
function faults(name: string, props: EgressIPProps): string[] {
  const found: string[] = []
  if (!isObjectName(name)) {
    found.push(`name "${name}" is not a DNS subdomain; give a name of lower-case letters, digits, "-" and "."`)
  }
  const addresses: unknown = props.egressIPs
  if (!Array.isArray(addresses) || addresses.length === 0) found.push('egressIPs is empty or no list; give at least one address')
  for (const text of Array.isArray(addresses) ? (addresses as unknown[]) : []) {
    if (typeof text !== 'string') found.push(`egressIPs: ${describe(text)} is not an address`)
    else if (!parseAddress(text)) found.push(`egressIPs: "${text}" is not an address: ${addressFault(text)}`)
  }
  if (!props.namespaceSelector) found.push('namespaceSelector is missing; {} selects every namespace')
  for (const key of ['namespaceSelector', 'podSelector', 'egressNodeSelector'] as const) {
    const selector: unknown = props[key] ?? {}
    if (isSelector(selector)) found.push(...selectorFaults(selector).map(({ path, message }) => `${printPath([key, ...path])}: ${message}`))
    else found.push(`${key} is not a label selector: matchLabels and matchExpressions, each with key and operator`)
  }
  const mark = props.metadata?.annotations?.[MARK_ANNOTATION]
  if (mark !== undefined) found.push(`annotation ${MARK_ANNOTATION} is state (${FIRST_MARK} to ${LAST_MARK}, kept in the lock); remove it`)
  return found
}

/** What a person wrote of the metadata. */
function authored(metadata: ApiObjectMetadata): ApiObjectMetadata {
  const { annotations = {}, ...rest } = metadata
  const kept = Object.entries(annotations).filter(([key]) => key !== LAST_APPLIED && key !== MARK_ANNOTATION)
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([key]) => !SERVER_SIDE.includes(key))),
    annotations: Object.fromEntries(kept),
  }
}
