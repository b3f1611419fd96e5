import { type Address, type Prefix, parseAddress, width } from '../model/address.js'
import type { Change } from '../model/change.js'
import { type HostAddress, addresses as language } from '../syntax/addresses.js'
import { SyntaxFault } from '../syntax/language.js'
import { type Exec, failure, HostFault, output } from './exec.js'
import { readText, removeFile, writeAtomic } from './files.js'
import type { Subsystem } from './subsystem.js'

/** An address as the kernel lists it. */
export interface LiveAddress {
  readonly address: Prefix
  readonly dev: string
  /** global, site, link, host, … */
  readonly scope: string
  /** Whether its life ends: DHCP and router advertisements give such. */
  readonly dynamic: boolean
  /** Seconds for which the host may choose it as a source; 0 when it is deprecated. */
  readonly preferred: number
  /** IFA_PROTO, where iproute2 prints it (not 6.1). */
  readonly protocol: number | null
}

interface Listed {
  readonly ifname: string
  readonly addr_info: readonly {
    readonly local?: string
    readonly prefixlen: number
    readonly scope: string
    readonly valid_life_time: number
    readonly preferred_life_time: number
    readonly protocol?: string
  }[]
}

const FOREVER = 0xffffffff

/** Every address of the host. */
export async function readAddresses(exec: Exec): Promise<readonly LiveAddress[]> {
  const links = JSON.parse((await output(exec, 'ip', ['-N', '-j', 'addr', 'show'])) || '[]') as readonly Partial<Listed>[]
  return links.flatMap(({ ifname = '', addr_info = [] }) =>
    addr_info.flatMap((info): readonly LiveAddress[] => {
      const address: Address | undefined = parseAddress(info.local ?? '')
      if (!address) return []
      return [
        {
          address: { address, length: info.prefixlen },
          dev: ifname,
          scope: SCOPES[info.scope] ?? info.scope,
          dynamic: info.valid_life_time !== FOREVER,
          preferred: info.preferred_life_time,
          protocol: info.protocol === undefined ? null : Number(info.protocol),
        },
      ]
    }),
  )
}

/** RT_SCOPE_*, which -N prints as numbers. */
const SCOPES: Readonly<Record<string, string>> = { '0': 'global', '200': 'site', '253': 'link', '254': 'host' }

/**
 * Egress addresses. iproute2 6.1 cannot set IFA_PROTO, so the mark of ours is a file in the state folder, in the language of
 * addresses.json: written before an address is added and after one is deleted, so that it never misses an address of ours.
 * An address that is on the host without standing there is foreign.
 */
export function hostAddresses(exec: Exec, stateFile: string): Subsystem<HostAddress> {
  const marked = () => new Map(readMarks(stateFile).map((entry) => [language.key(entry), entry]))
  const mark = (entries: ReadonlyMap<string, HostAddress>) => {
    const [old, text] = [readText(stateFile), entries.size === 0 ? null : language.print([...entries.values()])]
    if (text === old) return
    if (text === null) removeFile(stateFile)
    else writeAtomic(stateFile, text)
  }
  return {
    language,
    async observe() {
      const ours = marked()
      const own: HostAddress[] = []
      const foreign: HostAddress[] = []
      for (const live of await readAddresses(exec)) {
        const entry: HostAddress = { address: live.address, dev: live.dev, for: null }
        const altered = alteration(live)
        // Whatever the file says: an address with a network of its own is never an egress IP.
        if (!ours.has(language.key(entry)) || !isSingle(entry.address)) foreign.push(entry)
        else own.push(altered === null ? entry : { ...entry, altered })
      }
      return { own, foreign }
    },
    async apply(changes) {
      // A mark without its address says nothing any more: somebody else may add that address tomorrow.
      const live = new Set((await readAddresses(exec)).map(({ address, dev }) => language.key({ address, dev, for: null })))
      const before = new Map([...marked()].filter(([key]) => live.has(key)))
      const claimed = new Map(before)
      for (const { key, entry } of changes) if (entry) claimed.set(key, entry)
      mark(claimed)
      if (changes.length === 0) return
      const args = ['-batch', '-']
      const outcome = await exec('ip', args, { input: changes.map(command).join('') })
      // Without -force, ip stops at the first line that fails and names it.
      const failed = outcome.code === 0 ? changes.length : Number(/Command failed -:(\d+)/.exec(outcome.stderr)?.[1] ?? 1) - 1
      changes.forEach(({ op, key }, at) => {
        // An address that somebody else added first is theirs, even though it was claimed.
        if (op === 'delete' ? at < failed : at >= failed && !before.has(key)) claimed.delete(key)
      })
      mark(claimed)
      if (outcome.code === 0) return
      const { code, message, remedy } = failure('ip', args, outcome)
      throw new HostFault(code, `${changes[failed]?.key}: ${message}`, remedy)
    },
  }
}

function readMarks(stateFile: string): readonly HostAddress[] {
  try {
    return language.parse(readText(stateFile) ?? '[]')
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error
    const remedy = 'Somebody else wrote it; remove it, and the egress addresses that are on the host with it, then run again.'
    throw new HostFault('CommandFailed', `${stateFile} cannot be read: ${error.message}`, remedy)
  }
}

/**
 * IPv4: scope global, no broadcast, label = interface, valid for ever. IPv6: without duplicate detection, which the old node would
 * win (the guard comes first), and with preferred lifetime 0, so that the host never chooses it as a source.
 */
function command({ entry, from }: Change<HostAddress>): string {
  if (!entry) return `addr del ${words(from as HostAddress)}\n`
  const family = entry.address.address.family
  return `addr ${from ? 'replace' : 'add'} ${words(entry)} scope global valid_lft forever ${family === 4 ? 'preferred_lft forever' : 'preferred_lft 0 nodad'}\n`
}

/** What somebody changed of an address of ours: a preferred IPv6 address is one that the host chooses as a source. */
const alteration = ({ address, preferred }: LiveAddress): string | null =>
  address.address.family === 6 && preferred !== 0 ? 'the host may choose it as a source' : null

const words = ({ address, dev }: HostAddress): string => `${address.address.text}/${address.length} dev ${dev}`

/** Whether a prefix is one address alone, as every egress address is on a host. */
export const isSingle = ({ address, length }: Prefix): boolean => length === width(address.family)
