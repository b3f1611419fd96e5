import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { guardFlows } from '../syntax/guard.js'
import { flowsPath, guardFlowsPath, portsPath } from '../syntax/languages.js'
import { type Flow, printFlow } from '../syntax/openflow.js'
import { type PortFlag, portFlags } from '../syntax/port-flags.js'
import { patchOf } from '../syntax/symbols.js'
import { artefact } from './artefact.js'
import { isOfManyNodes, pipelineFlows } from './flows.js'
import { templates } from './templates.js'

/** `openflow.<bridge>.flows`: the flow table of the external bridge (docs/pipeline.md). */
export const renderFlows = (state: Pick<NodeState, 'node' | 'bridge' | 'externalBridge'>): Artefact =>
  artefact(
    flowsPath(state.bridge),
    ['steady', 'startup', 'shutdown'],
    (flows) => templates['openflow/base.flows']({ bridge: state.bridge, node: state.node, flows: flows.map(printed) }),
    () => pipelineFlows(state).map(({ flow }) => flow),
  )

/**
 * `openflow.<bridge>.ports.json`: the patch ports of user-defined networks are no part of a flood, as the gateway routers of all networks have
 * the addresses of the node, and each would answer. Null where there is no such network.
 */
export function renderPorts(state: Pick<NodeState, 'bridge' | 'externalBridge'>): Artefact | null {
  const { bridge, externalBridge } = state
  const flags = [...externalBridge.networks.filter(({ id }) => id !== 0), ...externalBridge.closed].map(
    (network): PortFlag => ({ bridge, port: patchOf(network.name), flag: 'no-flood', for: network.for }),
  )
  return flags.length === 0 ? null : artefact(portsPath(bridge), ['steady', 'startup', 'shutdown'], portFlags(bridge).print, () => flags)
}

/** `guard.openflow.<bridge>.flows`: the GARP guard (seed 000), in both gateway modes. */
export const renderGuardFlows = (state: Pick<NodeState, 'node' | 'bridge' | 'nodeAddresses' | 'announcing'>): Artefact =>
  artefact(
    guardFlowsPath(state.bridge),
    ['startup', 'shutdown'],
    (flows) => templates['openflow/guard.flows']({ bridge: state.bridge, node: state.node, flows: flows.map(lineOf) }),
    () => guardFlows(state.bridge, state.node, state.nodeAddresses, state.announcing),
  )

const lineOf = (flow: Flow) => ({ comment: flow.comment, line: printFlow(flow) })

/** Lines of flows that nodes share. */
const PRINTED = new WeakMap<Flow, ReturnType<typeof lineOf>>()

function printed(flow: Flow): ReturnType<typeof lineOf> {
  const known = PRINTED.get(flow)
  if (known) return known
  const line = lineOf(flow)
  if (isOfManyNodes(flow)) PRINTED.set(flow, line)
  return line
}
