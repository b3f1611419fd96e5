import type { Pending } from '../host/resolve.js'
import type { SubsystemName } from '../model/cluster.js'

/** Something of a host that is not as the bundle says. */
export interface Finding {
  readonly subsystem: SubsystemName
  /** `stale` is there and should not be; `different` is there and means something else. */
  readonly what: 'missing' | 'stale' | 'different'
  /** The entry, in the words of its language. */
  readonly key: string
  /** Half a sentence: what it does, or does not do. */
  readonly says: string
  /** The object that it comes from; null where that is not known. */
  readonly for: string | null
}

/** What waits for something that the host does not have is not there either. `names` has another key for some of its entries. */
export const missingFor = ({ subsystem, key, reason }: Pending, names: ReadonlyMap<string, string>): Finding => ({
  subsystem,
  what: 'missing',
  key: names.get(key) ?? key,
  says: reason,
  for: null,
})
