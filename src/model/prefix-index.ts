import { type Address, networkOf, type Prefix, width } from './address.js'

/** Finds the prefixes that contain an address without a look at each of them. */
export interface PrefixIndex<T> {
  /** What was given with the prefixes that contain the address, the widest prefix first, in the order given where they are equal. */
  containing(address: Address): readonly T[]
}

/** An index of things by their prefix: one table per family and prefix length. */
export function prefixIndex<T>(entries: Iterable<readonly [Prefix, T]>): PrefixIndex<T> {
  const tables = new Map<number, Map<bigint, T[]>>()
  for (const [prefix, thing] of entries) {
    const { family, value } = networkOf(prefix).address
    const key = keyOf(family, prefix.length)
    const table = tables.get(key) ?? new Map<bigint, T[]>()
    tables.set(key, table)
    const list = table.get(value)
    if (list) list.push(thing)
    else table.set(value, [thing])
  }
  const lengths = ([4, 6] as const).map((family) =>
    [...tables.keys()].flatMap((key) => (key >> 8 === family ? [key & 255] : [])).sort((a, b) => a - b),
  )
  return {
    containing({ family, value }) {
      return (lengths[family === 4 ? 0 : 1] as number[]).flatMap((length) => {
        const shift = BigInt(width(family) - length)
        return tables.get(keyOf(family, length))?.get((value >> shift) << shift) ?? []
      })
    },
  }
}

const keyOf = (family: 4 | 6, length: number): number => (family << 8) | length
