import { accessSync, chmodSync, constants, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PATH } from '../../src/host/exec.js'

/** Programs that change a host, and the words in their arguments that say that a call does. */
const CHANGING: Readonly<Record<string, string>> = {
  nft: '*" -c "*) ;; *" -f "*) changes=1',
  ip: '*" -batch "*) changes=1',
  'ovs-ofctl': '*" add-flows "*|*" mod-port "*|*" bundle "*) changes=1',
  'ovs-appctl': '*" dpctl/flush-conntrack "*) changes=1',
  conntrack: '*" -D "*) changes=1',
  sysctl: '*" -w "*) changes=1',
}

/** When the agent is killed: before a call does its work, while it does it, or after it. */
export const MOMENTS = ['before', 'during', 'after'] as const
export type Moment = (typeof MOMENTS)[number]

/** A folder that stands first in the PATH of an agent. */
export interface Shims {
  readonly path: string
  /** Kills the agent that makes the numbered call of those that change the host, from 1 on; null kills none. Counting begins anew. */
  arm(kill: { readonly call: number; readonly moment: Moment } | null): void
  /** How many calls changed the host since. */
  calls(): number
}

const real = (program: string): string | undefined =>
  PATH.split(':')
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })

/** Stand-ins for the programs that change a host. Each does what the program does, and counts; a new file for each number, so that no two have one. */
export function writeShims(folder: string): Shims {
  const counted = join(folder, 'calls')
  mkdirSync(join(folder, 'bin'), { recursive: true })
  const arm: Shims['arm'] = (kill) => {
    rmSync(counted, { recursive: true, force: true })
    mkdirSync(counted)
    const to = kill ?? { call: 0, moment: 'before' }
    for (const [program, pattern] of Object.entries(CHANGING)) {
      const file = real(program)
      if (file === undefined) continue
      const work = { before: 'kill -9 $PPID', during: `kill -9 $PPID; exec ${file} "$@"`, after: `${file} "$@"; kill -9 $PPID` }[to.moment]
      const script = `#!/bin/sh
changes=0
case " $* " in ${pattern};; esac
[ $changes = 1 ] || exec ${file} "$@"
n=1
until (set -C; : > "${counted}/$n") 2>/dev/null; do n=$((n + 1)); done
[ $n = ${to.call} ] || exec ${file} "$@"
${work}
`
      writeFileSync(join(folder, 'bin', program), script)
      chmodSync(join(folder, 'bin', program), 0o755)
    }
  }
  arm(null)
  return { path: `${join(folder, 'bin')}:${PATH}`, arm, calls: () => readdirSync(counted).length }
}
