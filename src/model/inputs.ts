import type { Cluster } from './cluster.js'
import type { Intent } from './intent.js'
import type { Lock } from './lock.js'
import type { Problem } from './problem.js'
import type { Topology } from './topology.js'

/** Everything that placement and compilation need, parsed and merged. */
export interface Inputs {
  readonly intent: Intent
  readonly topology: Topology
  readonly cluster: Cluster
  readonly lock: Lock | null
  /**
   * Who has each address now: object to (RFC 5952 address to node). Advisory: the live status. Enforced: the live status
   * where it differs from the one the lock has seen, else the lock.
   */
  readonly current: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** SHA-256, hex, over the canonical parsed objects: the same for any order of files and documents. */
  readonly digest: string
  readonly problems: readonly Problem[]
  /** True when a file could not be read or parsed: nothing may be written (exit 1). */
  readonly unreadable: boolean
}
