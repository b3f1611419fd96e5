import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Subsystem } from '../../src/host/subsystem.js'
import { diff } from '../../src/plan/diff.js'

/** One subsystem on a host, or its fake, and somebody else who works on that host. */
export interface Bench<E> {
  readonly subsystem: Subsystem<E>
  /** Everything on the host that is not ours, as text; not equal means not untouched. */
  foreign(): Promise<string>
  /** Somebody else makes this entry, without our mark. Null where nothing of others can have a key of ours. */
  readonly plant: ((entry: E) => Promise<void>) | null
  close(): void
}

/** Entries to play with. All keys differ but that of `changed`. */
export interface Samples<E> {
  /** Whole and loadable by themselves, in either selection. */
  readonly some: readonly E[]
  readonly more: readonly E[]
  /** `more` in which something means something else; null where entries have no meaning beside their key. */
  readonly changed: readonly E[] | null
  /** What somebody else makes, and what has the same key and another meaning. */
  readonly theirs: { readonly entry: E; readonly other: E | null } | null
}

/** The contract of a subsystem (`host/subsystem.ts`). */
export function contract<E>(name: string, samples: Samples<E>, open: () => Promise<Bench<E>>): void {
  describe(name, () => {
    let bench: Bench<E>
    beforeAll(async () => {
      bench = await open()
    })
    afterAll(() => bench?.close())

    const differences = async (desired: readonly E[]) => {
      const { own, foreign } = await bench.subsystem.observe()
      return diff(bench.subsystem.language, desired, own, foreign)
    }
    const reach = async (desired: readonly E[]) => {
      const { changes, conflicts } = await differences(desired)
      expect(conflicts).toEqual([])
      await bench.subsystem.apply(changes)
      expect(await differences(desired)).toEqual({ changes: [], conflicts: [] })
      return changes
    }
    const keys = (entries: readonly E[]) => entries.map((entry) => bench.subsystem.language.key(entry)).sort()

    it('holds nothing of ours at first', async () => {
      expect((await bench.subsystem.observe()).own).toEqual([])
    })

    it('holds what was applied, and the second plan is empty', async () => {
      const before = await bench.foreign()
      const changes = await reach(samples.some)
      expect(changes.map(({ op }) => op)).toEqual(samples.some.map(() => 'add'))
      expect(keys((await bench.subsystem.observe()).own)).toEqual(keys(samples.some))
      expect(await bench.foreign()).toBe(before)
    })

    it('applies nothing without a change', async () => {
      const before = await bench.subsystem.observe()
      await bench.subsystem.apply([])
      expect(await bench.subsystem.observe()).toEqual(before)
    })

    it('goes from any of its states to any other', async () => {
      const before = await bench.foreign()
      for (const desired of [samples.more, samples.some, [], samples.more, samples.changed ?? samples.some, samples.more])
        await reach(desired)
      expect(await bench.foreign()).toBe(before)
    })

    it('updates an entry that means something else, and that one only', async () => {
      if (!samples.changed) return
      await reach(samples.more)
      const { changes } = await differences(samples.changed)
      expect(changes.map(({ op }) => op)).toContain('update')
      expect(changes.length).toBeLessThan(samples.changed.length)
      await reach(samples.changed)
    })

    it('puts back what was there', async () => {
      await reach(samples.some)
      const before = (await bench.subsystem.observe()).own
      await reach(samples.changed ?? samples.more)
      const now = (await bench.subsystem.observe()).own
      await bench.subsystem.apply(diff(bench.subsystem.language, before, now).changes)
      expect(keys((await bench.subsystem.observe()).own)).toEqual(keys(before))
      expect((await differences(samples.some)).changes).toEqual([])
    })

    it('leaves what is not ours as it was when it removes everything of ours', async () => {
      const before = await bench.foreign()
      await reach([])
      expect((await bench.subsystem.observe()).own).toEqual([])
      expect(await bench.foreign()).toBe(before)
    })

    it('takes an entry of others with the same meaning as it is, and never for its own', async () => {
      if (!samples.theirs || !bench.plant) return
      const { entry } = samples.theirs
      await bench.plant(entry)
      const before = await bench.foreign()
      expect(await reach([...samples.some, entry])).toHaveLength(samples.some.length)
      expect(keys((await bench.subsystem.observe()).own)).toEqual(keys(samples.some))
      await reach([])
      expect(await bench.foreign()).toBe(before)
    })

    it('writes nothing over an entry of others that means something else', async () => {
      if (!samples.theirs?.other || !bench.plant) return
      const before = await bench.foreign()
      const { changes, conflicts } = await differences([samples.theirs.other])
      expect(changes).toEqual([])
      expect(conflicts.map(({ key }) => key)).toEqual(keys([samples.theirs.other]))
      expect(await bench.foreign()).toBe(before)
    })
  })
}
