import { type Address, type Prefix, width } from './address.js'

/** Finds the prefixes that contain an address without a look at each of them. */
export interface PrefixIndex<T> {
  /** What was given with the prefixes that contain the address, the widest prefix first, in the order given where they are equal. */
  containing(address: Address): readonly T[]
}

/**
 * An index of things by their prefix: one table per family and prefix length, by the bits of the network alone. V8 hashes the lowest 64 bits
 * of a number: with the host bits all IPv6 networks would collide.
 */
export function prefixIndex<T>(entries: Iterable<readonly [Prefix, T]>): PrefixIndex<T> {
  const tables = new Map<number, Map<bigint, T[]>>()
  for (const [prefix, thing] of entries) {
    const { family } = prefix.address
    const key = keyOf(family, prefix.length)
    const table = tables.get(key) ?? new Map<bigint, T[]>()
    tables.set(key, table)
    const bits = networkBits(prefix.address, prefix.length)
    const list = table.get(bits)
    if (list) list.push(thing)
    else table.set(bits, [thing])
  }
  const lengths = ([4, 6] as const).map((family) =>
    [...tables.keys()].flatMap((key) => (key >> 8 === family ? [key & 255] : [])).sort((a, b) => a - b),
  )
  return {
    containing(address) {
      const found: T[] = []
      for (const length of lengths[address.family === 4 ? 0 : 1] as number[])
        found.push(...(tables.get(keyOf(address.family, length))?.get(networkBits(address, length)) ?? []))
      return found
    },
  }
}

const networkBits = ({ family, value }: Address, length: number): bigint => value >> BigInt(width(family) - length)

const keyOf = (family: 4 | 6, length: number): number => (family << 8) | length
