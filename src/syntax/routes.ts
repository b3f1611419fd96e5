import {
  type Address,
  compareAddresses,
  type Family,
  networkOf,
  type Prefix,
  parseAddress,
  parsePrefix,
  printPrefix,
} from '../model/address.js'
import { type FieldReader, readEntries } from './entries.js'
import type { Language } from './language.js'
import { routesOf } from './symbols.js'
import { byText, printLines } from './text.js'

/**
 * A route of the host, in the words of `ip -j route` (ip-route(8)); or, where `dst` is null, all routes of the family that lead out of `dev`
 * (in its VRF's table, else the main one), copied into `table` without their `src`, a default route if none of them is one, and behind them a
 * route that refuses what they do not take.
 */
export interface HostRoute {
  readonly dst: Prefix | null
  /** A route that leads nowhere and ends the look-up; it has no `dev`. Absent for one out of `dev`. */
  readonly type?: 'unreachable'
  readonly family: Family
  readonly gateway: Address | null
  /** A device, or `network(PREFIX)`, which only the host knows. */
  readonly dev: string
  /** The address that the host prefers as its source on this route. */
  readonly src: Address | null
  /** In bytes. */
  readonly mtu: number | null
  /** Null is the kernel's default: 0 of IPv4, 1024 of IPv6. */
  readonly metric: number | null
  /** `link`, …; null is the kernel's choice: `link` without a gateway, else `global`. Of IPv4 alone. */
  readonly scope: string | null
  /** `main`, a number, or `1000+ifindex(DEVICE)`, which only the host knows. */
  readonly table: string
  /** The object that it comes from; null when read from a host. Not part of the meaning. */
  readonly for: string | null
}

const FIELDS = ['dst', 'type', 'family', 'gateway', 'dev', 'src', 'mtu', 'metric', 'scope', 'table', 'for']
const FAMILIES: Readonly<Record<string, Family>> = { inet: 4, inet6: 6 }

/** `routes.json`. Identity: destination, table and metric, which the kernel keeps apart; of a copy: device, family and table. */
export const routes: Language<HostRoute> = {
  subsystem: 'routes',
  parse: (text) =>
    readEntries(text, FIELDS, (entry) => {
      const type = readType(entry)
      if (type && entry.optionalText('dev') !== null) entry.fail(`a route of type ${type} has no "dev"`)
      const dev = type ? '' : entry.text('dev')
      const dst = dev && entry.text('dst') === routesOf(dev) ? null : prefix(entry, 'dst')
      const family = dst?.address.family ?? FAMILIES[entry.text('family')] ?? entry.fail('"family" is inet or inet6')
      return {
        dst,
        ...(type && { type }),
        family,
        gateway: address(entry, 'gateway'),
        dev,
        src: address(entry, 'src'),
        mtu: entry.optionalNumber('mtu'),
        metric: entry.optionalNumber('metric'),
        scope: readScope(entry),
        table: entry.text('table'),
        for: entry.optionalText('for'),
      }
    }),
  print: (entries) =>
    printLines(
      [...entries].sort(compareRoutes).map(({ dst, type, family, gateway, dev, src, mtu, metric, scope, table, for: object }) => ({
        dst: dst ? printPrefix(networkOf(dst)) : routesOf(dev),
        ...(type && { type }),
        ...(!dst && { family: family === 4 ? 'inet' : 'inet6' }),
        ...(gateway && { gateway: gateway.text }),
        ...(!type && { dev }),
        ...(src && { src: src.text }),
        ...(mtu !== null && { mtu }),
        ...(metric !== null && { metric }),
        ...(scope !== null && { scope }),
        table,
        ...(object && { for: object }),
      })),
    ),
  key,
  same: (a, b) => meaning(a) === meaning(b),
}

function key({ dst, family, dev, metric, table }: HostRoute): string {
  if (!dst) return `${routesOf(dev)} ${family === 4 ? 'inet' : 'inet6'} table ${table}`
  const own = metric ?? defaultMetric(family)
  return `${printPrefix(networkOf(dst))} table ${table}${own === defaultMetric(family) ? '' : ` metric ${own}`}`
}

const defaultMetric = (family: Family): number => (family === 4 ? 0 : 1024)

/** A scope of IPv4 that is not said is the kernel's: `link` where there is no gateway. */
const meaning = ({ type, family, gateway, dev, src, mtu, scope }: HostRoute): string =>
  JSON.stringify([type, gateway?.text, dev, src?.text, mtu, family === 4 ? (scope ?? (gateway ? 'global' : 'link')) : null])

function readType(entry: FieldReader): HostRoute['type'] {
  const text = entry.optionalText('type')
  return text === null || text === 'unreachable' ? (text ?? undefined) : entry.fail(`unknown type "${text}"`)
}

function readScope(entry: FieldReader): string | null {
  const text = entry.optionalText('scope')
  return text === null || /^[a-z0-9]+$/.test(text) ? text : entry.fail(`"${text}" is not a scope`)
}

function prefix(entry: FieldReader, field: string): Prefix {
  return parsePrefix(entry.text(field)) ?? entry.fail(`"${entry.text(field)}" is not a network`)
}

function address(entry: FieldReader, field: string): Address | null {
  const text = entry.optionalText(field)
  return text === null ? null : (parseAddress(text) ?? entry.fail(`"${text}" is not an address`))
}

const compareRoutes = (a: HostRoute, b: HostRoute): number =>
  byText(a.table, b.table) ||
  Number(a.dst !== null) - Number(b.dst !== null) ||
  a.family - b.family ||
  (a.dst && b.dst ? compareAddresses(a.dst.address, b.dst.address) || a.dst.length - b.dst.length : byText(a.dev, b.dev)) ||
  (a.metric ?? 0) - (b.metric ?? 0)
