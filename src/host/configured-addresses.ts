import { isGlobalUnicast, parseAddress } from '../model/address.js'
import type { ConfiguredAddress } from '../model/host-facts.js'
import { listFolder, readText } from './files.js'

/** How one program that configures interfaces writes addresses down. */
interface Format {
  /** Folders with its files, below the root of the host. */
  readonly folders: readonly string[]
  /** Which files of a folder are its own. */
  readonly file: RegExp
  /** What of a line, without its comment, holds addresses; undefined where none does. */
  readonly addresses: (line: string) => string | undefined
}

const group = (pattern: RegExp) => (line: string) => pattern.exec(line)?.[1]

/** nm-settings-keyfile(5), ifcfg of nm-settings-ifcfg-rh(5), systemd.network(5), interfaces(5), netplan(5). */
const FORMATS: readonly Format[] = [
  {
    folders: ['/etc', '/run', '/usr/lib'].map((folder) => `${folder}/NetworkManager/system-connections`),
    file: /./,
    addresses: group(/^\s*address(?:es|\d+)?\s*=\s*(.*)$/),
  },
  {
    folders: ['/etc/sysconfig/network-scripts'],
    file: /^ifcfg-/,
    addresses: group(/^\s*(?:IPADDR\d*|IPV6ADDR|IPV6ADDR_SECONDARIES)=(.*)$/),
  },
  {
    folders: ['/etc', '/run', '/usr/lib'].map((folder) => `${folder}/systemd/network`),
    file: /\.network$/,
    addresses: group(/^\s*Address\s*=\s*(.*)$/),
  },
  {
    folders: ['/etc/network', '/etc/network/interfaces.d'],
    file: /^(?!.*\.(?:dpkg|bak)).*$/,
    addresses: group(/^\s*(?:address|(?:pre-|post-)?up\s+(?:\/\S+\/)?ip\s+(?:-\S+\s+)*a(?:d(?:d(?:r(?:ess)?)?)?)?\s+add)\s+(\S+)/),
  },
  {
    folders: ['/etc/netplan', '/run/netplan', '/usr/lib/netplan'],
    file: /\.yaml$/,
    // name servers stand in such lists too, but without a length
    addresses: (line) =>
      /^\s*(?:-(?!\s*(?:to|via|from):)|addresses:)/.test(line) ? line.match(/[0-9a-fA-F:.]+\/\d+/g)?.join(' ') : undefined,
  },
]

/**
 * The addresses that configuration files of interfaces name: NetworkManager, ifcfg, systemd-networkd, ifupdown, netplan. Sorted by file, then
 * as they stand in it. Files are read line by line: it is asked whether an address stands there, not which interface gets it. Fails with
 * HostFault where a file may not be read.
 */
export function readConfiguredAddresses(root = ''): readonly ConfiguredAddress[] {
  const found = FORMATS.flatMap(({ folders, file, addresses }) =>
    folders.flatMap((folder) =>
      (listFolder(`${root}${folder}`) ?? [])
        .filter(({ name, plain }) => plain && file.test(name))
        .flatMap(({ name }) => {
          const text = readText(`${root}${folder}/${name}`) ?? ''
          return [...new Set(text.split('\n').flatMap((line) => addressesIn(addresses(line.replace(/(^|\s)[#;].*$/, '')))))].map(
            (address): ConfiguredAddress => ({ address, file: `${folder}/${name}` }),
          )
        }),
    ),
  )
  return found.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0))
}

/** Addresses in a value, without prefix lengths. Of a keyfile's `address1=192.0.2.2/24,192.0.2.1` the second is the gateway. */
const addressesIn = (value: string | undefined): readonly string[] =>
  (value ?? '')
    .replace(/^["']|["']$/g, '')
    .split(/[\s;]+/)
    .flatMap((word) => {
      const address = parseAddress((word.split(',')[0] ?? '').split('/')[0] ?? '')
      return address && isGlobalUnicast(address) ? [address.text] : []
    })
