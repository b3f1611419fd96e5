import type { Address } from './address.js'
import type { LabelSelector } from './selector.js'
import type { SourceObject } from './source.js'

/** What a person asked for in one EgressIP object, parsed and valid. */
export interface EgressIPIntent {
  readonly name: string
  /** Milliseconds since 1970; null when the object has no creationTimestamp, which counts as newest. */
  readonly created: number | null
  /** Every text of spec.egressIPs in the order written; `address` is null where it is not one. `index` is its place in the list. */
  readonly addresses: readonly { readonly text: string; readonly address: Address | null; readonly index: number }[]
  readonly namespaceSelector: LabelSelector
  readonly podSelector: LabelSelector
  /** With the CRD's default filled in. */
  readonly egressNodeSelector: LabelSelector
  /** Address (RFC 5952) to node, as the live status says. */
  readonly status: ReadonlyMap<string, string>
  /** The mark annotation of the topology as written; null when there is none. */
  readonly mark: string | null
  readonly source: SourceObject
}

/** The intent of all objects. `invalid` are objects whose schema is wrong or whose name stands twice: none of their addresses is placed. */
export interface Intent {
  readonly objects: readonly EgressIPIntent[]
  readonly invalid: readonly { readonly name: string; readonly texts: readonly string[]; readonly message: string }[]
  /** EgressIPs that only the topology has and the lock does not: they keep their addresses and their capacity. */
  readonly foreign: readonly EgressIPIntent[]
  /** Addresses that the lock or a live status of ours has and no object asks for any more. */
  readonly removed: readonly { readonly object: string; readonly egressIP: string; readonly node: string }[]
}
