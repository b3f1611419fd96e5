import { type Prefix, parsePrefix } from './address.js'
import { takesNodeSelector } from './egressip-crd.js'
import { readGatewayModes } from './gateway-mode.js'
import { describe, listAt, objectAt, type Path, textAt, valueAt } from './json.js'
import { masqueradePath, OVN_CONFIG } from './network-operator.js'
import type { GatewayMode } from './node-annotations.js'
import { type Problem, problem } from './problem.js'
import { type Said, said } from './said.js'
import { malformed, type SourceObject, subject } from './source.js'

/** Facts of the whole cluster that its own configuration objects say. */
export interface ClusterFacts {
  /** Infrastructure platformStatus.type; null when unknown. */
  readonly platform: string | null
  readonly podSubnets: readonly Prefix[]
  readonly serviceSubnets: readonly Prefix[]
  /** What the Network operator and the ConfigMap gateway-mode-config say, in this order. */
  readonly gatewayModes: readonly Said<GatewayMode>[]
  /** The masquerade subnets that the Network operator names, at most one per family. */
  readonly masqueradeSubnets: readonly Said<Prefix>[]
  /** MTU of pods, in bytes; null when not said. */
  readonly mtu: number | null
  /** UDP port; null when not said. */
  readonly genevePort: number | null
  /** The release that the ClusterVersion asks for, such as `4.14.3`; null when not said. */
  readonly release: string | null
  /** Whether pods of the default network on different nodes speak through tunnels; without, through the fabric. */
  readonly defaultNetworkOverlay: boolean
  /** Whether a RouteAdvertisements object advertises the pod subnets of the default network. */
  readonly defaultNetworkAdvertised: boolean
  /** Whether the inputs have a user-defined network, whatever its role, or the CRD of one. */
  readonly userDefinedNetworks: boolean
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
  /** ClusterVersion.config.openshift.io */
  readonly version: SourceObject | null
  /** CustomResourceDefinition egressips.k8s.ovn.org */
  readonly egressIPDefinition: SourceObject | null
}

/** What objects of networks say of the whole cluster. */
type NetworkFacts = Pick<ClusterFacts, 'defaultNetworkAdvertised' | 'userDefinedNetworks'>

/** What the configuration objects say. The operator's word goes before a ConfigMap's. A subnet that is none is InvalidObject. */
export function readFacts(
  objects: ConfigurationObjects,
  networks: NetworkFacts,
): {
  facts: ClusterFacts
  subnets: Subnets
  problems: readonly Problem[]
} {
  const { operator, infrastructure, gatewayModeConfig, ovnConfig, version, egressIPDefinition } = objects
  const { modes, problems: modeProblems } = readGatewayModes(operator, gatewayModeConfig)
  const problems: Problem[] = [...modeProblems]
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
  const internal = (key: string): readonly Prefix[] =>
    operator === null
      ? []
      : ['ipv4', 'ipv6'].flatMap((family) => {
          const path = [...OVN_CONFIG, family, key]
          return subnet(operator, path, valueAt(operator.value, path))
        })
  const masquerade = operator
    ? ([4, 6] as const).flatMap((family) => {
        const path = masqueradePath(family)
        return subnet(operator, path, valueAt(operator.value, path)).map((prefix) => said(prefix, operator, path))
      })
    : []
  /** A whole number from 1 to `most` at the path; a ConfigMap has it as a text. */
  const count = (object: SourceObject | null, path: Path, most: number): number | null => {
    const found = object && valueAt(object.value, path)
    if (!object || found === undefined || found === null || found === '') return null
    const number = typeof found === 'number' || (typeof found === 'string' && /^[0-9]+$/.test(found)) ? Number(found) : Number.NaN
    if (Number.isInteger(number) && number > 0 && number <= most) return number
    problems.push(malformed(object, path, `${path.at(-1)} is a number from 1 to ${most}; it is ${describe(found)}`))
    return null
  }
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
      gatewayModes: modes,
      masqueradeSubnets: masquerade,
      mtu: count(operator, [...OVN_CONFIG, 'mtu'], MOST_16) ?? count(ovnConfig, ['data', 'mtu'], MOST_16),
      genevePort: count(operator, [...OVN_CONFIG, 'genevePort'], MOST_16),
      release: version && releaseOf(version),
      defaultNetworkOverlay: operator === null || valueAt(operator.value, [...OVN_CONFIG, 'transport']) !== 'NoOverlay',
      ...networks,
      reachabilityTimeout: reachabilityTimeout(operator),
      placedByOvnkube: placedByOvnkube(operator, ovnConfig),
      takesNodeSelector: egressIPDefinition && takesNodeSelector(egressIPDefinition.value),
    },
    subnets: {
      pod,
      service,
      join: internal('internalJoinSubnet'),
      transit: internal('internalTransitSwitchSubnet'),
      masquerade: masquerade.map(({ value }) => value),
    },
    problems,
  }
}

/** Largest MTU and largest port. */
const MOST_16 = 65535

const releaseOf = ({ value }: SourceObject): string | null =>
  textAt(value, ['status', 'desired', 'version']) ?? textAt(value, ['spec', 'desiredUpdate', 'version'])

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
