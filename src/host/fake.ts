import type { Language } from '../syntax/language.js'
import { HostFault } from './exec.js'
import type { Observed, Subsystem } from './subsystem.js'

/** A subsystem in memory that holds the contract of the real ones. `fail` makes the next `apply` fail after that many changes. */
export interface FakeSubsystem<E> extends Subsystem<E> {
  foreign: readonly E[]
  fail: number | null
}

export function fakeSubsystem<E>(language: Language<E>, start: Partial<Observed<E>> = {}): FakeSubsystem<E> {
  const own = new Map((start.own ?? []).map((entry) => [language.key(entry), entry]))
  const fake: FakeSubsystem<E> = {
    language,
    foreign: start.foreign ?? [],
    fail: null,
    observe: async () => ({ own: [...own.values()], foreign: fake.foreign }),
    async apply(changes) {
      const upTo = fake.fail ?? changes.length
      for (const { key, entry } of changes.slice(0, upTo)) {
        if (entry) own.set(key, entry)
        else own.delete(key)
      }
      const failed = fake.fail !== null
      fake.fail = null
      if (failed) throw new HostFault('CommandFailed', `the change after the first ${upTo} failed`, 'Run again.')
    },
  }
  return fake
}
