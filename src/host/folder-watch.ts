import { type FSWatcher, statSync, watch as watchFolder } from 'node:fs'
import type { Watch } from './follow.js'

/**
 * Says when something in one of the folders may have changed: by inotify, and, because that sees neither network file systems nor the other
 * end of a symbolic link, by looking every `poll` milliseconds whether one of `files` is another one. What is not there may come later.
 */
export function watchFiles(folders: readonly string[], files: readonly string[], poll: number, changed: () => void): Watch {
  const watchers = new Map<string, FSWatcher>()
  const attach = () => {
    for (const folder of folders) {
      if (watchers.has(folder)) continue
      try {
        const detach = () => {
          watchers.get(folder)?.close()
          watchers.delete(folder)
        }
        const watcher = watchFolder(folder, { persistent: false }, (event) => {
          // Renamed: this may have become the watch of a folder that went.
          if (event === 'rename') detach()
          changed()
          attach()
        })
        watcher.on('error', detach)
        watchers.set(folder, watcher)
      } catch {
        // Not there, or no more watches to be had; the look at the files is left.
      }
    }
  }
  const look = () => files.map(identity).join('\n')
  let before = look()
  attach()
  const timer = setInterval(() => {
    attach()
    const now = look()
    if (now === before) return
    before = now
    changed()
  }, poll)
  return {
    close() {
      clearInterval(timer)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

function identity(file: string): string {
  try {
    const { dev, ino, size, mtimeMs } = statSync(file)
    return `${dev} ${ino} ${size} ${mtimeMs}`
  } catch {
    return ''
  }
}
