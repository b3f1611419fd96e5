import type { NodeReason } from './assignment.js'

/** What each rule says of the nodes that it keeps from hosting an address, as the end of the sentences "the node …" and "3 nodes …". */
export const NODE_REASONS: Readonly<Record<NodeReason, { readonly one: string; readonly many: string }>> = {
  SelectorMismatch: { one: 'does not match egressNodeSelector', many: 'do not match egressNodeSelector' },
  NotReady: { one: 'is not Ready', many: 'are not Ready' },
  Unreachable: { one: 'is unreachable', many: 'are unreachable' },
  InvalidNode: { one: 'has a malformed annotation', many: 'have a malformed annotation' },
  Draining: { one: 'is being drained', many: 'are being drained' },
  NoHostingNetwork: { one: 'has no network that contains it', many: 'have no network that contains it' },
  CapacityExhausted: { one: 'has no capacity left', many: 'have no capacity left' },
  HoldsSameObject: { one: 'holds another address of the object', many: 'hold another address of the object' },
}
