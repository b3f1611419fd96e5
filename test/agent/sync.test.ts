import { describe, expect, it, vi } from 'vitest'
import type { Report } from '../../src/agent/run.js'
import { createSync } from '../../src/agent/sync.js'
import { type Exec, HostFault } from '../../src/host/exec.js'

const report = (exitCode: Report['exitCode']): Report => ({ node: 'a', phase: 'startup', changes: [], pending: [], problems: [], exitCode })
const never: Exec = () => new Promise(() => {})
const nobody = [() => {}, () => {}] as const
const answers = (...codes: readonly number[]): Exec => {
  const left = [...codes]
  return async () => ({ code: left.shift() ?? 1, stdout: '', stderr: '' })
}

describe('a node that starts', () => {
  it('may speak when its entries have been there for the time that was asked for', () => {
    const sync = createSync({ settle: 5_000, check: null }, never, ...nobody)
    expect(sync.after(report(0), 1_000)).toBe(5_000)
    expect(sync.after(report(0), 4_000)).toBe(2_000)
    expect(sync.after(report(0), 6_000)).toBe(0)
  })

  it('begins to count anew after a pass that failed', () => {
    const sync = createSync({ settle: 5_000, check: null }, never, ...nobody)
    sync.after(report(0), 0)
    expect(sync.after(report(1), 4_000)).toBe(null)
    expect(sync.after(report(0), 5_000)).toBe(5_000)
  })

  it('does not wait for ever for what waits itself', () => {
    const sync = createSync({ settle: 0, check: null }, never, ...nobody)
    expect(sync.after(report(4), 0)).toBe(30_000)
    expect(sync.after(report(0), 10_000), 'it came').toBe(0)
    expect(sync.after(report(4), 30_000)).toBe(0)
  })

  it('asks its check once a second, one at a time, and believes it alone', async () => {
    const checked = vi.fn()
    const exec = vi.fn(answers(1, 0))
    const sync = createSync({ settle: 0, check: ['synced', '--now'] }, exec, checked, () => {})
    expect(sync.after(report(0), 0)).toBe(1_000)
    expect(sync.after(report(0), 500)).toBe(1_000)
    await vi.waitFor(() => expect(exec).toHaveBeenCalledTimes(1))
    expect(checked).not.toHaveBeenCalled()
    sync.after(report(0), 1_000)
    await vi.waitFor(() => expect(checked).toHaveBeenCalledTimes(1))
    expect(exec).toHaveBeenLastCalledWith('synced', ['--now'], { timeout: 10_000 })
    expect(sync.after(report(1), 1_500), 'a pass that fails is no start').toBe(null)
    expect(sync.after(report(4), 2_000)).toBe(0)
  })

  it('does not start a second check while one hangs, and says why one does not run', async () => {
    const hanging = vi.fn(never)
    const first = createSync({ settle: 0, check: ['hangs'] }, hanging, ...nobody)
    for (const time of [0, 2_000, 4_000]) expect(first.after(report(0), time)).toBe(1_000)
    expect(hanging).toHaveBeenCalledTimes(1)
    const missing: Exec = async () => {
      throw new HostFault('MissingTool', 'gone is not installed', 'Install it.')
    }
    const failed = vi.fn()
    const second = createSync({ settle: 0, check: ['gone'] }, missing, () => {}, failed)
    for (const time of [0, 1_000]) {
      second.after(report(0), time)
      await new Promise(setImmediate)
    }
    expect(failed.mock.calls).toEqual([[expect.objectContaining({ code: 'MissingTool' })]])
  })
})
