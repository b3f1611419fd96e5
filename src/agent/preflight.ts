import { isSingle } from '../host/addresses.js'
import type { Exec } from '../host/exec.js'
import { hostPreflight } from '../host/preflight.js'
import type { Phase } from '../model/bundle.js'
import type { Change } from '../model/change.js'
import type { Problem } from '../model/problem.js'
import { needsOf } from '../plan/needs.js'
import type { Entry } from '../syntax/languages.js'
import { type Bundle, bridgesOf, entriesFor } from './bundle.js'

/**
 * What keeps this host from doing what the bundle asks of its secondary interfaces; nothing where the changes add nothing there. Fails with
 * HostFault where the host cannot be read.
 */
export async function preflightProblems(
  exec: Exec,
  bundle: Bundle,
  phase: Phase,
  changes: readonly Change<Entry>[],
): Promise<readonly Problem[]> {
  const bridges = new Set(bridgesOf(bundle))
  if (!changes.some(({ entry }) => entry && isSecondary(entry, bridges))) return []
  const { node, ownership = {} } = bundle.manifest
  return hostPreflight(exec, node, needsOf(entriesFor(bundle, phase, false), { ownership }))
}

/** Whether an entry belongs to a secondary interface: a rule, a route of its table, a translation, an egress IP that is on no bridge. */
function isSecondary(entry: Entry, bridges: ReadonlySet<string>): boolean {
  if ('fwmark' in entry) return true
  if ('metric' in entry) return entry.table !== 'main'
  if ('kind' in entry) return entry.kind === 'element' && entry.map
  return 'address' in entry && isSingle(entry.address) && !bridges.has(entry.dev)
}
