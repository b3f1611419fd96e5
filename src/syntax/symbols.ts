import { networkOf, type Prefix, printPrefix } from '../model/address.js'

/**
 * What only the host knows stands in rendered text as a symbol. The agent replaces symbols before it compares or applies:
 * `uplink(br-ex)` is the port and the device through which a bridge reaches the wire, `patch(default)` the port that joins it to a network,
 * `network(198.51.100.0/24)` the device whose network this is, `ifindex(DEVICE)` the index of a device, which may be a symbol itself.
 */
export interface HostSymbol {
  readonly name: 'patch' | 'uplink' | 'network' | 'ifindex'
  /** The bridge of an uplink, the network of a patch port, the prefix of a device's network, the device of an index. */
  readonly of: string
  /** As it stands in the text. */
  readonly text: string
}

const SYMBOL = /\b(patch|uplink|network|ifindex)\(([^()]+(?:\([^()]*\))?)\)/g

/** The port that joins the bridge to a network, `default` for the default one. */
export const patchOf = (network: string): string => `patch(${network})`
/** The port, and the network device, through which a bridge reaches the wire. */
export const uplinkOf = (bridge: string): string => `uplink(${bridge})`
/** The device whose network this is. */
export const deviceOf = (network: Prefix): string => `network(${printPrefix(networkOf(network))})`
/** The table of a secondary interface: `1000+ifindex(network(198.51.100.0/24))`. */
export const tableOfDevice = (base: number, dev: string): string => `${base}+ifindex(${dev})`
/** All routes that lead out of a device: no symbol that has one value, but one entry that stands for several. */
export const routesOf = (dev: string): string => `routes-of(${dev})`

/** Every symbol in the texts, once each, sorted by its text. Of one that stands in another, the outer one alone. */
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
