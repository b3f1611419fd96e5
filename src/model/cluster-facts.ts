import type { Prefix } from './address.js'
import { readClusterSubnets, type Subnets } from './cluster-subnets.js'
import { takesNodeSelector } from './egressip-crd.js'
import { readGatewayModes } from './gateway-mode.js'
import { describe, objectAt, type Path, textAt, valueAt } from './json.js'
import { OVN_CONFIG } from './network-operator.js'
import type { GatewayMode } from './node-annotations.js'
import type { Problem } from './problem.js'
import type { Said } from './said.js'
import { malformed, type SourceObject } from './source.js'

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
  /** Whether the pod subnets of the default network are advertised: a RouteAdvertisements object selects it, or it could not do without. */
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
  const { subnets, masquerade, problems: subnetProblems } = readClusterSubnets(operator, ovnConfig)
  const problems: Problem[] = [...modeProblems, ...subnetProblems]
  /** A whole number from 1 to `most` at the path; a ConfigMap has it as a text. */
  const count = (object: SourceObject | null, path: Path, most: number): number | null => {
    const found = object && valueAt(object.value, path)
    if (!object || found === undefined || found === null || found === '') return null
    const number = typeof found === 'number' || (typeof found === 'string' && /^[0-9]+$/.test(found)) ? Number(found) : Number.NaN
    if (Number.isInteger(number) && number > 0 && number <= most) return number
    problems.push(malformed(object, path, `${path.at(-1)} is a number from 1 to ${most}; it is ${describe(found)}`))
    return null
  }
  const overlay = operator === null || valueAt(operator.value, [...OVN_CONFIG, 'transport']) !== 'NoOverlay'
  return {
    facts: {
      platform:
        infrastructure &&
        (textAt(infrastructure.value, ['status', 'platformStatus', 'type']) ?? textAt(infrastructure.value, ['status', 'platform'])),
      podSubnets: subnets.pod,
      serviceSubnets: subnets.service,
      gatewayModes: modes,
      masqueradeSubnets: masquerade,
      mtu: count(operator, [...OVN_CONFIG, 'mtu'], MOST_16) ?? count(ovnConfig, ['data', 'mtu'], MOST_16),
      genevePort: count(operator, [...OVN_CONFIG, 'genevePort'], MOST_16),
      release: version && releaseOf(version),
      defaultNetworkOverlay: overlay,
      defaultNetworkAdvertised: !overlay || networks.defaultNetworkAdvertised,
      userDefinedNetworks: networks.userDefinedNetworks,
      reachabilityTimeout: reachabilityTimeout(operator),
      placedByOvnkube: placedByOvnkube(operator, ovnConfig),
      takesNodeSelector: egressIPDefinition && takesNodeSelector(egressIPDefinition.value),
    },
    subnets,
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
