import { type Family, type Prefix, parsePrefix } from './address.js'
import { takesNodeSelector } from './egressip-crd.js'
import { describe, listAt, objectAt, type Path, textAt, valueAt } from './json.js'
import type { GatewayMode } from './node-annotations.js'
import { type Problem, problem } from './problem.js'
import { type SourceObject, subject } from './source.js'

/** Facts of the whole cluster that its own configuration objects say. */
export interface ClusterFacts {
  /** Infrastructure platformStatus.type; null when unknown. */
  readonly platform: string | null
  readonly podSubnets: readonly Prefix[]
  readonly serviceSubnets: readonly Prefix[]
  /** From the Network operator's gatewayConfig or the gateway-mode-config ConfigMap; null when neither says it. */
  readonly gatewayMode: GatewayMode | null
  /** 0 switches the reachability check off; null when not said (upstream's default is 1 second). */
  readonly reachabilityTimeout: number | null
  /** The object that shows that ovnkube's cluster-manager decides the placement, or null. */
  readonly placedByOvnkube: string | null
  /** Whether the EgressIP CRD of the cluster has egressNodeSelector, which it drops otherwise; null when no input has the CRD. */
  readonly takesNodeSelector: boolean | null
}

/** Subnets that no egress IP may lie in, by what they are for. */
export interface Subnets {
  readonly pod: readonly Prefix[]
  readonly service: readonly Prefix[]
  readonly join: readonly Prefix[]
  readonly transit: readonly Prefix[]
  readonly masquerade: readonly Prefix[]
}

/** The objects that configure a cluster, each null where the inputs have none. */
export interface ConfigurationObjects {
  /** Network.operator.openshift.io */
  readonly operator: SourceObject | null
  /** Infrastructure.config.openshift.io */
  readonly infrastructure: SourceObject | null
  /** ConfigMap openshift-network-operator/gateway-mode-config */
  readonly gatewayModeConfig: SourceObject | null
  /** ConfigMap ovn-kubernetes/ovn-config */
  readonly ovnConfig: SourceObject | null
  /** CustomResourceDefinition egressips.k8s.ovn.org */
  readonly egressIPDefinition: SourceObject | null
}

const OVN_CONFIG: Path = ['spec', 'defaultNetwork', 'ovnKubernetesConfig']

/** Where the Network operator's object has the masquerade subnet of a family. */
export const masqueradePath = (family: Family): Path => [...OVN_CONFIG, 'gatewayConfig', `ipv${family}`, 'internalMasqueradeSubnet']

/** What the configuration objects say. The operator's word goes before a ConfigMap's. A subnet that is none is InvalidObject. */
export function readFacts(objects: ConfigurationObjects): {
  facts: ClusterFacts
  subnets: Subnets
  problems: readonly Problem[]
} {
  const { operator, infrastructure, gatewayModeConfig, ovnConfig, egressIPDefinition } = objects
  const problems: Problem[] = []
  /** The subnet at a path, of which `a/b/c` (network, prefix length, prefix length of a node) means `a/b`. */
  const subnet = (object: SourceObject, path: Path, text: unknown): readonly Prefix[] => {
    if (text === undefined || text === null || text === '') return []
    const prefix = typeof text === 'string' ? parsePrefix(text.trim().split('/').slice(0, 2).join('/')) : undefined
    if (prefix) return [prefix]
    problems.push(
      problem('InvalidObject', {
        object: subject(object),
        message: `${subject(object)}: ${describe(text)} is not a subnet.`,
        remedy: 'Correct the subnet; it is left out until then.',
        source: object.at(path),
      }),
    )
    return []
  }
  const listed = (path: Path, key: string | null): readonly Prefix[] =>
    operator === null
      ? []
      : listAt(operator.value, path).flatMap((item, index) =>
          subnet(operator, [...path, index], key === null ? item : valueAt(item, [key])),
        )
  const joined = (key: string): readonly Prefix[] => {
    const path = ['data', key]
    return ovnConfig === null ? [] : (textAt(ovnConfig.value, path) ?? '').split(',').flatMap((text) => subnet(ovnConfig, path, text))
  }
  const internal = (...inner: string[]): readonly Prefix[] =>
    operator === null
      ? []
      : ['ipv4', 'ipv6'].flatMap((family) => {
          const path = [...OVN_CONFIG, ...inner.slice(0, -1), family, inner.at(-1) as string]
          return subnet(operator, path, valueAt(operator.value, path))
        })
  const fromOperator = { pod: listed(['spec', 'clusterNetwork'], 'cidr'), service: listed(['spec', 'serviceNetwork'], null) }
  const pod = fromOperator.pod.length > 0 ? fromOperator.pod : joined('net_cidr')
  const service = fromOperator.service.length > 0 ? fromOperator.service : joined('svc_cidr')
  return {
    facts: {
      platform:
        infrastructure &&
        (textAt(infrastructure.value, ['status', 'platformStatus', 'type']) ?? textAt(infrastructure.value, ['status', 'platform'])),
      podSubnets: pod,
      serviceSubnets: service,
      gatewayMode: gatewayMode(operator, gatewayModeConfig),
      reachabilityTimeout: reachabilityTimeout(operator),
      placedByOvnkube: placedByOvnkube(operator, ovnConfig),
      takesNodeSelector: egressIPDefinition && takesNodeSelector(egressIPDefinition.value),
    },
    subnets: {
      pod,
      service,
      join: internal('internalJoinSubnet'),
      transit: internal('internalTransitSwitchSubnet'),
      masquerade: internal('gatewayConfig', 'internalMasqueradeSubnet'),
    },
    problems,
  }
}

function gatewayMode(operator: SourceObject | null, config: SourceObject | null): GatewayMode | null {
  const viaHost = operator && valueAt(operator.value, [...OVN_CONFIG, 'gatewayConfig', 'routingViaHost'])
  if (typeof viaHost === 'boolean') return viaHost ? 'local' : 'shared'
  const mode = config && textAt(config.value, ['data', 'mode'])
  return mode === 'local' || mode === 'shared' ? mode : null
}

function reachabilityTimeout(operator: SourceObject | null): number | null {
  const seconds = operator && valueAt(operator.value, [...OVN_CONFIG, 'egressIPConfig', 'reachabilityTotalTimeoutSeconds'])
  return typeof seconds === 'number' ? seconds : null
}

function placedByOvnkube(operator: SourceObject | null, ovnConfig: SourceObject | null): string | null {
  const types = operator
    ? [textAt(objectAt(operator.value, ['spec']), ['defaultNetwork', 'type']), textAt(operator.value, ['status', 'defaultNetwork', 'type'])]
    : []
  if (operator && types.includes('OVNKubernetes')) return `Network.operator.openshift.io/${operator.name}`
  return ovnConfig === null ? null : 'ConfigMap/ovn-kubernetes/ovn-config'
}
