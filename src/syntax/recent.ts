/**
 * A reader that remembers what it made of its last text. What hosts and bundles say is read every few moments and is seldom another; with ten
 * thousand entries it is much cheaper to see that it is the same. What it makes must not be changed by anybody.
 */
export function recently<T>(read: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly made: T } | null = null
  return (text) => {
    if (last?.text !== text) last = { text, made: read(text) }
    return last.made
  }
}

/** Where what was made is remembered: a Map, or a WeakMap where the keys are objects. */
interface Memory<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

const SHARED_AT_MOST = 1_000

/** Answers the value that was given lately with the same text in place of a new one, so that the memory holds one of them. */
export function sharing<T>(): (text: string, value: T) => T {
  const known = new Map<string, T>()
  return (text, value) => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= SHARED_AT_MOST) known.clear()
    known.set(text, value)
    return value
  }
}

/** Values by key, each made when it is first asked for. */
export function once<K, V>(make: (key: K) => V, made: Memory<K, V> = new Map()): (key: K) => V {
  return (key) => {
    const found = made.get(key) ?? make(key)
    made.set(key, found)
    return found
  }
}
