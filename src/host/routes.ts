import { type Address, parseAddress } from '../model/address.js'
import { type Exec, failure } from './exec.js'

/**
 * Addresses that a route of the main table names as its source (`src`). The kernel does so for the network of an interface's address and
 * DHCP clients for the default route, so they are addresses of the node itself; an egress address has neither.
 */
export async function readPreferredSources(exec: Exec): Promise<readonly Address[]> {
  const found: Address[] = []
  for (const family of ['-4', '-6']) {
    const args = [family, '-j', 'route', 'show']
    const outcome = await exec('ip', args)
    // A kernel without IPv6 has no routes of it.
    const absent = outcome.code !== 0 && /not supported/.test(outcome.stderr)
    if (outcome.code !== 0 && !absent) throw failure('ip', args, outcome)
    const routes = JSON.parse((!absent && outcome.stdout) || '[]') as readonly { prefsrc?: string }[]
    for (const { prefsrc } of routes) {
      const address = parseAddress(prefsrc ?? '')
      if (address) found.push(address)
    }
  }
  return found
}
