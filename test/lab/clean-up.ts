/**
 * What a run leaves behind goes when the process ends: by itself, by an exception, by Ctrl-C, SIGTERM or SIGHUP.
 * The last that came goes first. Only SIGKILL leaves something.
 */
const pending: (() => void)[] = []
let watching = false

/** Runs `undo` when the process ends. Returns what takes it off the list. `undo` must be synchronous. */
export function atExit(undo: () => void): () => void {
  watch()
  pending.push(undo)
  return () => {
    const at = pending.indexOf(undo)
    if (at >= 0) pending.splice(at, 1)
  }
}

/** Leaves everything standing. */
export function keepAll(): void {
  pending.length = 0
}

/** Undoes everything now. One that fails does not stop the others. */
export function undoAll(): void {
  for (let undo = pending.pop(); undo; undo = pending.pop()) {
    try {
      undo()
    } catch (fault) {
      console.error(fault instanceof Error ? fault.message : fault)
    }
  }
}

function watch(): void {
  if (watching) return
  watching = true
  process.on('exit', undoAll)
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.on(signal, () => {
      undoAll()
      process.exit(status)
    })
  }
}
