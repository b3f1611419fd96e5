import type { Exec } from './exec.js'
import { byWire, type Claim } from './probe.js'
import { send } from './wire.js'

/** Says on the wire of each address that it is here. Resolves when that is on its way. Fails with HostFault. */
export async function announce(exec: Exec, claims: readonly Claim[]): Promise<void> {
  for (const { wire, addresses } of byWire(claims)) await (await send(exec, wire, 'announcement', addresses)).within(0)
}
