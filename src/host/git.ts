import { join } from 'node:path'
import { createExec, type Exec, type ExecOptions, failure, HostFault, output } from './exec.js'
import { makeFolder } from './files.js'

/** A repository, and where in it to look. */
export interface GitSource {
  readonly url: string
  /** A branch, a tag or the whole name of a commit. */
  readonly ref: string
  /** Folder in the repository, without slashes around it; empty for all of it. */
  readonly path: string
}

/** A file of a commit. */
export interface GitFile {
  /** Below the folder that was asked for. */
  readonly path: string
  readonly text: string
}

const FETCH_WITHIN = 60_000
/** Without ext::, which runs commands, and whatever else a helper of git's may offer. */
const PROTOCOLS = 'file:git:http:https:ssh'

/** `git+URL#REF[:path]`; null when it is none. REF has no colon (git-check-ref-format(1)), so the first one ends it. */
export function parseGitSource(text: string): GitSource | null {
  const [, url = '', ref = '', path = ''] = /^git\+([^#\s]+)#([^#:\s]+)(?::(\S+))?$/.exec(text) ?? []
  const folder = path.replace(/^\/+|\/+$/g, '')
  const isFolder = folder === '' || folder.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  const isRef = /^[^-~^?*[\\][^~^?*[\\]*$/.test(ref) && !ref.includes('..') && !ref.includes('@{')
  return isRef && isFolder && /^(?:file|git|https?|ssh):\/\/[^-]/.test(url) ? { url, ref, path: folder } : null
}

/** A copy of a repository in a folder of the agent's. */
export interface GitRepository {
  /** Fetches, and says the commit that the reference stands for now. Fails with HostFault; then everything is as it was. */
  fetch(): Promise<string>
  /** The plain files of a commit in folders below that of the source, folders in them left out, sorted. */
  read(commit: string, folders: readonly string[]): Promise<readonly GitFile[]>
  /** Whether a commit is an ancestor of another one, or that one itself; false where one of them is not known here. */
  isAncestor(commit: string, of: string): Promise<boolean>
}

/** `home`: where git finds the keys and passwords of the user who runs the agent. */
export function gitRepository({ url, ref, path }: GitSource, folder: string, home: string | null, options: ExecOptions): GitRepository {
  const exec: Exec = createExec({
    ...options,
    env: {
      ...(home !== null && { HOME: home }),
      GIT_ALLOW_PROTOCOL: PROTOCOLS,
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: 'false',
      GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
    },
  })
  const repository = join(folder, 'repository')
  // What stands in the configuration of a repository that somebody else could write to would be run.
  const git = ['-c', 'core.hooksPath=/dev/null', '-c', 'gc.auto=0', '-c', 'core.fsmonitor=false', `--git-dir=${repository}`]
  const refuse = (message: string) =>
    new HostFault('CommandFailed', message, 'See whether the repository is reachable and has this reference; what was applied stays.')
  return {
    async fetch() {
      makeFolder(folder)
      await output(exec, 'git', ['init', '--quiet', '--bare', '--template=', repository])
      const fetched = await exec(
        'git',
        [...git, 'fetch', '--quiet', '--force', '--prune', '--no-tags', url, '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'],
        { timeout: FETCH_WITHIN },
      )
      if (fetched.code !== 0) throw refuse(`git fetch failed: ${fetched.stderr.trim().split('\n').slice(-1).join('')}`)
      for (const name of [`refs/heads/${ref}`, `refs/tags/${ref}`, ...(/^[0-9a-f]{40,64}$/.test(ref) ? [ref] : [])]) {
        const found = await exec('git', [...git, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])
        if (found.code === 0) return found.stdout.trim()
      }
      throw refuse(`the repository has no branch, tag or commit ${ref}`)
    },
    async read(commit, folders) {
      const files: GitFile[] = []
      for (const below of folders) {
        const parts = [path, below].filter((part) => part !== '')
        const listed = await exec('git', [...git, 'ls-tree', '-z', commit, '--', ...(parts.length > 0 ? [`${parts.join('/')}/`] : [])])
        if (listed.code !== 0) throw failure('git', ['ls-tree', commit], listed)
        for (const line of listed.stdout.split('\0')) {
          const [, id = '', whole = ''] = /^100(?:644|755) blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? []
          const name = whole.slice(whole.lastIndexOf('/') + 1)
          if (id !== '')
            files.push({
              path: below === '' ? name : `${below}/${name}`,
              text: await output(exec, 'git', [...git, 'cat-file', 'blob', id]),
            })
        }
      }
      return files.sort((a, b) => (a.path < b.path ? -1 : 1))
    },
    async isAncestor(commit, of) {
      return (await exec('git', [...git, 'merge-base', '--is-ancestor', commit, of])).code === 0
    },
  }
}
