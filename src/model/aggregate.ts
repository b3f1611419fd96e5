import { type Address, compareAddresses, contains, type Family, hostPrefix, networkOf, type Prefix, width } from './address.js'

/** The fewest prefixes that together hold exactly these addresses, sorted; an address that is given twice counts once. */
export const aggregate = (addresses: Iterable<Address>): readonly Prefix[] => joined([...addresses].map(hostPrefix))

/** The fewest prefixes that together hold exactly the addresses of these networks, sorted. */
export const aggregateNetworks = (prefixes: readonly Prefix[]): readonly Prefix[] => joined(prefixes.map(networkOf))

/** Joins networks without host bits. */
function joined(networks: Prefix[]): readonly Prefix[] {
  const done: Prefix[] = []
  for (const network of networks.sort((a, b) => compareAddresses(a.address, b.address) || a.length - b.length)) {
    const last = done.at(-1)
    if (last && contains(last, network.address)) continue
    let whole = network
    for (let before = done.at(-1); before && areHalves(before, whole); before = done.at(-1)) {
      done.pop()
      whole = { address: before.address, length: before.length - 1 }
    }
    done.push(whole)
  }
  return done
}

/** Whether two networks are the lower and the upper half of one that is twice as wide. */
function areHalves(lower: Prefix, upper: Prefix): boolean {
  const { family, value } = lower.address
  if (upper.address.family !== family || upper.length !== lower.length || lower.length === 0) return false
  const size = sizeOf(family, lower.length)
  return upper.address.value === value + size && value % (2n * size) === 0n
}

const sizeOf = (family: Family, length: number): bigint => 1n << BigInt(width(family) - length)
