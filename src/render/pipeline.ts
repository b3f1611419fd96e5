import { EGRESS } from './pipeline-egress.js'
import { INGRESS } from './pipeline-ingress.js'
import { SERVICES } from './pipeline-masquerade.js'
import type { PipelineRow } from './pipeline-row.js'

/**
 * The flow table of the external bridge (breth0, br-ex): every flow that a node can have there, in the order in which Open vSwitch tries them.
 * Flows, tests and docs/pipeline.md are made from it.
 */
export const PIPELINE: readonly PipelineRow[] = [...EGRESS, ...SERVICES, ...INGRESS].sort(
  (a, b) => a.table - b.table || b.priority - a.priority,
)

/** What each OpenFlow table is for. */
export const TABLES: Readonly<Record<number, string>> = {
  0: 'Every packet starts here. Higher priorities know more about it.',
  1: 'Packets for the MAC of the bridge, once conntrack has undone their translation: whose connection is it?',
  2: 'From the host to OVN: the network whose pods or services are meant.',
  3: 'From OVN to the host.',
  4: 'From a pod, through a service, to this host: the host must answer through OVN, so the source becomes a masquerade address.',
  5: 'The answer of the host to that.',
  11: 'Replies that may be too large for a pod (local gateway mode).',
}
