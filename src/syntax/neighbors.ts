import { type Address, compareAddresses, parseAddress } from '../model/address.js'
import { readEntries } from './entries.js'
import type { Language } from './language.js'
import { byText, printLines } from './text.js'

/** A permanent neighbor on an interface of the host, in the words of `ip -j neighbor`. */
export interface Neighbor {
  readonly dst: Address
  readonly lladdr: string
  readonly dev: string
  /** The object that it comes from; null when read from a host. Not part of the meaning. */
  readonly for: string | null
}

const HARDWARE_ADDRESS = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/

/** `neighbors.json`. An address stands at most once on an interface; its meaning is the hardware address. */
export const neighbors: Language<Neighbor> = {
  subsystem: 'neighbors',
  parse: (text) =>
    readEntries(text, ['dst', 'lladdr', 'dev', 'for'], (entry) => {
      const lladdr = entry.text('lladdr').toLowerCase()
      return {
        dst: parseAddress(entry.text('dst')) ?? entry.fail(`"${entry.text('dst')}" is not an address`),
        lladdr: HARDWARE_ADDRESS.test(lladdr) ? lladdr : entry.fail(`"${lladdr}" is not a hardware address`),
        dev: entry.text('dev'),
        for: entry.optionalText('for'),
      }
    }),
  print: (entries) => {
    const sorted = [...entries].sort((a, b) => compareAddresses(a.dst, b.dst) || byText(a.dev, b.dev))
    return printLines(
      sorted.map((entry) => ({ dst: entry.dst.text, lladdr: entry.lladdr, dev: entry.dev, ...(entry.for && { for: entry.for }) })),
    )
  },
  key: (entry) => `${entry.dst.text} dev ${entry.dev}`,
  same: (a, b) => a.lladdr === b.lladdr,
}
