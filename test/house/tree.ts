import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The checkout. */
export const ROOT = join(import.meta.dirname, '..', '..')

const NOT_OURS = new Set(['node_modules', 'dist', 'out', 'coverage', '.git'])

/** Every file that a person or a generator of ours wrote, relative to the checkout, sorted. */
export function ownFiles(folder = ROOT): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !NOT_OURS.has(entry.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? ownFiles(path) : [relative(ROOT, path)]
    })
    .sort()
}
