import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { guardFlows } from '../syntax/guard.js'
import { guardFlowsPath } from '../syntax/languages.js'
import { printFlow } from '../syntax/openflow.js'
import { artefact } from './artefact.js'
import { templates } from './templates.js'

/** `guard.openflow.<bridge>.flows`: the GARP guard (seed 000), in both gateway modes. */
export const renderGuardFlows = (state: NodeState): Artefact =>
  artefact(guardFlowsPath(state.bridge), ['startup', 'shutdown'], () => {
    const flows = guardFlows(state.bridge, state.node, state.nodeAddresses, state.announcing)
    return templates['openflow/guard.flows']({
      bridge: state.bridge,
      node: state.node,
      flows: flows.map((flow) => ({ comment: flow.comment, line: printFlow(flow) })),
    })
  })
