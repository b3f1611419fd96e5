import { parseAddress } from '../model/address.js'
import { OWN_PROTOCOL } from '../model/numbers.js'
import { neighbors as language, type Neighbor } from '../syntax/neighbors.js'
import { recently } from '../syntax/recent.js'
import { batchAll } from './batch.js'
import { type Exec, output } from './exec.js'
import type { Observed, Subsystem } from './subsystem.js'

interface Listed {
  readonly dst: string
  readonly dev: string
  readonly lladdr?: string
  readonly state: readonly string[]
  readonly protocol?: string
  readonly extern_learn?: null
}

/** What ip listed, as it is compared. */
const read = recently((text): Observed<Neighbor> => {
  const own: Neighbor[] = []
  const foreign: Neighbor[] = []
  for (const entry of JSON.parse(text || '[]') as readonly Listed[]) {
    const dst = parseAddress(entry.dst)
    if (!dst) continue
    const neighbor = { dst, lladdr: entry.lladdr ?? '', dev: entry.dev, for: null }
    const permanent = entry.state.includes('PERMANENT')
    if (entry.protocol === String(OWN_PROTOCOL)) {
      if (permanent) own.push(neighbor)
    } else if (permanent || entry.state.includes('NOARP') || entry.protocol !== undefined || 'extern_learn' in entry) foreign.push(neighbor)
  }
  return { own, foreign }
})

/**
 * Permanent neighbors, ours by `protocol` 230. What the kernel learned by itself (REACHABLE, STALE, FAILED, …) is neither ours nor
 * foreign: a permanent entry takes its place, as ip-neighbour(8) means it to. What somebody put there is foreign: a permanent or
 * NOARP entry, one with a protocol, one that a control plane learned.
 */
export function hostNeighbors(exec: Exec): Subsystem<Neighbor> {
  return {
    language,
    // -N: a protocol as its number, whatever name /etc/iproute2/rt_protos has for it
    observe: async () => read(await output(exec, 'ip', ['-N', '-j', 'neigh', 'show', 'nud', 'all'])),
    async apply(changes) {
      await batchAll(exec, [], changes, ({ entry, from }) =>
        entry
          ? `neigh replace ${entry.dst.text} lladdr ${entry.lladdr} dev ${entry.dev} nud permanent protocol ${OWN_PROTOCOL}`
          : `neigh del ${from?.dst.text} dev ${from?.dev}`,
      )
    },
  }
}
