import { createExec } from '../host/exec.js'
import { nftables } from '../syntax/nftables.js'
import { loadBundle } from './bundle.js'
import { byOwnership, withoutMissingHook } from './goals.js'
import type { Request } from './run.js'
import { look } from './sight.js'

/**
 * The nft guard that a node loads when it leaves now, as commands for `nft -j -f`; null where there is nothing to silence, or where the
 * agent does not manage nftables. Fails with HostFault where the host cannot be read.
 */
export async function prepareGuard(request: Request): Promise<string | null> {
  const bundle = request.loaded ?? loadBundle(request.bundle)
  if (!('manifest' in bundle)) return null
  const exec = createExec(request.exec)
  const { goals } = await look({ ...request, phase: 'shutdown' }, bundle, exec, null)
  const [guard] = goals
  if (!guard?.entries.nftables.some(({ kind }) => kind === 'chain')) return null
  const { goal } = await withoutMissingHook(exec, byOwnership(bundle, guard)[0])
  return goal.subsystems.includes('nftables') ? nftables.print(goal.entries.nftables) : null
}
