import { listFolder, readText } from '../host/files.js'
import { isOwnTable } from '../host/nftables.js'
import { type Address, isGlobalUnicast, parseAddress, printPrefix, width } from '../model/address.js'
import { type BundleManifest, type Phase, parseManifest, sha256 } from '../model/bundle.js'
import { GUARD_COOKIE, GUARD_TABLE, OWN_COOKIE, OWN_COOKIE_MASK } from '../model/numbers.js'
import { type Problem, problem } from '../model/problem.js'
import { diff } from '../plan/diff.js'
import type { HostAddress } from '../syntax/addresses.js'
import { guardFlows, guardTable, type Silenced } from '../syntax/guard.js'
import { SyntaxFault } from '../syntax/language.js'
import { type Entry, languageOf, PATHS } from '../syntax/languages.js'
import type { Neighbor } from '../syntax/neighbors.js'
import { type NftEntry, nftables, tableOf } from '../syntax/nftables.js'
import { type Flow, openflow, portSymbols } from '../syntax/openflow.js'

/** Entries by subsystem. */
export interface Entries {
  readonly nftables: readonly NftEntry[]
  readonly openflow: readonly Flow[]
  readonly neighbors: readonly Neighbor[]
  readonly addresses: readonly HostAddress[]
}

export const NO_ENTRIES: Entries = { nftables: [], openflow: [], neighbors: [], addresses: [] }

/** OVN writes this bridge, with cookies that can look like ours: it is neither read nor written. */
export const OVN_BRIDGE = 'br-int'

/** A file of a bundle, read and parsed. */
interface BundleFile {
  readonly path: string
  readonly phases: readonly Phase[]
  readonly guard: boolean
  readonly entries: Entries
}

/** A bundle that was checked against its manifest and holds nothing that egretta does not render. */
export interface Bundle {
  readonly manifest: BundleManifest
  readonly files: readonly BundleFile[]
  /** The shutdown guard of the bundle; null when it has none. */
  readonly guard: BundleGuard | null
}

export interface BundleGuard {
  readonly silenced: readonly Silenced[]
  /** Name or symbol of the guarded device. */
  readonly device: string
  /** A version of nft whose form of the rules the bundle has. */
  readonly nftVersion: string
}

/** The bundle in a folder, or why it is refused. Every file is read once, and what was read is what is checked and used. */
export function loadBundle(folder: string): Bundle | readonly Problem[] {
  const refuse = (message: string, remedy?: string) => [problem('InvalidBundle', { message, ...(remedy !== undefined && { remedy }) })]
  const found = listFolder(folder)
  if (found === null || found.length === 0) {
    return refuse(
      `the bundle folder ${folder} ${found === null ? 'is not there' : 'is empty'}`,
      'Point --bundle to the folder of this node, out/nodes/NODE; a node that hosts nothing has files too.',
    )
  }
  if (!found.some(({ name }) => name === 'bundle.json')) {
    return refuse(`${folder} has no bundle.json`, 'Point --bundle to the folder of this node, out/nodes/NODE.')
  }
  const other = found.find(({ plain }) => !plain)
  if (other) return refuse(`${other.name} in ${folder} is a folder, a symbolic link or the like; a bundle holds plain files only`)
  const text = readText(`${folder}/bundle.json`)
  if (text === null) return refuse(`bundle.json went from ${folder} while it was read`)
  const { manifest, refusal } = parseManifest(text)
  if (manifest === null) return refuse(refusal)
  const listed = new Set(['bundle.json', ...manifest.files.map(({ path }) => path)])
  const extra = found.find(({ name }) => !listed.has(name))
  if (extra) return refuse(`bundle.json does not list the file ${extra.name}`)
  return readFiles(folder, manifest)
}

function readFiles(folder: string, manifest: BundleManifest): Bundle | readonly Problem[] {
  const files: BundleFile[] = []
  const problems: Problem[] = []
  const refuse = (message: string, remedy?: string) =>
    problems.push(problem('InvalidBundle', { message, ...(remedy !== undefined && { remedy }) }))
  for (const { path, sha256: sum, phases } of manifest.files) {
    const text = readText(`${folder}/${path}`)
    const written = languageOf(path)
    if (text === null) refuse(`the file ${path} of bundle.json is missing`)
    else if (sha256(text) !== sum) refuse(`the file ${path} is not the one that bundle.json describes: its SHA-256 differs`)
    else if (!written) refuse(`this agent does not know the file ${path}`, 'Use the agent of the egretta that rendered the bundle.')
    else {
      try {
        const guard = path.startsWith('guard.')
        const entries = written.language.parse(text)
        for (const fault of faults(written.subsystem, guard, entries, manifest.node)) refuse(`${path}: ${fault}`)
        files.push({ path, phases, guard, entries: { ...NO_ENTRIES, [written.subsystem]: entries } })
      } catch (error) {
        if (!(error instanceof SyntaxFault)) throw error
        refuse(`${path}: ${error.message}`)
      }
    }
  }
  if (problems.length > 0) return problems
  const guard = readGuard(files)
  return guard === undefined
    ? [problem('InvalidBundle', { message: `${PATHS.guardNftables} is not the guard that egretta renders for its addresses` })]
    : { manifest, files, guard }
}

/** What of the entries no rendered bundle has. An agent that runs as root does not take a file's word for it. */
function faults(subsystem: string, guard: boolean, entries: readonly Entry[], node: string): readonly string[] {
  switch (subsystem) {
    case 'openflow': {
      const flows = entries as readonly Flow[]
      const wrong = flows.flatMap((flow) => flowFault(flow, guard) ?? [])
      return wrong.length > 0 || !guard || isGuard(flows, node)
        ? wrong
        : ['these are not the guard flows that egretta renders for its addresses']
    }
    case 'nftables': {
      const isExpected = ({ family, table }: NftEntry) => isOwnTable(family, table) && (table === GUARD_TABLE) === guard
      const other = (entries as readonly NftEntry[]).find((entry) => !isExpected(entry))
      return other ? [`the table ${tableOf(other)} is not one of egretta's for this file`] : []
    }
    case 'neighbors':
      return (entries as readonly Neighbor[]).flatMap(({ dev }) => deviceFault(dev) ?? [])
    default:
      return (entries as readonly HostAddress[]).flatMap(({ address, dev }) => {
        const single = address.length === width(address.address.family) && isGlobalUnicast(address.address)
        return single ? (deviceFault(dev) ?? []) : [`${printPrefix(address)} is not a single global address, as an egress IP is`]
      })
  }
}

function flowFault({ bridge, cookie }: Flow, guard: boolean): string | undefined {
  if (bridge === OVN_BRIDGE) return `${OVN_BRIDGE} belongs to OVN; egretta has no flows on it`
  const own = guard ? cookie === GUARD_COOKIE : (cookie & OWN_COOKIE_MASK) === OWN_COOKIE && cookie >> 32n === 0n
  return own ? undefined : `the cookie 0x${cookie.toString(16)} is not one of egretta's for this file`
}

/** Whether flows are the guard of a bridge and nothing else: they drop announcements that come from patch ports, and nothing more. */
function isGuard(flows: readonly Flow[], node: string): boolean {
  const networks = new Set(flows.flatMap((flow) => portSymbols(flow).map(({ of }) => of)))
  const rendered = guardFlows(flows[0]?.bridge ?? '', node, announcedBy(flows), [...networks])
  return diff(openflow(''), flows, rendered).changes.length === 0
}

/** Addresses that guard flows let the node announce. */
const announcedBy = (flows: readonly Flow[]): readonly Address[] => {
  const texts = flows.flatMap(({ match }) => match.flatMap(([field, value]) => (field === 'arp_spa' || field === 'nd_target' ? value : [])))
  return [...new Set(texts)].flatMap((text) => parseAddress(text) ?? [])
}

/** Addresses that the guard of the bundle lets the node announce: its own. */
export const announcedAddresses = ({ files }: Bundle): readonly Address[] =>
  announcedBy(files.filter(({ guard }) => guard).flatMap(({ entries }) => entries.openflow))

/** The kernel's own rule for names of devices (dev_valid_name); a name also ends up as one word in a batch of ip(8). */
const deviceFault = (dev: string): string | undefined =>
  /^[^\s/:"'\\#]{1,15}$/.test(dev) && dev !== '.' && dev !== '..' ? undefined : `${JSON.stringify(dev)} is not the name of a network device`

/** The guard of a bundle; null when it has none, undefined when its file says anything but what the guard of its addresses says. */
function readGuard(files: readonly BundleFile[]): BundleGuard | null | undefined {
  const file = files.find(({ path }) => path === PATHS.guardNftables)
  if (!file) return null
  const entries = file.entries.nftables
  const silenced = silencedBy(entries)
  const device = entries.flatMap((entry) => (entry.kind === 'chain' ? (entry.hook?.dev ?? []) : []))[0]
  if (device === undefined) return undefined
  const nftVersion = JSON.stringify(entries).includes('"taddr"') ? '1.0.9' : '1.0.6'
  const { changes } = diff(nftables, entries, guardTable(silenced, device, nftVersion))
  return changes.length === 0 ? { silenced, device, nftVersion } : undefined
}

/** What a guard silences: the addresses in its sets. */
export const silencedBy = (entries: readonly NftEntry[]): readonly Silenced[] =>
  entries.flatMap((entry) => {
    if (entry.kind !== 'element' || entry.table !== GUARD_TABLE || typeof entry.value !== 'string') return []
    const address = parseAddress(entry.value)
    return address ? [{ address, for: entry.comment ?? 'silenced before' }] : []
  })

/** The entries of a phase, of the guard files or of the others. */
export function entriesFor(bundle: Bundle, phase: Phase, guard: boolean): Entries {
  const chosen = bundle.files.filter((file) => file.guard === guard && file.phases.includes(phase)).map(({ entries }) => entries)
  return {
    nftables: chosen.flatMap((entries) => entries.nftables),
    openflow: chosen.flatMap((entries) => entries.openflow),
    neighbors: chosen.flatMap((entries) => entries.neighbors),
    addresses: chosen.flatMap((entries) => entries.addresses),
  }
}

/** Every egress IP that the bundle knows, in any phase. */
export function egressAddresses(bundle: Bundle): readonly Address[] {
  const held = bundle.files.flatMap(({ entries }) => entries.addresses.map(({ address }) => address.address))
  return [...held, ...(bundle.guard?.silenced ?? []).map(({ address }) => address)]
}

/** Every bridge on which the bundle has flows, in any phase, sorted. */
export const bridgesOf = (bundle: Bundle): readonly string[] =>
  [...new Set(bundle.files.flatMap(({ path }) => /^(?:guard\.)?openflow\.(.+)\.flows$/.exec(path)?.[1] ?? []))].sort()
