import { readText } from '../host/files.js'
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
const link = (stateDir: string): string => `${stateDir}/applied`

/**
 * Copies the files of a bundle, `index` being that of the rendering that it is part of, or says why it is refused. Fails with HostFault where
 * it cannot be written.
 */
export function copyBundle(stateDir: string, node: string, files: readonly TextFile[], index: string | null): Copy | readonly Problem[] {
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
  return refusal(bundle, node) ?? { name, folder, bundle: bundle as Bundle }
}

function refusal(bundle: Bundle | readonly Problem[], node: string): readonly Problem[] | null {
  if (!('manifest' in bundle)) return bundle
  if (bundle.manifest.node === node) return null
  return [problem('WrongNode', { message: `the bundle is that of node ${bundle.manifest.node}, this is ${node}; nothing was changed` })]
}

/** Says that the host was brought to a copy. Others than it and `staying` go. Fails with HostFault. */
export function markApplied(stateDir: string, name: string, staying: readonly string[] = []): void {
  if (linkTarget(link(stateDir)) !== `bundles/${name}`) pointLink(link(stateDir), `bundles/${name}`)
  for (const other of namesIn(copies(stateDir))) {
    if (other !== name && !staying.includes(other)) removeFolder(`${copies(stateDir)}/${other}`)
  }
}

/** Keeps a copy of a bundle that was applied from its folder. Fails with HostFault; a folder that has changed since is not kept. */
export function keepApplied(stateDir: string, node: string, folder: string): void {
  const { files, index } = readBundleFolder(folder, namesIn(folder))
  const copy = copyBundle(stateDir, node, files, index)
  if ('bundle' in copy) markApplied(stateDir, copy.name)
}

/** The bundle to which the host was last brought; null where there is none, or none of this node. */
export function appliedCopy(stateDir: string, node: string): Copy | null {
  const name = /^bundles\/([0-9a-f]+)$/.exec(linkTarget(link(stateDir)) ?? '')?.[1]
  if (name === undefined || !isFolder(folderOf(stateDir, name, node))) return null
  const folder = folderOf(stateDir, name, node)
  const bundle = loadBundle(folder)
  return 'manifest' in bundle ? { name, folder, bundle } : null
}

/** The files of a bundle folder and the index of the rendering that it is part of, two folders up. */
export function readBundleFolder(
  folder: string,
  names: readonly string[],
): { readonly files: readonly TextFile[]; readonly index: string | null } {
  const files = names.flatMap((path) => {
    const text = readText(`${folder}/${path}`)
    return text === null ? [] : [{ path, text }]
  })
  return { files, index: readText(`${folder}/../../index.json`) }
}
