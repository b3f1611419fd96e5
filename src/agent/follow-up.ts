import { announce } from '../host/announce.js'
import type { Exec } from '../host/exec.js'
import { type Claim, clock, fallsSilent, pause } from '../host/probe.js'
import { faultProblem } from './reconcile.js'
import type { Report } from './run.js'

/**
 * What goes on between passes about addresses that move. None of it runs while a pass does: an address that the pass gives back must not be
 * announced any more, and two probes at a time would hear each other's answers.
 */
export interface FollowUp {
  /** Begins again after a pass. */
  follow(report: Report): void
  /** Ends for now; resolves when nothing runs any more. To be called before each pass. */
  rest(): Promise<void>
  /** Resolves when an address that the node waits for may be claimed by another pass; at once where it waits for none. */
  turn(): Promise<void>
  /** Resolves when everything was announced as often as it should be. */
  announced(): Promise<void>
}

/** An announcement is repeated, because a frame gets lost and a station that was busy asks late: seconds from one time to the next. */
const AGAIN = [0.3, 0.7]
/** Where nobody can be asked just now. */
const RETRY = 1_000

interface Spoken {
  readonly claim: Claim
  /** How often it was repeated. */
  readonly times: number
  /** When it is to be repeated, by the clock of the host. */
  readonly at: number
}

/** What is to be said again after it was said `times` times more than once, all of it at one moment. */
function repeated(claims: readonly Claim[], times: number): readonly Spoken[] {
  const wait = AGAIN[times]
  const at = clock() + (wait ?? 0)
  return wait === undefined ? [] : claims.map((claim) => ({ claim, times, at }))
}

/** `wake` is called when another pass may claim an address. */
export function createFollowUp(exec: Exec, wake: () => void = () => {}): FollowUp {
  let spoken: readonly Spoken[] = []
  let stopper = new AbortController()
  let [looking, speaking]: [Promise<void>, Promise<void>] = [Promise.resolve(), Promise.resolve()]

  const speak = async (signal: AbortSignal): Promise<void> => {
    while (spoken.length > 0) {
      const next = Math.min(...spoken.map(({ at }) => at))
      await pause(Math.max(0, next - clock()) * 1000, signal)
      if (signal.aborted) return
      const now = spoken.filter(({ at }) => at <= next)
      const claims = now.map(({ claim }) => claim)
      spoken = [...spoken.filter(({ at }) => at > next), ...repeated(claims, (now[0]?.times ?? 0) + 1)]
      await orLater(announce(exec, claims))
    }
  }
  const lookOut = async ({ handover }: Report, signal: AbortSignal): Promise<void> => {
    if (!handover || handover.waiting.length === 0) return
    if (!(await orLater(fallsSilent(exec, handover.waiting, handover.due, signal)))) await pause(RETRY, signal)
    if (!signal.aborted) wake()
  }
  return {
    follow(report) {
      stopper = new AbortController()
      const gone = new Set(
        report.changes.flatMap(({ op, from }) => (op === 'delete' && from && 'address' in from ? from.address.address.text : [])),
      )
      const stays = spoken.filter(({ claim }) => !gone.has(claim.address.text))
      spoken = [...stays, ...repeated(report.handover?.claimed ?? [], 0)]
      looking = lookOut(report, stopper.signal)
      speaking = speak(stopper.signal)
    },
    async rest() {
      stopper.abort()
      await Promise.all([looking, speaking])
    },
    turn: () => looking,
    announced: () => speaking,
  }
}

/** Whether it went well; what the host refuses the next pass says. */
async function orLater(work: Promise<void>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    faultProblem(error)
    return false
  }
}
