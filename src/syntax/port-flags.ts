import { readEntries } from './entries.js'
import type { Language } from './language.js'
import { byText, printLines } from './text.js'

/**
 * An OpenFlow port whose flag `no-flood` is set (ovs-ofctl(8), mod-port). The flag is volatile: ovs-vswitchd forgets it when it restarts.
 */
export interface PortFlag {
  readonly bridge: string
  /** `patch(NETWORK)`, or a number. */
  readonly port: string
  readonly flag: 'no-flood'
  /** The object that it comes from; null when read from a host. Not part of the meaning. */
  readonly for: string | null
}

/** `openflow.<bridge>.ports.json`. All of a flag is its key: it is there or it is not. */
export const portFlags = (bridge: string): Language<PortFlag> => ({
  subsystem: 'openflow',
  parse: (text) =>
    readEntries(text, ['port', 'flag', 'for'], (entry) => ({
      bridge,
      port: entry.text('port'),
      flag: entry.text('flag') === 'no-flood' ? 'no-flood' : entry.fail(`unknown flag "${entry.text('flag')}"`),
      for: entry.optionalText('for'),
    })),
  print: (entries) =>
    printLines(
      [...entries]
        .sort((a, b) => byText(a.port, b.port))
        .map((entry) => ({ port: entry.port, flag: entry.flag, ...(entry.for && { for: entry.for }) })),
    ),
  key: (entry) => `${entry.bridge} port ${entry.port} ${entry.flag}`,
  same: () => true,
})
