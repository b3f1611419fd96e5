import type { Voices } from '../model/speaker.js'

/**
 * Number of running pods whose egress addresses change: because their object gets or loses one of their family, or because
 * the selectors of an object select them anew or no more. Where the addresses live does not matter to a server.
 */
export function podsAffected(before: Voices, after: Voices): number {
  let count = 0
  for (const [pod, { addresses }] of after) if (!equal(before.get(pod)?.addresses, addresses)) count++
  for (const [pod, { addresses }] of before) if (!after.has(pod) && addresses.size > 0) count++
  return count
}

const NONE: ReadonlySet<string> = new Set()

function equal(a = NONE, b = NONE): boolean {
  if (a.size !== b.size) return false
  for (const text of a) if (!b.has(text)) return false
  return true
}
