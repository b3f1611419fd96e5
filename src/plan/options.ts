import type { PlacementOptions } from '../model/assignment.js'

/** `PlacementOptions` as a plan says them: in JSON, and the same for any order in which they were given. */
export interface PlanOptions {
  /** Names of nodes, sorted. */
  readonly drain: readonly string[]
  readonly down: readonly string[]
  /** How many valid assignments may move for balance; null: none. */
  readonly rebalance: number | 'all' | null
}

export const planOptions = ({ drain, down, rebalance }: PlacementOptions): PlanOptions => ({
  drain: [...new Set(drain)].sort(),
  down: [...new Set(down)].sort(),
  rebalance: rebalance === Number.POSITIVE_INFINITY ? 'all' : rebalance || null,
})

/** What a plan was made with, for the next placement. */
export const placementOptions = ({ drain, down, rebalance }: PlanOptions): PlacementOptions => ({
  drain,
  down,
  rebalance: rebalance === 'all' ? Number.POSITIVE_INFINITY : rebalance,
})

/** The options as a command line, `--drain node-a --rebalance=2`; empty where there are none. */
export function printOptions({ drain, down, rebalance }: PlanOptions): string {
  const balance = rebalance === null ? [] : [rebalance === 'all' ? '--rebalance' : `--rebalance=${rebalance}`]
  return [...drain.map((node) => `--drain ${node}`), ...down.map((node) => `--down ${node}`), ...balance].join(' ')
}
