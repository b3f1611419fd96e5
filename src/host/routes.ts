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

/** Any address of the internet: what the default route leads to. */
const OUTSIDE = { '-4': '192.0.0.8', '-6': '2000::8' } as const

/** The addresses that the host chooses as its source towards the internet, at most one of each family. An IPv6 egress address is never chosen. */
export async function readChosenSources(exec: Exec): Promise<readonly Address[]> {
  const found = await Promise.all(
    (['-4', '-6'] as const).map(async (family) => {
      const { code, stdout } = await exec('ip', [family, '-j', 'route', 'get', OUTSIDE[family]])
      // Without a route there is no source either.
      const [route] = code === 0 ? (JSON.parse(stdout || '[]') as readonly { prefsrc?: string }[]) : []
      return parseAddress(route?.prefsrc ?? '') ?? []
    }),
  )
  return found.flat()
}
