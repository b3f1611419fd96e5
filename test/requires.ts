import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** What a group of tests needs of the machine: a right, the platform, or a program (scripts/setup installs them). */
export type Need =
  | 'root'
  | 'linux'
  | 'nft'
  | 'ovs'
  | 'ip'
  | 'arping'
  | 'ndisc6'
  | 'ndptool'
  | 'tcpdump'
  | 'conntrack'
  | 'iptables'
  | 'git'
  | 'strace'
  | 'setpriv'
  | 'cdk8s'

// nft, ip and the programs of Open vSwitch are in sbin, which not every root has on the path (su without -).
// What the tests start inherits it.
const PATH = [...new Set([...(process.env.PATH ?? '').split(delimiter).filter(Boolean), '/usr/sbin', '/sbin', '/usr/bin', '/bin'])]
process.env.PATH = PATH.join(delimiter)

const found = (program: string): boolean =>
  PATH.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** Whether this machine offers a need. */
export function offers(need: Need): boolean {
  switch (need) {
    case 'root':
      return process.getuid?.() === 0
    case 'linux':
      return process.platform === 'linux'
    case 'ovs':
      return ['ovs-vswitchd', 'ovsdb-server', 'ovsdb-tool', 'ovs-vsctl', 'ovs-ofctl'].every(found)
    case 'cdk8s':
      return existsSync(join(import.meta.dirname, '..', 'node_modules', '.bin', 'cdk8s'))
    default:
      return found(need)
  }
}

/**
 * `describe` for tests that need something of the machine. Where a need is missing they are skipped and the reason is
 * printed; with CI=true they become one failing test instead, because there nothing may be left out.
 */
export function describeWith(needs: readonly Need[], name: string, tests: () => void): void {
  const missing = needs.filter((need) => !offers(need))
  if (missing.length === 0) {
    describe(name, tests)
    return
  }
  const reason = `needs ${missing.join(', ')}: run scripts/setup as root on Debian`
  if (process.env.CI === 'true') {
    describe(name, () => {
      it('runs on this machine', () => {
        expect.unreachable(reason)
      })
    })
    return
  }
  console.warn(`skipped: ${name} (${reason})`)
  describe.skip(name, tests)
}
