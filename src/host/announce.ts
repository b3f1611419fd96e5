import { setTimeout as sleep } from 'node:timers/promises'
import type { Exec } from './exec.js'
import { byWire, type Claim } from './probe.js'
import { send } from './wire.js'

/** Milliseconds after the first announcement at which it is repeated: a frame gets lost, and a station that was busy asks late. */
const AGAIN = [300, 1000]

/** Says on the wire of each address that it is here. Resolves when that is on its way. Fails with HostFault. */
export async function announce(exec: Exec, claims: readonly Claim[]): Promise<void> {
  for (const { wire, addresses } of byWire(claims)) await (await send(exec, wire, 'announcement', addresses)).within(0)
}

/**
 * Repeats what was announced a moment ago, after 0.3 and 1 seconds, unless the signal stops it: an address that the node gave back, or is
 * silenced for, must not be announced any more. Fails with HostFault.
 */
export async function announceAgain(exec: Exec, claims: readonly Claim[], signal?: AbortSignal): Promise<void> {
  let passed = 0
  for (const at of AGAIN) {
    try {
      await sleep(at - passed, undefined, signal && { signal })
    } catch {
      return
    }
    passed = at
    await announce(exec, claims)
  }
}
