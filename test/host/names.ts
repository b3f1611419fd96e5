import type { Link, LiveAddress } from '../../src/host/links.js'
import type { Bridge } from '../../src/host/ovsdb.js'
import type { LiveRoute } from '../../src/host/routes.js'
import type { HostNames } from '../../src/host/symbols.js'
import { type Address, type Prefix, parseAddress, parsePrefix } from '../../src/model/address.js'

export const ip = (text: string): Address => parseAddress(text) as Address
export const prefix = (text: string): Prefix => parsePrefix(text) as Prefix

export const liveAddress = (text: string, dev: string, over: Partial<LiveAddress> = {}): LiveAddress => ({
  address: prefix(text),
  dev,
  scope: 'global',
  label: dev,
  secondary: false,
  dynamic: false,
  preferred: 4294967295,
  protocol: null,
  ...over,
})

/** A device that is up, with the addresses of the texts. */
export const link = (name: string, index: number, addresses: readonly (string | LiveAddress)[] = [], over: Partial<Link> = {}): Link => ({
  name,
  index,
  up: true,
  table: 'main',
  addresses: addresses.map((address) => (typeof address === 'string' ? liveAddress(address, name) : address)),
  ...over,
})

/** A route out of a device, as the kernel or ip(8) makes it. */
export const liveRoute = (dst: string, dev: string, over: Partial<LiveRoute> = {}): LiveRoute => {
  const family = dst.includes(':') ? 6 : 4
  return {
    ...{ dst: prefix(dst), family, gateway: null, dev, src: null, mtu: null, metric: null, for: null },
    ...{ scope: family === 4 ? 'link' : null, table: 'main', protocol: 3, whole: true },
    ...over,
  }
}

export const hostNames = (
  links: readonly Link[],
  routes: readonly LiveRoute[] = [],
  bridges: readonly Bridge[] | null = [],
): HostNames => ({
  node: 'node-a',
  links,
  routes,
  bridges,
})
