import type { Problem } from '../model/problem.js'
import type { Needs } from '../plan/needs.js'
import { preflight } from '../plan/preflight.js'
import type { Exec } from './exec.js'
import { readFacts } from './facts.js'

/** What keeps this host from doing what its node needs, now. Nothing is changed. Fails with HostFault where the host cannot be read. */
export const hostPreflight = async (exec: Exec, node: string, needs: Needs): Promise<readonly Problem[]> =>
  preflight(needs, await readFacts(exec, node))
