import type { Artefact } from '../model/bundle.js'
import type { Entry } from '../syntax/languages.js'

/**
 * A file of a bundle. Its entries are made, and its text is printed, when they are first read: most files of a large cluster are the same
 * before and after, and nobody reads them.
 */
export function artefact<E extends Entry>(
  path: string,
  phases: Artefact['phases'],
  print: (entries: readonly E[]) => string,
  make: () => readonly E[],
): Artefact {
  let made: readonly E[] | undefined
  let printed: string | undefined
  return {
    path,
    phases,
    get entries() {
      made ??= make()
      return made
    },
    get text() {
      printed ??= print(made ?? make())
      return printed
    },
  }
}
