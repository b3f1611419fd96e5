import { addressOf, hostPrefix } from '../model/address.js'
import type { Artefact } from '../model/bundle.js'
import type { NodeState } from '../model/node-state.js'
import { EGRESS_NODE_MARK, EGRESS_RULE_PRIORITY, MARK_RULE_PRIORITY } from '../model/numbers.js'
import { PATHS } from '../syntax/languages.js'
import { type HostRule, rules } from '../syntax/rules.js'
import { tableOfDevice } from '../syntax/symbols.js'
import { artefact } from './artefact.js'
import { egressPods } from './secondary.js'

/**
 * `rules.json`: a pod with a secondary egress IP is routed by the table of its interface. In local gateway mode what a pod sends to the address of
 * a node is routed by the main table all the same, whether or not there is an egress IP yet. Null where there is no rule.
 */
export function renderRules(state: Pick<NodeState, 'node' | 'externalBridge' | 'secondary' | 'routeTableBase'>): Artefact | null {
  const { externalBridge, node, routeTableBase } = state
  const local = externalBridge.mode === 'local' ? [...new Set(externalBridge.nodeAddresses.map(({ family }) => family))] : []
  const pods = egressPods(state)
  if (local.length + pods.length === 0) return null
  return artefact(PATHS.rules, ['steady', 'startup', 'shutdown'], rules.print, () => [
    ...local.map(
      (family): HostRule => ({
        priority: MARK_RULE_PRIORITY,
        src: { address: addressOf(family, 0n), length: 0 },
        fwmark: EGRESS_NODE_MARK,
        table: 'main',
        for: `Node/${node}`,
      }),
    ),
    ...pods.map(
      ({ pod, device, for: object }): HostRule => ({
        priority: EGRESS_RULE_PRIORITY,
        src: hostPrefix(pod),
        fwmark: null,
        table: tableOfDevice(routeTableBase, device),
        for: object,
      }),
    ),
  ])
}
