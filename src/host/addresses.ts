import { type Address, isGlobalUnicast, networkOf, nth, type Prefix, printPrefix, width } from '../model/address.js'
import type { Change } from '../model/change.js'
import { HOST_MASQUERADE, OWN_PROTOCOL } from '../model/numbers.js'
import { sysctlDevice } from '../plan/preflight-forwarding.js'
import { type HostAddress, addresses as language } from '../syntax/addresses.js'
import { SyntaxFault } from '../syntax/language.js'
import { batch } from './batch.js'
import { type Exec, HostFault, output } from './exec.js'
import { readText, removeFile, writeAtomic } from './files.js'
import { type LiveAddress, readLinks } from './links.js'
import type { Subsystem } from './subsystem.js'

/** Every address of the host. */
export const readAddresses = async (exec: Exec): Promise<readonly LiveAddress[]> =>
  (await readLinks(exec)).flatMap(({ addresses }) => addresses)

/**
 * Egress IPs and the host masquerade address. The mark of ours is a file in the state folder, in the language of addresses.json: written
 * before an address is added and after one is deleted, so that it never misses an address of ours. Where iproute2 can, an address carries
 * IFA_PROTO 230 too, which outlives the file and tells when somebody else put the address back as theirs. Any other address is foreign.
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
        // Whatever the file says: an address with a network of its own is never an egress IP, and of others only one is ours.
        const canBeOurs = isSingle(entry.address) || isHostMasquerade(entry.address)
        if (!canBeOurs || !(live.protocol ? live.protocol === OWN_PROTOCOL : ours.has(language.key(entry)))) foreign.push(entry)
        else own.push(altered === null ? entry : { ...entry, altered })
      }
      return { own, foreign }
    },
    async apply(changes) {
      if (changes.length === 0 && marked().size === 0) return
      // A mark without its address says nothing any more: somebody else may add that address tomorrow.
      const there = await readAddresses(exec)
      await refuseHeirs(exec, there, changes)
      const live = new Set(there.map(({ address, dev }) => language.key({ address, dev, for: null })))
      const before = new Map([...marked()].filter(([key]) => live.has(key)))
      const claimed = new Map(before)
      for (const { key, entry } of changes) if (entry) claimed.set(key, entry)
      mark(claimed)
      if (changes.length === 0) return
      const { made, fault } = await batch(exec, [], changes, await commands(exec))
      changes.forEach(({ op, key }, at) => {
        // An address that somebody else added first is theirs, even though it was claimed.
        if (op === 'delete' ? at < made : at >= made && !before.has(key)) claimed.delete(key)
      })
      mark(claimed)
      if (fault) throw fault
    },
  }
}

/**
 * Fails where others have further addresses in the network of an address that is to go: the kernel would delete those with it (secondary
 * addresses of IPv4), unless it is told to promote one of them.
 */
async function refuseHeirs(exec: Exec, live: readonly LiveAddress[], changes: readonly Change<HostAddress>[]): Promise<void> {
  const network = (prefix: Prefix) => printPrefix(networkOf(prefix))
  for (const { op, key, from } of changes) {
    const isFirst = live.some((each) => each.dev === from?.dev && !each.secondary && language.key({ ...each, for: null }) === key)
    if (op !== 'delete' || !from || !isFirst) continue
    const heir = live.find(({ dev, address, secondary }) => secondary && dev === from.dev && network(address) === network(from.address))
    const setting = `net.ipv4.conf.${sysctlDevice(from.dev)}.promote_secondaries`
    const settings = ['net.ipv4.conf.all.promote_secondaries', setting]
    if (!heir || (await output(exec, 'sysctl', ['-n', ...settings])).split('\n').includes('1')) continue
    const message = `${key}: the kernel would delete ${printPrefix(heir.address)} with it, which somebody else added to its network`
    throw new HostFault('CommandFailed', message, `Let it stay: sysctl -w ${setting}=1`)
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
async function commands(exec: Exec): Promise<(change: Change<HostAddress>) => string> {
  const protocol = (await takesProtocol(exec)) ? ` proto ${OWN_PROTOCOL}` : ''
  return ({ entry, from }) => {
    if (!entry) return `addr del ${words(from as HostAddress)}`
    const life = entry.address.address.family === 4 ? 'preferred_lft forever' : 'preferred_lft 0 nodad'
    return `addr ${from ? 'replace' : 'add'} ${words(entry)} scope global valid_lft forever ${life}${protocol}`
  }
}

/** Whether iproute2 sets and prints IFA_PROTO: 6.3 was the first. Those before 5.9 are numbered by a date. */
async function takesProtocol(exec: Exec): Promise<boolean> {
  const [, major = 0, minor = 0] = (/iproute2-(\d+)\.(\d+)/.exec(await output(exec, 'ip', ['-V'])) ?? []).map(Number)
  return major > 6 || (major === 6 && minor >= 3)
}

/** What somebody changed of an address of ours: a preferred IPv6 address is one that the host chooses as a source. */
const alteration = ({ address, preferred }: LiveAddress): string | null =>
  address.address.family === 6 && preferred !== 0 ? 'the host may choose it as a source' : null

const words = ({ address, dev }: HostAddress): string => `${address.address.text}/${address.length} dev ${dev}`

/** Whether an address is the host's in a masquerade subnet (seed 002): the second of its network. IPv4 has such subnets in link-local space. */
export const isHostMasquerade = (prefix: Prefix): boolean =>
  nth(prefix, HOST_MASQUERADE)?.value === prefix.address.value && (isGlobalUnicast(prefix.address) || isLinkLocal(prefix.address))

const isLinkLocal = ({ family, value }: Address): boolean => family === 4 && value >> 16n === 0xa9fen

/** Whether a prefix is one address alone, as every egress address is on a host. */
export const isSingle = ({ address, length }: Prefix): boolean => length === width(address.family)
