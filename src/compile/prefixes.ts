import { compareAddresses, networkOf, type Prefix } from '../model/address.js'

/** Orders by address, then the shorter prefix first. */
const comparePrefixes = (a: Prefix, b: Prefix): number => compareAddresses(a.address, b.address) || a.length - b.length

/** The networks of prefixes, each once, in order. */
export const networksOf = (prefixes: readonly Prefix[]): readonly Prefix[] =>
  prefixes
    .map(networkOf)
    .sort(comparePrefixes)
    .filter((network, at, all) => at === 0 || comparePrefixes(network, all[at - 1] as Prefix) !== 0)
