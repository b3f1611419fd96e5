/** Rings once at the earliest time that was asked for; who waits gets it. Times are milliseconds from now. */
export interface Alarm {
  /** Rings no later than this. */
  within(milliseconds: number): void
  /** Resolves when it rings; times that were asked for before are forgotten then. */
  rung(): Promise<void>
  /** Rings now, and whenever somebody waits from now on. */
  stop(): void
}

export function createAlarm(): Alarm {
  let timer: NodeJS.Timeout | undefined
  let due = Number.POSITIVE_INFINITY
  let stopped = false
  let wake: (() => void) | null = null
  let ringing = false
  const ring = () => {
    clearTimeout(timer)
    due = Number.POSITIVE_INFINITY
    if (wake) {
      wake()
      wake = null
    } else ringing = true
  }
  return {
    within(milliseconds) {
      const at = performance.now() + milliseconds
      if (stopped || at >= due) return
      clearTimeout(timer)
      due = at
      timer = setTimeout(ring, milliseconds)
    },
    rung: () =>
      new Promise((resolve) => {
        if (ringing || stopped) {
          ringing = false
          resolve()
        } else wake = resolve
      }),
    stop() {
      stopped = true
      ring()
    },
  }
}
