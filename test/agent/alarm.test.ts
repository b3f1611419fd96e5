import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAlarm } from '../../src/agent/alarm.js'

describe('an alarm', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })
  const hear = (alarm: ReturnType<typeof createAlarm>) => {
    const rung = vi.fn()
    void alarm.rung().then(rung)
    return rung
  }

  it('rings once at the earliest of the times, and keeps the ring for who comes later', async () => {
    const alarm = createAlarm()
    const first = hear(alarm)
    for (const time of [500, 50, 200]) alarm.within(time)
    await vi.advanceTimersByTimeAsync(49)
    expect(first).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(first).toHaveBeenCalledTimes(1)
    const second = hear(alarm)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(second, 'what was asked for before is forgotten').not.toHaveBeenCalled()
    alarm.within(0)
    await vi.advanceTimersByTimeAsync(0)
    expect(second).toHaveBeenCalledTimes(1)
    alarm.within(10)
    await vi.advanceTimersByTimeAsync(20)
    const third = hear(alarm)
    await vi.advanceTimersByTimeAsync(0)
    expect(third).toHaveBeenCalledTimes(1)
  })

  it('lets nobody wait once it is stopped', async () => {
    const alarm = createAlarm()
    const first = hear(alarm)
    alarm.stop()
    await vi.advanceTimersByTimeAsync(0)
    expect(first).toHaveBeenCalledTimes(1)
    const second = hear(alarm)
    await vi.advanceTimersByTimeAsync(0)
    expect(second).toHaveBeenCalledTimes(1)
  })
})
