import { compareAddresses, networkOf, type Prefix, parsePrefix, printPrefix } from '../model/address.js'
import { type FieldReader, readEntries } from './entries.js'
import type { Language } from './language.js'
import { byText, printLines } from './text.js'

/** A rule of the routing policy, in the words of `ip -j rule` (ip-rule(8)). */
export interface HostRule {
  readonly priority: number
  /** Packets from here; 0.0.0.0/0 and ::/0 are all of a family. */
  readonly src: Prefix
  /** Only packets with this mark; null for all. */
  readonly fwmark: number | null
  /** Where they are looked up: a number, `main`, or `1000+ifindex(DEVICE)`, which only the host knows. */
  readonly table: string
  /** The object that it comes from; null when read from a host. Not part of the meaning. */
  readonly for: string | null
  /** What of it on a host is not as egretta makes it, in words; absent when nothing is. */
  readonly altered?: string
}

/** `rules.json`. The kernel takes two rules that differ in nothing but the table, so all of a rule is its key. */
export const rules: Language<HostRule> = {
  subsystem: 'rules',
  parse: (text) =>
    readEntries(text, ['priority', 'src', 'fwmark', 'table', 'for'], (entry) => ({
      priority: entry.number('priority'),
      src: parsePrefix(entry.text('src')) ?? entry.fail(`"${entry.text('src')}" is not an address with a prefix length`),
      fwmark: readMark(entry),
      table: entry.text('table'),
      for: entry.optionalText('for'),
    })),
  print: (entries) =>
    printLines(
      [...entries].sort(compareRules).map((entry) => ({
        priority: entry.priority,
        src: printPrefix(networkOf(entry.src)),
        ...(entry.fwmark !== null && { fwmark: printMark(entry.fwmark) }),
        table: entry.table,
        ...(entry.for && { for: entry.for }),
      })),
    ),
  key: (entry) =>
    `${entry.priority} from ${printPrefix(networkOf(entry.src))}${entry.fwmark === null ? '' : ` fwmark ${printMark(entry.fwmark)}`} lookup ${entry.table}`,
  same: (a, b) => a.altered === b.altered,
}

function readMark(entry: FieldReader): number | null {
  const text = entry.optionalText('fwmark')
  if (text === null) return null
  return /^0x[0-9a-f]{1,8}$/i.test(text) ? Number(text) : entry.fail(`"${text}" is not a mark, such as 0x3f0`)
}

const printMark = (mark: number): string => `0x${mark.toString(16)}`

const compareRules = (a: HostRule, b: HostRule): number =>
  a.priority - b.priority || compareAddresses(a.src.address, b.src.address) || a.src.length - b.src.length || byText(a.table, b.table)
