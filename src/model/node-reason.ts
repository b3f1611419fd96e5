import type { NodeReason } from './assignment.js'

/**
 * What each rule says of the nodes that it keeps from hosting an address, as the end of the sentences "the node …" and "3 nodes …",
 * and of all of them as the end of "none of the 3 nodes …" where the rule is one that nodes have to meet.
 */
export const NODE_REASONS: Readonly<Record<NodeReason, { readonly one: string; readonly many: string; readonly none?: string }>> = {
  SelectorMismatch: {
    one: 'does not match egressNodeSelector',
    many: 'do not match egressNodeSelector',
    none: 'matches egressNodeSelector',
  },
  NotReady: { one: 'is not Ready', many: 'are not Ready', none: 'is Ready' },
  Unreachable: { one: 'is unreachable', many: 'are unreachable' },
  InvalidNode: { one: 'has a malformed annotation', many: 'have a malformed annotation' },
  Draining: { one: 'is being drained', many: 'are being drained' },
  NoHostingNetwork: {
    one: 'has no network that contains it',
    many: 'have no network that contains it',
    none: 'has a network that contains it',
  },
  CapacityExhausted: { one: 'has no capacity left', many: 'have no capacity left', none: 'has capacity left' },
  HoldsSameObject: { one: 'holds another address of the object', many: 'hold another address of the object' },
}
