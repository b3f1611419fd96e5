import { isSingle } from '../host/addresses.js'
import { listFolder, readText } from '../host/files.js'
import type { Address } from '../model/address.js'
import { type BundleManifest, type Phase, parseManifest, sha256 } from '../model/bundle.js'
import { type Problem, problem } from '../model/problem.js'
import { SyntaxFault } from '../syntax/language.js'
import { languageOf, PATHS } from '../syntax/languages.js'
import { nftReader } from '../syntax/nftables.js'
import { once, recently } from '../syntax/recent.js'
import { type Entries, NO_ENTRIES, together } from './entries.js'
import { faultsOf } from './faults.js'
import { announcedBy, type BundleGuard, readGuard } from './guard.js'

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

/** The bundle in a folder, or why it is refused. Every file is read once, and what was read is what is checked and used. */
export function loadBundle(folder: string): Bundle | readonly Problem[] {
  const refuse = (message: string, remedy?: string) => [problem('InvalidBundle', { message, ...(remedy !== undefined && { remedy }) })]
  const found = listFolder(folder)
  if (found === null || found.length === 0) {
    return refuse(
      `the bundle folder ${folder} ${found === null ? 'is not there' : 'is empty'}`,
      'Name the folder of this node, out/nodes/NODE; a node that hosts nothing has files too.',
    )
  }
  if (!found.some(({ name }) => name === 'bundle.json')) {
    return refuse(`${folder} has no bundle.json`, 'Name the folder of this node, out/nodes/NODE.')
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

/** What a file holds; `faults` in sentences. */
interface Content {
  readonly guard: boolean
  readonly entries: Entries
  readonly faults: readonly string[]
}

const digestOf = once((_path: string) => recently(sha256))

/** Reads the file of a path and a node (JSON). Fails with SyntaxFault. */
const contentOf = once((place: string) => {
  const [path, node] = JSON.parse(place) as [string, string]
  const guard = path.startsWith('guard.')
  const written = languageOf(path)
  const read = written?.subsystem === 'nftables' ? nftReader() : written?.language.parse
  return recently((text): Content => {
    if (!written || !read) return { guard, entries: NO_ENTRIES, faults: [] }
    const entries = read(text)
    return { guard, entries: { ...NO_ENTRIES, [written.subsystem]: entries }, faults: faultsOf(written.subsystem, guard, entries, node) }
  })
})

const guardIn = once(readGuard, new WeakMap<Entries['nftables'], BundleGuard | null>())

function readFiles(folder: string, manifest: BundleManifest): Bundle | readonly Problem[] {
  const files: BundleFile[] = []
  const problems: Problem[] = []
  const refuse = (message: string, remedy?: string) =>
    problems.push(problem('InvalidBundle', { message, ...(remedy !== undefined && { remedy }) }))
  for (const { path, sha256: sum, phases } of manifest.files) {
    const text = readText(`${folder}/${path}`)
    if (text === null) refuse(`the file ${path} of bundle.json is missing`)
    else if (digestOf(path)(text) !== sum) refuse(`the file ${path} is not the one that bundle.json describes: its SHA-256 differs`)
    else if (languageOf(path) === null)
      refuse(`this agent does not know the file ${path}`, 'Use the agent of the egretta that rendered the bundle.')
    else {
      try {
        const { guard, entries, faults } = contentOf(JSON.stringify([path, manifest.node]))(text)
        for (const fault of faults) refuse(`${path}: ${fault}`)
        files.push({ path, phases, guard, entries })
      } catch (error) {
        if (!(error instanceof SyntaxFault)) throw error
        refuse(`${path}: ${error.message}`)
      }
    }
  }
  if (problems.length > 0) return problems
  const file = files.find(({ path }) => path === PATHS.guardNftables)
  const guard = file ? guardIn(file.entries.nftables) : null
  return file && !guard
    ? [problem('InvalidBundle', { message: `${PATHS.guardNftables} is not the guard that egretta renders for its addresses` })]
    : { manifest, files, guard }
}

/** Addresses that the guard of the bundle lets the node announce: its own. */
export const announcedAddresses = ({ files }: Bundle): readonly Address[] =>
  announcedBy(files.filter(({ guard }) => guard).flatMap(({ entries }) => entries.openflow.filter((entry) => 'cookie' in entry)))

const ENTRIES = new WeakMap<Bundle, Map<string, Entries>>()

/** The entries of a phase, of the guard files or of the others. */
export function entriesFor(bundle: Bundle, phase: Phase, guard: boolean): Entries {
  const found = ENTRIES.get(bundle) ?? new Map<string, Entries>()
  ENTRIES.set(bundle, found)
  const make = () =>
    together(bundle.files.filter((file) => file.guard === guard && file.phases.includes(phase)).map(({ entries }) => entries))
  return once(make, found)(`${phase} ${guard}`)
}

/** Every egress IP that the bundle knows, in any phase, of whatever interface. The host masquerade address has a network, an egress IP never. */
export function egressAddresses({ files, guard }: Bundle): readonly Address[] {
  const held = files.flatMap(({ entries }) => entries.addresses.flatMap(({ address }) => (isSingle(address) ? address.address : [])))
  const silenced = guard ? [...guard.primary.silenced, ...guard.secondary.silenced] : []
  return [...held, ...silenced.map(({ address }) => address)]
}

/** Every bridge on which the bundle has flows, in any phase, sorted. */
export const bridgesOf = (bundle: Bundle): readonly string[] =>
  [...new Set(bundle.files.flatMap(({ path }) => /^(?:guard\.)?openflow\.(.+)\.(?:flows|ports\.json)$/.exec(path)?.[1] ?? []))].sort()
