import type { Claim } from './claims.js'

/** A claim with the index of its node. */
export interface Placed {
  readonly claim: Claim
  readonly index: number
}
