import { type Exec, output } from './exec.js'

/** Names of all network devices of the host. */
export async function readDevices(exec: Exec): Promise<ReadonlySet<string>> {
  const links = JSON.parse((await output(exec, 'ip', ['-j', 'link', 'show'])) || '[]') as readonly { ifname?: string }[]
  return new Set(links.flatMap(({ ifname }) => ifname ?? []))
}
