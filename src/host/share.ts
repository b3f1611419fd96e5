import type { Exec, Outcome } from './exec.js'

/** Programs that only read, each asked once for one thing however often a pass looks. */
export interface SharedReads {
  readonly exec: Exec
  /** To be called when the host was, or may have been, changed: what is asked for next is read anew. */
  forget(): void
}

export function shareReads(exec: Exec): SharedReads {
  const said = new Map<string, Promise<Outcome>>()
  return {
    exec(command, args, options) {
      const key = JSON.stringify([command, args, options])
      const found = said.get(key) ?? exec(command, args, options)
      said.set(key, found)
      return found
    },
    forget: () => said.clear(),
  }
}
