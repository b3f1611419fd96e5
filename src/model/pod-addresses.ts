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
  const isRunning = ({ pod, created }: DatedPod): boolean => created !== null && podExclusion(pod) === null
  const { newest, contested } = newestByAddress(dated.filter(isRunning))
  return dated.map((one) => {
    const { pod, created } = one
    if (!contested || !isRunning(one)) return pod
    const own = pod.addresses.filter(({ text }) => (newest.get(pod.network)?.get(text) ?? 0) <= (created ?? 0))
    return own.length < pod.addresses.length ? { ...pod, addresses: own } : pod
  })
}

/** Network and address to when its newest pod was made, and whether any address has pods of several ages. */
function newestByAddress(running: readonly DatedPod[]): {
  readonly newest: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly contested: boolean
} {
  const newest = new Map<string, Map<string, number>>()
  let contested = false
  for (const { pod, created } of running) {
    const addresses = newest.get(pod.network) ?? new Map<string, number>()
    newest.set(pod.network, addresses)
    for (const { text } of pod.addresses) {
      const known = addresses.get(text)
      contested ||= known !== undefined && known !== created
      if (known === undefined || known < (created ?? 0)) addresses.set(text, created ?? 0)
    }
  }
  return { newest, contested }
}
