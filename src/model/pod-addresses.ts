import type { Address } from './address.js'
import { type ClusterPod, podExclusion } from './pod.js'

/** A pod, and when it was made in milliseconds since 1970; null where nothing says it. */
export interface DatedPod {
  readonly pod: ClusterPod
  readonly created: number | null
}

/**
 * The pods, each with the addresses that are still its own. A cluster gives an address to another pod before the last trace of the
 * former one is gone, so among pods that run, on one network, an address belongs to the newest. Pods whose age is equal, or unknown,
 * all keep it.
 */
export function settleAddresses(dated: readonly DatedPod[]): readonly ClusterPod[] {
  const running = dated.filter(({ pod, created }) => created !== null && podExclusion(pod) === null)
  const newest = new Map<string, number>()
  const latest = (pod: ClusterPod, address: Address): number => newest.get(keyOf(pod, address)) ?? Number.NEGATIVE_INFINITY
  for (const { pod, created } of running) {
    for (const address of pod.addresses) newest.set(keyOf(pod, address), Math.max(latest(pod, address), created ?? 0))
  }
  const outlived = new Map(
    running.flatMap(({ pod, created }) => {
      const own = pod.addresses.filter((address) => latest(pod, address) <= (created ?? 0))
      return own.length < pod.addresses.length ? [[pod, { ...pod, addresses: own }] as const] : []
    }),
  )
  return dated.map(({ pod }) => outlived.get(pod) ?? pod)
}

const keyOf = ({ network }: ClusterPod, { text }: Address): string => `${network} ${text}`
