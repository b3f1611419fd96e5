import { dateFile, readText, writeAtomic, writtenAt } from '../host/files.js'
import { isFolder, linkTarget, nameFolder, namesIn, pointLink, removeFolder, type TextFile, writeFolder } from '../host/folders.js'
import { sha256 } from '../model/bundle.js'
import { type Problem, problem } from '../model/problem.js'
import { type Bundle, loadBundle } from './bundle.js'

/**
 * Copies of bundles in the state folder: `bundles/NAME/nodes/NODE` and `bundles/NAME/index.json`, as `out` has them, and the link
 * `applied` to the one that the host was last brought to. What is applied is always such a copy, so nobody changes it meanwhile, and it can
 * be applied again when its source is gone.
 */
export interface Copy {
  readonly name: string
  /** The folder of the bundle in the copy. */
  readonly folder: string
  readonly bundle: Bundle
}

const copies = (stateDir: string): string => `${stateDir}/bundles`
const folderOf = (stateDir: string, name: string, node: string): string => `${copies(stateDir)}/${name}/nodes/${node}`
const revisionFile = (stateDir: string, name: string): string => `${copies(stateDir)}/${name}/revision`
const link = (stateDir: string): string => `${stateDir}/applied`

/**
 * Copies the files of a bundle, `index` being that of the rendering that it is part of, or says why it is refused. `written` is when the
 * bundle was, in milliseconds since 1970: the copy says so too. Fails with HostFault where it cannot be written.
 */
export function copyBundle(stateDir: string, node: string, { files, index, written }: FolderContent): Copy | readonly Problem[] {
  const name = sha256(
    JSON.stringify(
      [...files]
        .sort((a, b) => (a.path < b.path ? -1 : 1))
        .map(({ path, text }) => [path, text])
        .concat([['index', index ?? '']]),
    ),
  ).slice(0, 16)
  if (!isFolder(folderOf(stateDir, name, node))) {
    const part = `.${name}`
    writeFolder(`${copies(stateDir)}/${part}`, [
      ...files.map(({ path, text }) => ({ path: `nodes/${node}/${path}`, text })),
      ...(index === null ? [] : [{ path: 'index.json', text: index }]),
    ])
    const refused = refusal(loadBundle(folderOf(stateDir, part, node)), node)
    if (refused) {
      removeFolder(`${copies(stateDir)}/${part}`)
      return refused
    }
    nameFolder(`${copies(stateDir)}/${part}`, `${copies(stateDir)}/${name}`)
  }
  const folder = folderOf(stateDir, name, node)
  const bundle = loadBundle(folder)
  if ('manifest' in bundle) dateFile(`${folder}/bundle.json`, written)
  return refusal(bundle, node) ?? { name, folder, bundle: bundle as Bundle }
}

function refusal(bundle: Bundle | readonly Problem[], node: string): readonly Problem[] | null {
  if (!('manifest' in bundle)) return bundle
  if (bundle.manifest.node === node) return null
  return [problem('WrongNode', { message: `the bundle is that of node ${bundle.manifest.node}, this is ${node}; nothing was changed` })]
}

/**
 * Says that the host was brought to a copy, which `revision` of a repository has; null for none. Others than it and `staying` go. Fails with
 * HostFault.
 */
export function markApplied(stateDir: string, name: string, revision: string | null, staying: readonly string[] = []): void {
  if (revision !== null && revision !== readText(revisionFile(stateDir, name))) writeAtomic(revisionFile(stateDir, name), revision)
  if (linkTarget(link(stateDir)) !== `bundles/${name}`) pointLink(link(stateDir), `bundles/${name}`)
  for (const other of namesIn(copies(stateDir))) {
    if (other !== name && !staying.includes(other)) removeFolder(`${copies(stateDir)}/${other}`)
  }
}

/** Keeps a copy of a bundle that was applied from its folder. Fails with HostFault; a folder that has changed since is not kept. */
export function keepApplied(stateDir: string, node: string, folder: string): void {
  const copy = copyBundle(stateDir, node, readBundleFolder(folder, namesIn(folder)))
  if ('bundle' in copy) markApplied(stateDir, copy.name, null)
}

/** The bundle to which the host was last brought; null where there is none, or none of this node. */
export function appliedCopy(stateDir: string, node: string): Copy | null {
  const name = /^bundles\/([0-9a-f]+)$/.exec(linkTarget(link(stateDir)) ?? '')?.[1]
  if (name === undefined || !isFolder(folderOf(stateDir, name, node))) return null
  const folder = folderOf(stateDir, name, node)
  const bundle = loadBundle(folder)
  return 'manifest' in bundle ? { name, folder, bundle } : null
}

/** The revision of a repository that the host was last brought to; null where that was none. Fails with HostFault. */
export function appliedRevision(stateDir: string, node: string): string | null {
  const copy = appliedCopy(stateDir, node)
  return copy && readText(revisionFile(stateDir, copy.name))
}

/** A bundle as it stands in a folder or a repository. */
export interface FolderContent {
  readonly files: readonly TextFile[]
  /** `index.json` of the rendering. */
  readonly index: string | null
  /** When the bundle was written, in milliseconds since 1970. */
  readonly written: number
}

/** The files of a bundle folder and the index of the rendering that it is part of, two folders up. */
export function readBundleFolder(folder: string, names: readonly string[]): FolderContent {
  const files = names.flatMap((path) => {
    const text = readText(`${folder}/${path}`)
    return text === null ? [] : [{ path, text }]
  })
  return { files, index: readText(`${folder}/../../index.json`), written: writtenAt(`${folder}/bundle.json`) ?? Date.now() }
}
