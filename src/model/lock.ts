/** `egretta.lock.json`: what synth decided, committed beside the intent. Sorted, so that it merges well. */
export interface Lock {
  readonly apiVersion: 'egretta.dev/v1alpha1'
  readonly kind: 'Lock'
  readonly objects: Readonly<Record<string, LockedObject>>
}

export interface LockedObject {
  readonly mark?: number
  /** Address (RFC 5952) to the node decided, and the node that the live status named when this was written (null: none). */
  readonly addresses: Readonly<Record<string, { readonly node: string; readonly seen: string | null }>>
}
