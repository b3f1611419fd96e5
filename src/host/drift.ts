import type { SubsystemName } from '../model/cluster.js'
import { OWN_PROTOCOL, PROBE_TABLE } from '../model/numbers.js'
import { isOwnTable } from './nftables.js'

/** What a watch saw happen to a subsystem. `who` is in words, fit to stand alone: `process 712 (nft) changed table inet egretta`. */
export interface DriftEvent {
  readonly subsystem: SubsystemName
  readonly source: 'nftables' | 'openflow' | 'ovsdb' | 'kernel'
  readonly who: string
}

/** Reads the lines of one `nft monitor`, in text: its JSON does not say who made a transaction. */
export interface NftReader {
  /** The event that a line completes; null for any other line. */
  read(line: string): DriftEvent | null
}

/**
 * First come the changes of a transaction, then a line with who made it. Only one that touches a table of ours is an event; that of a probe
 * comes and goes with each question.
 */
export function nftReader(): NftReader {
  let tables = new Set<string>()
  return {
    read(line) {
      const [, family = '', table = ''] = /^(?:add|insert|replace|delete|destroy|flush) \w+ (\w+) (\S+)/.exec(line) ?? []
      if (isOwnTable(family, table) && !table.startsWith(PROBE_TABLE)) tables.add(`${family} ${table}`)
      const generation = /^# new generation \d+(?: by process (\d+) \((.*)\))?/.exec(line)
      if (!generation) return null
      const touched = [...tables].sort().join(', ')
      tables = new Set()
      if (touched === '') return null
      const [, pid, name] = generation
      const process = pid === undefined ? 'a process that has ended' : `process ${pid} (${name})`
      return { subsystem: 'nftables', source: 'nftables', who: `${process} changed table ${touched}` }
    },
  }
}

/**
 * What a line of `ip -N monitor link address route neigh rule` means: a device that went or went down, or a neighbor or route with our mark,
 * an address or a rule that went. The kernel does not say who did it.
 */
export function ipEvents(line: string): readonly DriftEvent[] {
  const gone = line.startsWith('Deleted ')
  const text = (gone ? line.slice('Deleted '.length) : line).trim()
  const events = (who: string, ...subsystems: readonly SubsystemName[]) =>
    subsystems.map((subsystem): DriftEvent => ({ subsystem, source: 'kernel', who }))
  const [, link, flags = ''] = /^\d+: ([^\s:@]+)(?:@[^\s:]+)?: <([^>]*)>/.exec(text) ?? []
  if (link !== undefined) {
    if (gone) return events(`interface ${link} was deleted`, 'nftables', 'neighbors', 'addresses', 'routes', 'rules')
    return flags.split(',').includes('UP') ? [] : events(`interface ${link} is down`, 'neighbors', 'routes')
  }
  if (!gone) return []
  const [, dev, address] = /^\d+: (\S+) +inet6? (\S+)/.exec(text) ?? []
  if (address !== undefined) return events(`somebody deleted address ${address} from ${dev}`, 'addresses')
  // Without -d the owner of a rule is not shown, and rules are few.
  if (/^\d+:\s/.test(text)) return events(`somebody deleted rule ${text.replace(/\s+/g, ' ')}`, 'rules')
  if (!text.split(' ').includes(String(OWN_PROTOCOL))) return []
  // A route begins with the number of its type, a neighbor with its address.
  return /^\d+ /.test(text)
    ? events(`somebody deleted route ${withoutType(text)}`, 'routes')
    : events(`somebody deleted neighbor ${text.split(' ').slice(0, 3).join(' ')}`, 'neighbors')
}

const withoutType = (route: string): string => route.replace(/^\d+ /, '')
