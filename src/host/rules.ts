import { type Family, hostPrefix, type Prefix, parseAddress, printPrefix } from '../model/address.js'
import type { Change } from '../model/change.js'
import { MARK_RULE_PRIORITY, OWN_PROTOCOL } from '../model/numbers.js'
import { type HostRule, rules as language } from '../syntax/rules.js'
import { batchAll } from './batch.js'
import { type Exec, HostFault, output } from './exec.js'
import { FAMILIES, familyOption, readFamily, tableName } from './family.js'
import type { Subsystem } from './subsystem.js'

/** A rule as `ip -N -d -j rule` prints it, with what a rule of ours can have. */
interface Listed {
  readonly priority: number
  readonly src: string
  readonly srclen?: number
  readonly fwmark?: string
  readonly table?: string
  readonly protocol?: string
}

/** A rule with any other field chooses other packets or does something else with them; the kernel keeps it beside one of ours. */
const FIELDS: ReadonlySet<string> = new Set(['priority', 'src', 'srclen', 'fwmark', 'table', 'protocol'])

/**
 * Makes Linux look at the mark when it asks whether a packet came in where its answer would go out (rp_filter): without it, replies
 * that rule 5999 leads back over another interface are dropped. Of IPv4 alone; ip-sysctl of the kernel's documentation.
 */
const SRC_VALID_MARK = 'net.ipv4.conf.all.src_valid_mark'

/** What is wrong where the kernel does not. */
export const IGNORES_MARKS = `${SRC_VALID_MARK} is not 1`
export const ignoresMarks = async (exec: Exec): Promise<boolean> => (await output(exec, 'sysctl', ['-n', SRC_VALID_MARK])).trim() !== '1'

/**
 * Rules of the routing policy, ours by `protocol` 230. A rule that differs from all that egretta could write is neither ours nor foreign:
 * no two such rules are in each other's way. The IPv4 rule for marked packets needs a setting of the kernel, which is set with it and stays
 * when it goes, because others may need it too.
 */
export function hostRules(exec: Exec): Subsystem<HostRule> {
  return {
    language,
    async observe() {
      const own: HostRule[] = []
      const foreign: HostRule[] = []
      for (const family of FAMILIES) {
        for (const listed of (await readFamily(exec, family, ['rule', 'show'])) as readonly Listed[]) {
          const rule = readRule(listed, family)
          if (rule) (listed.protocol === String(OWN_PROTOCOL) ? own : foreign).push(rule)
        }
      }
      const blind = own.some(needsMark) && (await ignoresMarks(exec))
      return { own: own.map((rule) => (blind && needsMark(rule) ? { ...rule, altered: IGNORES_MARKS } : rule)), foreign }
    },
    async apply(changes) {
      // A container may see the setting and not write it.
      if (changes.some(({ entry }) => entry && needsMark(entry)) && (await ignoresMarks(exec)))
        await output(exec, 'sysctl', ['-w', `${SRC_VALID_MARK}=1`])
      // All of a rule is its key, so nothing of the rule itself is ever to be updated.
      const moves = changes.filter(({ op }) => op !== 'update')
      for (const family of FAMILIES) {
        const ofFamily = moves.filter(({ entry, from }) => (entry ?? from)?.src.address.family === family)
        if (ofFamily.some(({ op }) => op === 'delete')) await refuseOthers(exec, family, ofFamily)
        await batchAll(exec, [familyOption(family)], ofFamily, command)
      }
    },
  }
}

/**
 * Fails where a deletion could hit a rule of somebody else: the kernel deletes the first rule that agrees in what the command says, and what
 * it does not say (an interface, a destination) agrees with any. No command can say that a rule has nothing of it.
 */
async function refuseOthers(exec: Exec, family: Family, changes: readonly Change<HostRule>[]): Promise<void> {
  const doomed = new Map(changes.flatMap(({ op, key, from }) => (op === 'delete' && from ? [[key, from] as const] : [])))
  for (const listed of (await readFamily(exec, family, ['rule', 'show'])) as readonly Listed[]) {
    if (listed.protocol !== String(OWN_PROTOCOL)) continue
    const rule = readRule(listed, family)
    if (rule) {
      doomed.delete(language.key(rule))
      continue
    }
    const src = sourceOf(listed, family)
    const [hit] = [...doomed].find(
      ([, from]) =>
        from.priority === listed.priority &&
        from.table === tableName(listed.table ?? '') &&
        (from.src.length === 0 || (src && printPrefix(src) === printPrefix(from.src))),
    ) ?? ['']
    if (!hit) continue
    const message = `${hit}: somebody else has a rule with egretta's protocol ${OWN_PROTOCOL} and more conditions, which would be deleted in its place`
    const remedy = `Remove that one: see ip ${familyOption(family)} -d rule show priority ${listed.priority}`
    throw new HostFault('CommandFailed', message, remedy)
  }
}

export const needsMark = ({ priority, src, fwmark }: HostRule): boolean =>
  priority === MARK_RULE_PRIORITY && fwmark !== null && src.address.family === 4

function readRule(listed: Listed, family: Family): HostRule | null {
  if (listed.table === undefined || Object.keys(listed).some((field) => !FIELDS.has(field))) return null
  const src = sourceOf(listed, family)
  if (!src) return null
  const fwmark = listed.fwmark === undefined ? null : Number(listed.fwmark)
  return { priority: listed.priority, src, fwmark, table: tableName(listed.table), for: null }
}

function sourceOf({ src, srclen }: Listed, family: Family): Prefix | undefined {
  const address = parseAddress(src === 'all' ? (family === 4 ? '0.0.0.0' : '::') : src)
  if (!address) return undefined
  return src === 'all' ? { address, length: 0 } : { ...hostPrefix(address), ...(srclen !== undefined && { length: srclen }) }
}

function command({ op, entry, from }: Change<HostRule>): string {
  const { priority, src, fwmark, table } = (entry ?? from) as HostRule
  const mark = fwmark === null ? '' : ` fwmark 0x${fwmark.toString(16)}`
  return `rule ${op === 'delete' ? 'del' : 'add'} from ${printPrefix(src)}${mark} priority ${priority} table ${table} protocol ${OWN_PROTOCOL}`
}
