/**
 * What only the host knows stands in rendered text as a symbol: `uplink(br-ex)` is the port and the device through which a bridge
 * reaches the wire, `patch(default)` the port that joins it to a network. The agent replaces symbols before it compares or applies.
 */
export interface HostSymbol {
  readonly name: 'patch' | 'uplink'
  /** The bridge of an uplink, the network of a patch port. */
  readonly of: string
  /** As it stands in the text. */
  readonly text: string
}

const SYMBOL = /\b(patch|uplink)\(([^()]+)\)/g

/** The port that joins the bridge to a network, `default` for the default one. */
export const patchOf = (network: string): string => `patch(${network})`
/** The port, and the network device, through which a bridge reaches the wire. */
export const uplinkOf = (bridge: string): string => `uplink(${bridge})`

/** Every symbol in the texts, once each, sorted by its text. */
export function symbolsIn(...texts: readonly string[]): readonly HostSymbol[] {
  const found = new Map<string, HostSymbol>()
  for (const text of texts) {
    for (const [symbol, name, of] of text.matchAll(SYMBOL)) {
      found.set(symbol, { name: name as HostSymbol['name'], of: of as string, text: symbol })
    }
  }
  return [...found.values()].sort((a, b) => (a.text < b.text ? -1 : 1))
}

/** The text with every symbol that the map knows replaced by its value; the others stay. */
export const substitute = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(SYMBOL, (symbol) => values.get(symbol) ?? symbol)
