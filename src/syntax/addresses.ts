import { compareAddresses, type Prefix, parsePrefix, printPrefix } from '../model/address.js'
import { readEntries } from './entries.js'
import type { Language } from './language.js'
import { byText, printLines } from './text.js'

/** An address on an interface of the host, in the words of `ip -j address`. */
export interface HostAddress {
  readonly address: Prefix
  readonly dev: string
  /** The object that it comes from; null when read from a host. Not part of the meaning. */
  readonly for: string | null
  /** What of it on a host is not as egretta makes it, in words; absent when nothing is. */
  readonly altered?: string
}

/** `addresses.json`. An address stands at most once on an interface; only on a host can it differ in something. */
export const addresses: Language<HostAddress> = {
  subsystem: 'addresses',
  parse: (text) =>
    readEntries(text, ['address', 'dev', 'for'], (entry) => ({
      address: parsePrefix(entry.text('address')) ?? entry.fail(`"${entry.text('address')}" is not an address with a prefix length`),
      dev: entry.text('dev'),
      for: entry.optionalText('for'),
    })),
  print: (entries) => {
    const sorted = [...entries].sort(
      (a, b) => compareAddresses(a.address.address, b.address.address) || a.address.length - b.address.length || byText(a.dev, b.dev),
    )
    return printLines(
      sorted.map((entry) => ({ address: printPrefix(entry.address), dev: entry.dev, ...(entry.for && { for: entry.for }) })),
    )
  },
  key: (entry) => `${printPrefix(entry.address)} dev ${entry.dev}`,
  same: (a, b) => a.altered === b.altered,
}
