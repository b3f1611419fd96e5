import { randomUUID } from 'node:crypto'
import { uptime } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, hex128, parseAddress } from '../model/address.js'
import { PROBE_TABLE } from '../model/numbers.js'
import { asObject, type Json } from '../syntax/nft-json.js'
import { type Exec, HostFault, output } from './exec.js'
import { send, type Wire } from './wire.js'

/** An address, and the wire on which others may have it. */
export interface Claim {
  readonly address: Address
  readonly wire: Wire
}

/** How often an address is asked for, and the milliseconds from one question to the next and from the last one to the verdict. */
export interface Manner {
  readonly times: number
  readonly apart: number
}

/** In the manner of RFC 5227, with its three probes, but for its waits of seconds: what is moved here is asked for on a wire of our own. */
export const CLAIMING: Manner = { times: 3, apart: 100 }
/** How to look whether a station still answers; before the address is claimed it is asked for properly. */
export const LOOKING: Manner = { times: 1, apart: 100 }

/**
 * Asks for every address on its wire, all at once, and returns the MAC of a station that says it has it, by the text of the address. Who
 * answers is heard by an nft table of this probe's own, `netdev egretta-probe-…`, on the devices of the wires: it sees IPv4 and IPv6, on a bridge
 * also what Open vSwitch takes before the kernel, with a tag of a VLAN or without. It drops nothing and goes when the answers are in; the
 * next pass removes what a killed agent leaves of it. Fails with HostFault.
 */
export async function probe(
  exec: Exec,
  claims: readonly Claim[],
  { times, apart }: Manner = CLAIMING,
): Promise<ReadonlyMap<string, string>> {
  const unheard = claims.find(({ wire }) => wire.device === null)
  if (unheard) {
    const message = `the kernel has no device for the uplink of ${unheard.wire.kind === 'bridge' ? unheard.wire.bridge : 'this host'}`
    throw new HostFault('CommandFailed', message, 'See that no other station has the address.')
  }
  const groups = byWire(claims)
  const name = `${PROBE_TABLE}-${randomUUID().slice(0, 8)}`
  await load(exec, table(name, groups))
  try {
    const ask = async (time: number): Promise<void> => {
      await sleep(time * apart)
      const sendings = await Promise.all(groups.map(({ wire, addresses }) => send(exec, wire, 'probe', addresses)))
      await Promise.all(sendings.map((sending) => sending.within(apart)))
    }
    const asked = await Promise.allSettled(Array.from({ length: times }, (_, time) => ask(time)))
    for (const each of asked) if (each.status === 'rejected') throw each.reason
    return heardIn(await output(exec, 'nft', ['-j', 'list', 'table', 'netdev', name]))
  } finally {
    await removeProbes(exec, [name])
  }
}

/** Removes tables of probes, also such as have gone meanwhile. Fails with HostFault. */
export const removeProbes = (exec: Exec, names: readonly string[]): Promise<void> =>
  load(exec, names.map((name) => `table netdev ${name}\ndelete table netdev ${name}\n`).join(''))

/**
 * Waits until at least one of the addresses is answered for no more. Ends also at the deadline, a time of `clock`, and when the signal says
 * so. Fails with HostFault.
 */
export async function fallsSilent(exec: Exec, claims: readonly Claim[], deadline: number, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && clock() < deadline) {
    if ((await probe(exec, claims, LOOKING)).size < new Set(claims.map(({ address }) => address.text)).size) return
    await sleep(Math.min(LOOK_EVERY, Math.max(0, (deadline - clock()) * 1000)))
  }
}

const LOOK_EVERY = 50

/** Waits for so many milliseconds, or until the signal says that it is enough. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined)

/** Seconds since the start of the host. Nobody sets this clock, and it ends with the state folder. */
export const clock = (): number => uptime()

/** Addresses that share a wire. */
interface Group {
  readonly wire: Wire
  readonly addresses: readonly Address[]
}

export function byWire(claims: readonly Claim[]): readonly Group[] {
  const groups = new Map<string, { readonly wire: Wire; readonly addresses: Address[] }>()
  for (const { wire, address } of claims) {
    const key = JSON.stringify(wire)
    const group = groups.get(key) ?? { wire, addresses: [] }
    groups.set(key, group)
    group.addresses.push(address)
  }
  return [...groups.values()]
}

async function load(exec: Exec, text: string): Promise<void> {
  await output(exec, 'nft', ['-f', '-'], { input: text })
}

const HEARD = { 4: 'heard-v4', 6: 'heard-v6' } as const

/**
 * The table in the words of nft: its JSON has no way to declare a set of raw fields. ARP: whatever names the address as its sender is a
 * conflict (RFC 5227, 2.1.1). IPv6: a neighbor advertisement with the address as its target.
 */
function table(name: string, groups: readonly Group[]): string {
  const set = (heard: string, type: string) => `set ${heard} { ${type}; size 65535; flags dynamic,timeout; timeout 1h; }`
  const chains = groups.map(({ wire, addresses }, index) => {
    const of = (family: 4 | 6) => addresses.filter((address) => address.family === family)
    const v4 = of(4).map(({ text }) => text)
    const v6 = of(6).map(hex128)
    return [
      `chain hear-${index} { type filter hook ingress device "${wire.device}" priority -10; policy accept;`,
      ...(v4.length > 0 ? [`arp saddr ip { ${v4.join(', ')} } update @${HEARD[4]} { arp saddr ip . arp saddr ether }`] : []),
      ...(v6.length > 0
        ? [`icmpv6 type nd-neighbor-advert @th,64,128 { ${v6.join(', ')} } update @${HEARD[6]} { @th,64,128 . ether saddr }`]
        : []),
      '}',
    ]
  })
  return [
    `table netdev ${name} {`,
    set(HEARD[4], 'type ipv4_addr . ether_addr'),
    set(HEARD[6], 'typeof @th,64,128 . ether saddr'),
    ...chains.flat(),
    '}\n',
  ].join('\n')
}

/** Address to MAC, from the listing of the table. */
function heardIn(listing: string): ReadonlyMap<string, string> {
  const { nftables = [] } = JSON.parse(listing) as { readonly nftables?: readonly Json[] }
  const elements = nftables.flatMap((item) => {
    const elem = asObject(asObject(item)?.set)?.elem
    return Array.isArray(elem) ? (elem as readonly Json[]) : []
  })
  return new Map(
    elements.flatMap((element) => {
      const [address, mac] = concatIn(asObject(asObject(element)?.elem)?.val)
      const found = parseAddress(address?.startsWith('0x') ? spelled(address) : (address ?? ''))
      return found && mac !== undefined ? [[found.text, mac] as const] : []
    }),
  )
}

const concatIn = (value: Json | undefined): readonly string[] => {
  const parts = asObject(value)?.concat
  return Array.isArray(parts) ? parts.map(String) : []
}

/** A number of 128 bits as an IPv6 address in groups. */
const spelled = (hex: string): string => hex.slice(2).padStart(32, '0').match(/.{4}/g)?.join(':') ?? ''
