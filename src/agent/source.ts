import type { ExecOptions } from '../host/exec.js'
import { listFolder, readText } from '../host/files.js'
import { watchFiles } from '../host/folder-watch.js'
import { absolute, isFolder } from '../host/folders.js'
import type { Watch } from '../host/follow.js'
import { gitRepository, parseGitSource } from '../host/git.js'
import { type Problem, problem } from '../model/problem.js'
import { loadBundle } from './bundle.js'
import { type FolderContent, readBundleFolder } from './store.js'

/** What a source holds for a node. */
export interface Given extends FolderContent {
  /** The commit of a git source. */
  readonly revision: string | null
}

/** Where the bundle of a node comes from. */
export interface Source {
  /** As it was named. */
  readonly text: string
  /** What it holds now, or why that is no bundle. Fails with HostFault where it cannot be reached. */
  read(): Promise<Given | readonly Problem[]>
  /** Whether a revision came before another one; false where there is no telling, as of folders. Fails with HostFault. */
  precedes(revision: string | null, other: string | null): Promise<boolean>
  /** Says when it may hold something else. */
  watch(changed: () => void): Watch
}

/** Seconds between two looks: at a folder, whose changes inotify usually tells, and at a repository. */
const POLL = { folder: 5, git: 30 }

export interface SourceOptions {
  readonly node: string
  readonly stateDir: string
  /** Seconds between two looks. */
  readonly poll?: number
  /** Home of the user who runs the agent, for keys of git. */
  readonly home: string | null
  readonly exec: ExecOptions
}

/** The source that a text names: `git+URL#REF[:path]` or a folder, rendered `out` or that of the bundle; null for what looks like git and is not. */
export function openSource(text: string, options: SourceOptions): Source | null {
  return text.startsWith('git+') ? openGit(text, options) : openFolder(text, options)
}

function openFolder(text: string, { node, poll = POLL.folder }: SourceOptions): Source {
  const root = absolute(text)
  const below = `${root}/nodes/${node}`
  const folder = () => (readText(`${root}/bundle.json`) === null && isFolder(`${root}/nodes`) ? below : root)
  return {
    text,
    async read() {
      const listed = listFolder(folder()) ?? []
      if (!listed.some(({ name }) => name === 'bundle.json') || listed.some(({ plain }) => !plain)) {
        const refused = loadBundle(folder())
        if (!('manifest' in refused)) return refused
      }
      return {
        ...readBundleFolder(
          folder(),
          listed.map(({ name }) => name),
        ),
        revision: null,
      }
    },
    precedes: async () => false,
    watch: (changed) =>
      watchFiles(
        [root, `${root}/nodes`, below],
        [root, below].map((each) => `${each}/bundle.json`),
        poll * 1000,
        changed,
      ),
  }
}

function openGit(text: string, { node, stateDir, poll = POLL.git, home, exec }: SourceOptions): Source | null {
  const named = parseGitSource(text)
  if (!named) return null
  const repository = gitRepository(named, `${stateDir}/git`, home, exec)
  let last: { readonly revision: string; readonly found: Given | readonly Problem[] } | null = null
  const readAt = async (revision: string): Promise<Given | readonly Problem[]> => {
    const below = `nodes/${node}/`
    const found = await repository.read(revision, ['', below.slice(0, -1)])
    const named = found.filter(({ path }) => path.startsWith(below)).map(({ path, text }) => ({ path: path.slice(below.length), text }))
    const bare = found.filter(({ path }) => !path.includes('/'))
    const files = bare.some(({ path }) => path === 'bundle.json') ? bare : named
    if (files.length === 0) return [problem('InvalidBundle', { message: `commit ${revision} has no bundle of node ${node}` })]
    const index = files === named ? bare.find(({ path }) => path === 'index.json')?.text : undefined
    // A commit says nothing of when it was rendered; what is taken from it is the bundle of now.
    return { files, index: index ?? null, written: Date.now(), revision }
  }
  return {
    text,
    async read() {
      const revision = await repository.fetch()
      // A commit never changes.
      if (last?.revision !== revision) last = { revision, found: await readAt(revision) }
      return last.found
    },
    async precedes(revision, other) {
      return revision !== null && other !== null && revision !== other && (await repository.isAncestor(revision, other))
    },
    watch(changed) {
      const timer = setInterval(changed, poll * 1000)
      return { close: () => clearInterval(timer) }
    },
  }
}
