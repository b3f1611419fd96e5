import { describe, type Path, valueAt } from './json.js'
import { ROUTING_VIA_HOST } from './network-operator.js'
import type { ClusterNode } from './node.js'
import type { Gateway, GatewayMode } from './node-annotations.js'
import { printNodes } from './node-names.js'
import { type Problem, problem } from './problem.js'
import { type Said, said } from './said.js'
import { malformed, type SourceObject } from './source.js'

/** What configures the gateway mode of the whole cluster; the first one counts. */
interface Configured {
  readonly gatewayModes: readonly Said<GatewayMode>[]
}

const MODE: Path = ['data', 'mode']

/**
 * The gateway mode that the Network operator's routingViaHost, and for releases 4.8 and 4.9 the ConfigMap gateway-mode-config, ask for
 * (seed 004). One that is neither is an InvalidObject warning.
 */
export function readGatewayModes(
  operator: SourceObject | null,
  config: SourceObject | null,
): { readonly modes: readonly Said<GatewayMode>[]; readonly problems: readonly Problem[] } {
  const modes: Said<GatewayMode>[] = []
  const problems: Problem[] = []
  const viaHost = operator && valueAt(operator.value, ROUTING_VIA_HOST)
  if (operator && typeof viaHost === 'boolean') modes.push(said(viaHost ? 'local' : 'shared', operator, ROUTING_VIA_HOST))
  else if (operator && viaHost !== undefined && viaHost !== null)
    problems.push(malformed(operator, ROUTING_VIA_HOST, `routingViaHost is true or false; it is ${describe(viaHost)}`))
  const mode = config && valueAt(config.value, MODE)
  if (config && (mode === 'local' || mode === 'shared')) modes.push(said(mode, config, MODE))
  else if (config) problems.push(malformed(config, MODE, `data.mode is local or shared; it is ${describe(mode)}`))
  return { modes, problems }
}

/** The mode that a node is rendered for: what the cluster is configured to, else what the node itself says. */
export const gatewayModeOf = ({ gatewayModes }: Configured, gateway: Gateway): GatewayMode => gatewayModes[0]?.value ?? gateway.mode

/**
 * What is wrong with the gateway modes: places that configure different ones (GatewayModeConflict), and nodes that are in another mode
 * than the configured one (GatewayModeChange).
 */
export function gatewayModeProblems({ gatewayModes }: Configured, nodes: readonly ClusterNode[]): readonly Problem[] {
  const [first, ...others] = gatewayModes
  if (!first) return []
  const place = ({ object, field, value }: Said<GatewayMode>): string => `${object} (${field}) says ${value}`
  const conflicts = others
    .filter(({ value }) => value !== first.value)
    .map((other) =>
      problem('GatewayModeConflict', {
        object: other.object,
        message: `The gateway mode is configured twice, differently: ${place(first)}, ${place(other)}. The first one is used.`,
        source: other.source,
      }),
    )
  const changing = nodes.filter(({ gateway }) => gateway && gateway.mode !== first.value).map(({ name }) => name)
  return changing.length === 0 ? conflicts : [...conflicts, change(first, changing)]
}

function change({ value, object, field, source }: Said<GatewayMode>, nodes: readonly string[]): Problem {
  const from = value === 'local' ? 'shared' : 'local'
  const one = nodes.length === 1
  return problem('GatewayModeChange', {
    object,
    message: `${object} (${field}) asks for ${value} gateway mode, but ${printNodes(nodes)} ${one ? 'is' : 'are'} in ${from} gateway mode: changing it interrupts ingress and egress traffic of ${one ? 'the node' : 'these nodes'}.`,
    source,
  })
}
