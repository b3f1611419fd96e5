import type { SubsystemName } from '../model/cluster.js'

/**
 * The language of one host subsystem: what its smallest entry looks like as a value and as text.
 * Law: parse(print(entries)) has the same keys and the same meanings as entries.
 */
export interface Language<E> {
  readonly subsystem: SubsystemName
  /** All entries of a rendered file. Throws SyntaxFault with the line where the text is wrong. */
  parse(text: string): readonly E[]
  /** The text of the entries in the order of the language, whatever order they come in: byte-stable. */
  print(entries: readonly E[]): string
  /** Identity: no two entries of a host have the same key. Owner marks are not part of it. */
  key(entry: E): string
  /** Whether two entries of one key mean the same. */
  same(a: E, b: E): boolean
}

/** A rendered file that does not parse. */
export class SyntaxFault extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(`line ${line}: ${message}`)
  }
}
