import type { Change } from '../model/change.js'
import { GUARD_TABLE, PROBE_TABLE } from '../model/numbers.js'
import { nftables as language, type NftEntry, nftFile, nftObject, nftReader, replaceCommands, tableOf } from '../syntax/nftables.js'
import { once, recently } from '../syntax/recent.js'
import { type Exec, output } from './exec.js'
import type { Subsystem } from './subsystem.js'

/** Whether a table is that of a probe, which comes and goes beside what a pass compares. */
export const isProbeTable = (family: string, name: string): boolean => family === 'netdev' && name.startsWith(PROBE_TABLE)

/** Whether a table is egretta's: the guard's (seed 000), and every table whose name is `egretta` or begins with `egretta-`, but for probes. */
export const isOwnTable = (family: string, name: string): boolean =>
  (family === 'netdev' && name === GUARD_TABLE) || name === 'egretta' || (name.startsWith('egretta-') && !isProbeTable(family, name))

/** A table of the host's rule set. */
export interface NftTable {
  readonly family: string
  readonly name: string
}

/**
 * Every table of the host, in the order of nft. By a list of flowtables, which names all tables: to list tables, nft 1.0.6 reads everything that
 * is in them, which takes as long as to list that.
 */
export async function readTables(exec: Exec): Promise<readonly NftTable[]> {
  const listing = await output(exec, 'nft', ['list', 'flowtables'])
  return [...listing.matchAll(/^table (\S+) (\S+) \{/gm)].map(([, family = '', name = '']) => ({ family, name }))
}

/** Reads what a table was said to have. */
const reader = once((_table: string) => recently(nftReader()))

/**
 * nft tables, ours by name; other tables are not even read, and no name of theirs can clash. All changes are one transaction. A table
 * in which only elements change keeps its sets and counters, any other is replaced whole: deleted and made anew at one moment.
 */
export function hostNftables(exec: Exec): Subsystem<NftEntry> {
  const read = async (): Promise<readonly NftEntry[]> => {
    const entries: NftEntry[] = []
    for (const { family, name } of await readTables(exec)) {
      if (!isOwnTable(family, name)) continue
      const listed = reader(`${family} ${name}`)(await output(exec, 'nft', ['-j', 'list', 'table', family, name]))
      // JSON leaves out the device of a chain, the native listing has it (-t: without the elements of sets).
      const devices = devicesOf(family === 'netdev' ? await output(exec, 'nft', ['-t', 'list', 'table', family, name]) : '')
      for (const entry of listed) entries.push(withDevice(entry, devices))
    }
    return entries
  }
  return {
    language,
    observe: async () => ({ own: await read(), foreign: [] }),
    async apply(changes) {
      if (changes.length === 0) return
      // To replace a table whole, all of it must be known; to change elements, nothing else.
      const own = changes.every(isElement) ? [] : await read()
      const commands = transaction(own, changes)
      await output(exec, 'nft', ['-j', '-f', '-'], { input: nftFile(commands) })
    },
  }
}

/** Whether the kernel takes these entries, without loading them. */
export async function isLoadable(exec: Exec, entries: readonly NftEntry[]): Promise<boolean> {
  return (await exec('nft', ['-c', '-j', '-f', '-'], { input: language.print(entries) })).code === 0
}

/** Commands that make the changes: table by table, elements alone where that is enough. */
function transaction(own: readonly NftEntry[], changes: readonly Change<NftEntry>[]): readonly string[] {
  const byTable = new Map<string, Change<NftEntry>[]>()
  for (const change of changes) {
    const table = tableOf((change.entry ?? change.from) as NftEntry)
    const list = byTable.get(table) ?? []
    byTable.set(table, list)
    list.push(change)
  }
  return [...byTable].flatMap(([table, list]) => {
    if (list.every(isElement)) return list.flatMap(elementCommands)
    const target = new Map(own.filter((entry) => tableOf(entry) === table).map((entry) => [language.key(entry), entry]))
    for (const { key, entry } of list) {
      if (entry) target.set(key, entry)
      else target.delete(key)
    }
    if (target.size > 0) return replaceCommands([...target.values()])
    const [family = '', name = ''] = table.split(' ')
    return [command('delete', { kind: 'table', family, table: name })]
  })
}

const isElement = ({ entry, from }: Change<NftEntry>): boolean => (entry ?? from)?.kind === 'element'

/** An element that means something else is deleted and added: nft has no update of one. */
function elementCommands({ entry, from }: Change<NftEntry>): readonly string[] {
  return [...(from ? [command('delete', from)] : []), ...(entry ? [command('add', entry)] : [])]
}

const command = (verb: 'add' | 'delete', entry: NftEntry): string => JSON.stringify({ [verb]: nftObject(entry) })

/** Chain to the device of its hook, from the native listing; several devices stand as nft prints them. */
function devicesOf(listing: string): ReadonlyMap<string, string> {
  const devices = new Map<string, string>()
  let chain = ''
  for (const line of listing.split('\n')) {
    chain = /^\tchain (\S+) \{/.exec(line)?.[1] ?? chain
    const device = /^\t\ttype \S+ hook \S+ devices? (?:= )?(".*?"|\{.*?\}) priority/.exec(line)?.[1]
    if (device !== undefined) devices.set(chain, device.replace(/^"(.*)"$/, '$1'))
  }
  return devices
}

const withDevice = (entry: NftEntry, devices: ReadonlyMap<string, string>): NftEntry =>
  entry.kind === 'chain' && entry.hook ? { ...entry, hook: { ...entry.hook, dev: devices.get(entry.name) ?? entry.hook.dev } } : entry
