import { type Prefix, parsePrefix } from './address.js'
import { describe, listAt, type Path, textAt, valueAt } from './json.js'
import { masqueradePath, OVN_CONFIG } from './network-operator.js'
import { type Problem, problem } from './problem.js'
import { type Said, said } from './said.js'
import { type SourceObject, subject } from './source.js'

/** Subnets that no egress IP may lie in, by what they are for. */
export interface Subnets {
  readonly pod: readonly Prefix[]
  readonly service: readonly Prefix[]
  readonly join: readonly Prefix[]
  readonly transit: readonly Prefix[]
  readonly masquerade: readonly Prefix[]
}

/**
 * The subnets that the Network operator, or else the ConfigMap ovn-config, names; those of masquerade addresses also with their
 * places. A subnet that is none is InvalidObject.
 */
export function readClusterSubnets(
  operator: SourceObject | null,
  ovnConfig: SourceObject | null,
): { readonly subnets: Subnets; readonly masquerade: readonly Said<Prefix>[]; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  /** The subnet at a path, of which `a/b/c` (network, prefix length, prefix length of a node) means `a/b`. */
  const subnet = (object: SourceObject, path: Path, text: unknown): readonly Prefix[] => {
    if (text === undefined || text === null || text === '') return []
    const prefix = typeof text === 'string' ? parsePrefix(text.trim().split('/').slice(0, 2).join('/')) : undefined
    if (!prefix) problems.push(noSubnet(object, path, text))
    return prefix ? [prefix] : []
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
  const ofFamilies = (pathOf: (family: 4 | 6) => Path): readonly Said<Prefix>[] =>
    operator === null
      ? []
      : ([4, 6] as const).flatMap((family) => {
          const path = pathOf(family)
          return subnet(operator, path, valueAt(operator.value, path)).map((prefix) => said(prefix, operator, path))
        })
  const internal = (key: string): readonly Prefix[] =>
    ofFamilies((family) => [...OVN_CONFIG, `ipv${family}`, key]).map(({ value }) => value)
  const [pod, service] = [listed(['spec', 'clusterNetwork'], 'cidr'), listed(['spec', 'serviceNetwork'], null)]
  const masquerade = ofFamilies(masqueradePath)
  return {
    subnets: {
      pod: pod.length > 0 ? pod : joined('net_cidr'),
      service: service.length > 0 ? service : joined('svc_cidr'),
      join: internal('internalJoinSubnet'),
      transit: internal('internalTransitSwitchSubnet'),
      masquerade: masquerade.map(({ value }) => value),
    },
    masquerade,
    problems,
  }
}

const noSubnet = (object: SourceObject, path: Path, value: unknown): Problem =>
  problem('InvalidObject', {
    object: subject(object),
    message: `${subject(object)}: ${describe(value)} is not a subnet.`,
    remedy: 'Correct the subnet; it is left out until then.',
    source: object.at(path),
  })
