import type { Artefact } from '../model/bundle.js'

/** A file of a bundle. Its text is printed when it is first read: most files of a large cluster are the same before and after, and nobody reads them. */
export function artefact(path: string, phases: Artefact['phases'], print: () => string): Artefact {
  let printed: string | undefined
  return {
    path,
    phases,
    get text() {
      printed ??= print()
      return printed
    },
  }
}
