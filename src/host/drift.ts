import type { SubsystemName } from '../model/cluster.js'

/** What a watch saw somebody do to a subsystem. `who` is in words, fit for a sentence on its own: `process 712 (nft)`, `bridge br-ex was deleted`. */
export interface DriftEvent {
  readonly subsystem: SubsystemName
  readonly source: 'nftables' | 'openflow' | 'ovsdb' | 'kernel'
  readonly who: string
}
