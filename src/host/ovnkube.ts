import { type Family, parseAddress } from '../model/address.js'
import { asObject, type Json } from '../syntax/nft-json.js'
import { nftables as language } from '../syntax/nftables.js'
import { type Exec, output } from './exec.js'
import type { Translation } from './iptables.js'
import { readTables } from './nftables.js'

/** nft table of ovnkube-node, family inet. */
const OVNKUBE_TABLE = 'ovn-kubernetes'
/** How the names of everything begin there that serves egress IPs of secondary interfaces. */
const EGRESS = 'egress-ip-'

/** What ovnkube-node has in nftables for egress IPs of secondary interfaces. */
export interface OvnkubeNat {
  /** Families whose map is there: releases after v1.3.0 have both, empty where nothing is translated. */
  readonly maps: readonly Family[]
  readonly translations: readonly Translation[]
  /** Rules of chains that the kernel runs, by the name of their chain. */
  readonly rules: readonly { readonly chain: string; readonly expr: readonly Json[] }[]
}

/** Nothing of the table is read but what serves egress IPs: the rest may hold what this nft does not know. */
export async function readOvnkubeNat(exec: Exec): Promise<OvnkubeNat> {
  const tables = await readTables(exec)
  if (!tables.some(({ family, name }) => family === 'inet' && name === OVNKUBE_TABLE)) return { maps: [], translations: [], rules: [] }
  const { nftables } = JSON.parse(await output(exec, 'nft', ['-j', 'list', 'table', 'inet', OVNKUBE_TABLE])) as {
    nftables: readonly Json[]
  }
  const entries = language.parse(JSON.stringify({ nftables: nftables.filter(servesEgress) }))
  const running = new Set(entries.flatMap((entry) => (entry.kind === 'chain' && entry.hook ? entry.name : [])))
  return {
    maps: ([4, 6] as const).filter((family) => entries.some((entry) => entry.kind === 'set' && entry.name === `${EGRESS}snat-v${family}`)),
    translations: entries.flatMap((entry) => (entry.kind === 'element' ? (translationOf(entry.value, entry.to) ?? []) : [])),
    rules: entries.flatMap((entry) => (entry.kind === 'rule' && running.has(entry.chain) ? { chain: entry.chain, expr: entry.expr } : [])),
  }
}

function servesEgress(item: Json): boolean {
  const [body] = Object.values(asObject(item) ?? {}).map((inner) => asObject(inner))
  const name = body?.chain ?? body?.name
  return typeof name === 'string' && name.startsWith(EGRESS)
}

/** What an element of a map `POD . INTERFACE : EGRESSIP` says; undefined for any other. */
export function translationOf(value: Json, to: Json): Translation | undefined {
  const concat = asObject(value)?.concat
  const [pod, dev] = Array.isArray(concat) ? (concat as readonly Json[]) : []
  const [from, egressIP] = [pod, to].map((text) => (typeof text === 'string' ? parseAddress(text) : undefined))
  return from && egressIP && typeof dev === 'string' ? { pod: from, dev, egressIP } : undefined
}
