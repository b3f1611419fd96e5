import { isGlobalUnicast, printPrefix } from '../model/address.js'
import type { HostFacts, HostInterface, HostRouteFact, HostRuleFact, HostTool } from '../model/host-facts.js'
import { OWN_PROTOCOL, ROUTE_TABLE_BASE } from '../model/numbers.js'
import { sysctlDevice } from '../plan/preflight-forwarding.js'
import { readConfiguredAddresses } from './configured-addresses.js'
import { type Exec, HostFault, output } from './exec.js'
import { FAMILIES, readFamily } from './family.js'
import { type LiveAddress, readLinks } from './links.js'
import { readRoutes } from './routes.js'

/** Programs with the words that make each say its version, and where in what it says it stands. ndptool says none. */
const TOOLS: readonly (readonly [name: string, words: readonly string[], version: RegExp])[] = [
  ['arping', ['-V'], /iputils[- ](?:s)?(\d\S*)|ARPing (\d[\d.]*)/],
  ['conntrack', ['--version'], /conntrack v(\d[\d.]*)/],
  ['ip', ['-V'], /iproute2-(\S+?),|iproute2-(\S+)/],
  ['ndisc6', ['-V'], /tool (\d[\d.]*)/],
  ['ndptool', ['--help'], /$^/],
  ['nft', ['--version'], /nftables v(\d[\d.]*)/],
  ['ovs-ofctl', ['--version'], /\(Open vSwitch\) (\d[\d.]*)/],
]

/** `protocol` of rules that the kernel made itself (rtnetlink.h). */
const KERNEL_PROTOCOL = '2'

/**
 * Looks at the host for what preflight judges; nothing is changed. `root` stands before the paths of configuration files. Fails with HostFault
 * where ip(8) is missing or something may not be read.
 */
export async function readFacts(exec: Exec, node: string, root = ''): Promise<HostFacts> {
  const interfaces = (await readLinks(exec))
    .filter(({ name, addresses }) => name !== 'lo' && addresses.some(({ address }) => isGlobalUnicast(address.address)))
    .map(
      ({ name, index, up, addresses }): HostInterface => ({
        name,
        index,
        up,
        addresses: addresses.filter(({ address }) => isGlobalUnicast(address.address)).map(addressFact),
      }),
    )
  const [tools, sysctls, rules, routes, neighbors] = await Promise.all([
    readTools(exec),
    readSysctls(exec, interfaces),
    readRules(exec),
    readOtherRoutes(exec),
    countNeighbors(exec),
  ])
  return { node, tools, sysctls, interfaces, rules, routes, neighbors, configuredAddresses: readConfiguredAddresses(root) }
}

const addressFact = ({ address, dev, scope, label, secondary, preferred }: LiveAddress): HostInterface['addresses'][number] => ({
  address: printPrefix(address),
  scope,
  ...(label !== '' && label !== dev && { label }),
  ...(secondary && { secondary }),
  ...(preferred === 0 && { deprecated: true }),
})

async function readTools(exec: Exec): Promise<readonly HostTool[]> {
  const found = await Promise.all(
    TOOLS.map(async ([name, words, pattern]): Promise<readonly HostTool[]> => {
      try {
        const { stdout, stderr } = await exec(name, words)
        return [{ name, version: pattern.exec(`${stdout}\n${stderr}`)?.slice(1).find(Boolean) ?? null }]
      } catch (error) {
        if (!(error instanceof HostFault) || error.code !== 'MissingTool') throw error
        return []
      }
    }),
  )
  return found.flat()
}

/** Parameters that the kernel does not have, or not in this network namespace, are left out. */
async function readSysctls(exec: Exec, interfaces: readonly HostInterface[]): Promise<HostFacts['sysctls']> {
  const names = [
    'net.ipv4.conf.all.rp_filter',
    'net.ipv4.conf.all.src_valid_mark',
    'net.ipv4.ip_forward',
    'net.ipv4.neigh.default.gc_thresh3',
    'net.ipv6.conf.all.forwarding',
    'net.ipv6.neigh.default.gc_thresh3',
    ...interfaces.flatMap(({ name }) => {
      const device = sysctlDevice(name)
      return [`net.ipv4.conf.${device}.forwarding`, `net.ipv4.conf.${device}.rp_filter`, `net.ipv6.conf.${device}.force_forwarding`]
    }),
  ]
  const lines = (await output(exec, 'sysctl', ['-e', ...names.sort()])).split('\n')
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^(\S+) = (-?\d+)$/.exec(line) ?? []
      return name === undefined ? [] : [[name, Number(value)]]
    }),
  )
}

interface ListedRule {
  readonly priority: number
  readonly src: string
  readonly srclen?: number
  readonly iif?: string
  readonly table?: string
  readonly protocol?: string
}

/** What of a rule is told; any other field is a condition, or leads to another rule. A rule with an `action` refuses packets. */
const RULE_FIELDS: ReadonlySet<string> = new Set(['priority', 'src', 'srclen', 'iif', 'table', 'protocol', 'action'])

async function readRules(exec: Exec): Promise<readonly HostRuleFact[]> {
  const listed = await Promise.all(
    FAMILIES.map(async (family) =>
      (await readFamily(exec, family, ['rule', 'show'])).map((rule) => ({ family, rule: rule as ListedRule })),
    ),
  )
  return listed.flat().flatMap(({ family, rule }) => {
    if (rule.protocol === KERNEL_PROTOCOL || rule.protocol === String(OWN_PROTOCOL)) return []
    const all = family === 4 ? '0.0.0.0/0' : '::/0'
    const table = Number(rule.table)
    return [
      {
        priority: rule.priority,
        src: rule.src === 'all' ? all : `${rule.src}/${rule.srclen ?? (family === 4 ? 32 : 128)}`,
        ...(rule.iif !== undefined && { iif: rule.iif }),
        table: Number.isSafeInteger(table) ? table : null,
        ...(Object.keys(rule).some((field) => !RULE_FIELDS.has(field)) && { conditional: true }),
      },
    ]
  })
}

const readOtherRoutes = async (exec: Exec): Promise<readonly HostRouteFact[]> =>
  (await readRoutes(exec)).flatMap(({ dst, family, table, protocol }) =>
    Number(table) >= ROUTE_TABLE_BASE && protocol !== OWN_PROTOCOL
      ? [{ family: family === 4 ? ('inet' as const) : ('inet6' as const), table: Number(table), dst: printPrefix(dst) }]
      : [],
  )

/** Entries of both neighbor tables that are not permanent: the kernel keeps permanent ones without counting them (since Linux 5.0). */
async function countNeighbors(exec: Exec): Promise<HostFacts['neighbors']> {
  const [ipv4, ipv6] = await Promise.all(
    FAMILIES.map(async (family) => {
      const listed = JSON.parse((await output(exec, 'ip', [`-${family}`, '-j', 'neighbor', 'show'])) || '[]') as readonly {
        readonly state?: readonly string[]
      }[]
      return listed.filter(({ state = [] }) => !state.includes('PERMANENT')).length
    }),
  )
  return { ipv4: ipv4 ?? 0, ipv6: ipv6 ?? 0 }
}
