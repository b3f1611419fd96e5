import { type Prefix, parseAddress } from '../model/address.js'
import { type Exec, output } from './exec.js'

/** A network device as the kernel lists it. */
export interface Link {
  readonly name: string
  /** Its ifindex: another one once it was deleted and made again. */
  readonly index: number
  /** Whether somebody set it up; its carrier is another matter. */
  readonly up: boolean
  /** Table of the routes out of it: `main`, or the number of the table of its VRF. */
  readonly table: string
  readonly addresses: readonly LiveAddress[]
}

/** An address as the kernel lists it. */
export interface LiveAddress {
  readonly address: Prefix
  readonly dev: string
  /** global, site, link, host, … */
  readonly scope: string
  /** IPv4: the name of the interface unless who added it gave another one. IPv6 has none. */
  readonly label: string
  /** IPv4: whether another address of the same network came first. */
  readonly secondary: boolean
  /** Whether its life ends: DHCP and router advertisements give such. */
  readonly dynamic: boolean
  /** Seconds for which the host may choose it as a source; 0 when it is deprecated. */
  readonly preferred: number
  /** IFA_PROTO, where iproute2 prints it (not 6.1). */
  readonly protocol: number | null
}

interface Listed {
  readonly ifname: string
  readonly ifindex: number
  readonly flags: readonly string[]
  readonly master?: string
  readonly linkinfo?: { readonly info_kind?: string; readonly info_data?: { readonly table?: number } }
  readonly addr_info?: readonly ListedAddress[]
}

interface ListedAddress {
  readonly local?: string
  readonly prefixlen: number
  readonly scope: string
  readonly label?: string
  readonly secondary?: boolean
  readonly valid_life_time: number
  readonly preferred_life_time: number
  readonly protocol?: string
}

const FOREVER = 0xffffffff

/** Every network device of the host with its addresses, sorted by ifindex. */
export async function readLinks(exec: Exec): Promise<readonly Link[]> {
  // ip prints empty objects among the devices in some versions
  const listed = (JSON.parse((await output(exec, 'ip', ['-N', '-d', '-j', 'addr', 'show'])) || '[]') as readonly Partial<Listed>[]).filter(
    (link): link is Listed => link.ifname !== undefined,
  )
  const vrfs = new Map(
    listed.flatMap(({ ifname, linkinfo }) =>
      linkinfo?.info_kind === 'vrf' && linkinfo.info_data?.table !== undefined ? [[ifname, String(linkinfo.info_data.table)]] : [],
    ),
  )
  return listed
    .map(({ ifname, ifindex, flags, master, addr_info = [] }) => ({
      name: ifname,
      index: ifindex,
      up: flags.includes('UP'),
      table: vrfs.get(master ?? ifname) ?? 'main',
      addresses: addr_info.flatMap((info) => readAddress(ifname, info)),
    }))
    .sort((a, b) => a.index - b.index)
}

function readAddress(dev: string, info: ListedAddress): readonly LiveAddress[] {
  const address = parseAddress(info.local ?? '')
  if (!address) return []
  return [
    {
      address: { address, length: info.prefixlen },
      dev,
      scope: SCOPES[info.scope] ?? info.scope,
      label: info.label ?? '',
      secondary: info.secondary === true,
      dynamic: info.valid_life_time !== FOREVER,
      preferred: info.preferred_life_time,
      protocol: info.protocol === undefined ? null : Number(info.protocol),
    },
  ]
}

/** RT_SCOPE_*, which -N prints as numbers. */
export const SCOPES: Readonly<Record<string, string>> = { '0': 'global', '200': 'site', '253': 'link', '254': 'host' }
