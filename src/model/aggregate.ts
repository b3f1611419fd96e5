import { type Address, compareAddresses, type Family, hostPrefix, type Prefix, width } from './address.js'

/** The fewest prefixes that together hold exactly these addresses, sorted; an address that is given twice counts once. */
export function aggregate(addresses: Iterable<Address>): readonly Prefix[] {
  const done: Prefix[] = []
  for (const address of [...addresses].sort(compareAddresses)) {
    const last = done.at(-1)
    if (last && endsAt(last, address)) continue
    let whole = hostPrefix(address)
    for (let before = done.at(-1); before && areHalves(before, whole); before = done.at(-1)) {
      done.pop()
      whole = { address: before.address, length: before.length - 1 }
    }
    done.push(whole)
  }
  return done
}

/** Whether the address is the last one of the network, whose address has no host bits. */
const endsAt = ({ address: { family, value }, length }: Prefix, address: Address): boolean =>
  address.family === family && address.value === value + sizeOf(family, length) - 1n

/** Whether two networks are the lower and the upper half of one that is twice as wide. */
function areHalves(lower: Prefix, upper: Prefix): boolean {
  const { family, value } = lower.address
  if (upper.address.family !== family || upper.length !== lower.length || lower.length === 0) return false
  const size = sizeOf(family, lower.length)
  return upper.address.value === value + size && value % (2n * size) === 0n
}

const sizeOf = (family: Family, length: number): bigint => 1n << BigInt(width(family) - length)
