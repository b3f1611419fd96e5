import { compareAddresses, networkOf, type Prefix, printPrefix } from '../model/address.js'

/** Orders by address, then the shorter prefix first. */
const comparePrefixes = (a: Prefix, b: Prefix): number => compareAddresses(a.address, b.address) || a.length - b.length

/** The networks of prefixes, each once, in order. */
export const networksOf = (prefixes: readonly Prefix[]): readonly Prefix[] =>
  [...new Map(prefixes.map(networkOf).map((network) => [printPrefix(network), network])).values()].sort(comparePrefixes)
