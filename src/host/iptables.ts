import { type Address, type Family, parseAddress, parsePrefix } from '../model/address.js'
import { EGRESS_NODE_MARK } from '../model/numbers.js'
import { type Exec, HostFault, output } from './exec.js'
import { FAMILIES } from './family.js'

/** What gives a pod an egress IP where it leaves through an interface. */
export interface Translation {
  readonly pod: Address
  readonly dev: string
  readonly egressIP: Address
}

/** What releases of OVN-Kubernetes up to v1.3.0 have in iptables for one family. */
export interface EgressChain {
  readonly family: Family
  /** Rules of the chain, in their order. */
  readonly translations: readonly Translation[]
  /** Whether POSTROUTING leads there. */
  readonly isReached: boolean
  /** Whether the mark of a connection to a node is kept and restored: local gateway mode. */
  readonly keepsMark: boolean
}

/** Early releases wrote it `…-Multi-NIC`. */
const CHAIN = 'OVN-KUBE-EGRESS-IP-MULTI-NIC'

/** Each lists the rules of its own half of the kernel; the last is one of the other two, under whatever name there is. */
const PROGRAMS: Readonly<Record<Family, readonly string[]>> = {
  4: ['iptables-nft-save', 'iptables-legacy-save', 'iptables-save'],
  6: ['ip6tables-nft-save', 'ip6tables-legacy-save', 'ip6tables-save'],
}

/**
 * The chain of both families, of those that have one. Fails with HostFault MissingTool where the host has it and no program that can read it:
 * nft shows that it is there, but not what is in it.
 */
export async function readEgressChains(exec: Exec): Promise<readonly EgressChain[]> {
  const found: EgressChain[] = []
  for (const family of FAMILIES) {
    const chains = chainIn(await readRules(exec, family), family)
    if (chains.length === 0 && (await isListed(exec, family))) throw unreadable(family)
    found.push(...chains)
  }
  return found
}

/** Lines of all programs that the host has. Without a table named, a program loads no part of the kernel. */
async function readRules(exec: Exec, family: Family): Promise<readonly string[]> {
  const texts: string[] = []
  for (const program of PROGRAMS[family]) {
    if (texts.length > 0 && program === PROGRAMS[family].at(-1)) break
    try {
      texts.push(await output(exec, program, []))
    } catch (error) {
      if (!(error instanceof HostFault) || error.code !== 'MissingTool') throw error
    }
  }
  return texts.flatMap((text) => text.split('\n'))
}

function chainIn(lines: readonly string[], family: Family): readonly EgressChain[] {
  const isDeclared = lines.some((line) => line.toUpperCase().startsWith(`:${CHAIN} `))
  if (!isDeclared) return []
  const rules = lines.map((line): readonly string[] => line.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? []).filter(([add]) => add === '-A')
  const keeps = (mark: string, verb: string) =>
    rules.some((words) => words[1] === 'PREROUTING' && optionOf(words, '--mark') === mark && words.includes(verb))
  return [
    {
      family,
      translations: rules.filter(([, chain]) => chain?.toUpperCase() === CHAIN).flatMap((words) => translationOf(words) ?? []),
      isReached: rules.some((words) => words.join(' ').toUpperCase() === `-A POSTROUTING -J ${CHAIN}`),
      keepsMark: keeps('0x0', '--restore-mark') && keeps(`0x${EGRESS_NODE_MARK.toString(16)}`, '--save-mark'),
    },
  ]
}

/** The word behind an option; undefined where it is not given, or turned round with `!`. */
const optionOf = (words: readonly string[], option: string): string | undefined => {
  const at = words.indexOf(option)
  return at < 0 || words[at - 1] === '!' ? undefined : words[at + 1]
}

function translationOf(words: readonly string[]): Translation | undefined {
  const pod = parsePrefix(optionOf(words, '-s') ?? '')?.address
  const dev = optionOf(words, '-o')
  const egressIP = parseAddress(optionOf(words, '--to-source') ?? '')
  return pod && dev !== undefined && egressIP ? { pod, dev, egressIP } : undefined
}

/** Whether nft lists the chain, which iptables-nft keeps where nft sees it. */
async function isListed(exec: Exec, family: Family): Promise<boolean> {
  const { nftables } = JSON.parse(await output(exec, 'nft', ['-j', 'list', 'chains'])) as {
    nftables: readonly { chain?: { readonly family: string; readonly name: string } }[]
  }
  const of = family === 4 ? 'ip' : 'ip6'
  return nftables.some(({ chain }) => chain?.family === of && chain.name.toUpperCase() === CHAIN)
}

const unreadable = (family: Family): HostFault => {
  const [program = ''] = PROGRAMS[family]
  return new HostFault(
    'MissingTool',
    `${program} is not installed, and this host has the chain ${CHAIN}, which nft cannot read`,
    'Install iptables, then run again.',
  )
}
