import { GUARD_COOKIE, OWN_COOKIE, OWN_COOKIE_MASK } from '../model/numbers.js'
import { canonicalActions, type Packet } from './actions.js'
import { type Language, SyntaxFault } from './language.js'
import { type Condition, canonicalMatch, hex, readNumber } from './match.js'
import { once, sharing } from './recent.js'
import { type HostSymbol, substitute, symbolsIn } from './symbols.js'
import { alone, byText, splitTop } from './text.js'

/** One flow of a bridge, in canonical spelling whatever way it was written (ovs-fields(7), ovs-actions(7)). */
export interface Flow {
  readonly bridge: string
  readonly table: number
  readonly priority: number
  readonly cookie: bigint
  readonly match: readonly Condition[]
  readonly actions: string
  /** The object that it comes from and why; null when read from a host. Not part of the meaning. */
  readonly comment: string | null
}

const shared = sharing<string>()
/** Most flows do what others do, with other packets. */
const sharedText = (text: string): string => shared(text, text)

/** A flow as someone writes it: match and actions in any spelling that OVS takes. */
export function flow(from: {
  bridge: string
  table?: number
  priority: number
  cookie: bigint
  match: string
  actions: string
  comment?: string | null
}): Flow {
  const match = canonicalMatch(splitTop(from.match))
  return {
    bridge: from.bridge,
    table: from.table ?? 0,
    priority: from.priority,
    cookie: from.cookie,
    match,
    actions: sharedText(canonicalActions(from.actions, packetOf(match))),
    comment: from.comment ?? null,
  }
}

/** What a match says about the packets whose actions it precedes. */
function packetOf(match: readonly Condition[]): Packet {
  const transport = match.map(([field]) => /^(tcp|udp|sctp)6?$/.exec(field)?.[1]).find((name) => name !== undefined)
  return {
    tagged: match.some(([field, value]) => field === 'dl_vlan' || field === 'dl_vlan_pcp' || (field === 'vlan_tci' && isTagged(value))),
    transport: (transport ?? null) as Packet['transport'],
  }
}

/** Whether a condition on the tag control information asks for a tag. */
const isTagged = (text: string): boolean => ((readNumber(text.replace(/\/.*/, '')) ?? 0n) & 0x1000n) !== 0n

/** Whether a flow of a host is egretta's: the cookie of the guard (seed 000), or one of our own range with nothing above its 32 bits. */
export const isOwn = ({ cookie }: Flow): boolean =>
  cookie === GUARD_COOKIE || (cookie >> 32n === 0n && (cookie & OWN_COOKIE_MASK) === OWN_COOKIE)

/** Ports that only the host knows, in match and actions. */
export const portSymbols: (entry: Flow) => readonly HostSymbol[] = once(
  (entry: Flow) => symbolsIn(...entry.match.map(([, value]) => value), entry.actions),
  new WeakMap<Flow, readonly HostSymbol[]>(),
)

interface Placed {
  readonly ports: string
  readonly made: Flow
}

const PLACED = new WeakMap<Flow, Placed>()

/** The flow with symbols replaced by OpenFlow port numbers (or LOCAL); symbols that the map does not know stay. */
export function withPorts(entry: Flow, ports: ReadonlyMap<string, string>): Flow {
  const text = [...ports].join()
  const found = PLACED.get(entry)
  if (found?.ports === text) return found.made
  const match = entry.match.map((condition): Condition => {
    const [field, value] = condition
    const placed = substitute(value, ports)
    return placed === value ? condition : [field, placed]
  })
  const made = { ...entry, match, actions: sharedText(canonicalActions(substitute(entry.actions, ports))) }
  PLACED.set(entry, { ports: text, made })
  return made
}

/**
 * A flow that sends to several networks, without those whose port (a symbol) is not there; null where the flow needs such a port for anything
 * else, or sends to no other network.
 */
export function withoutOutputs(entry: Flow, absent: ReadonlySet<string>): Flow | null {
  const isNetwork = (action: string): boolean => /^output:patch\([^()]*\)$/.test(action)
  const actions = splitTop(entry.actions).filter((action) => !(isNetwork(action) && absent.has(action.slice('output:'.length))))
  const rest = { ...entry, actions: actions.join(',') }
  return actions.some(isNetwork) && !portSymbols(rest).some(({ text }) => absent.has(text)) ? rest : null
}

const printMatch = (match: readonly Condition[]): string =>
  match.map(([field, value]) => (value === '' ? field : `${field}=${value}`)).join(',')

/** The flow on one line, without its comment, as `ovs-ofctl add-flows` takes it once no symbol is left. */
export const printFlow = ({ cookie, table, priority, match, actions }: Flow): string =>
  `cookie=${hex(cookie)},table=${table},priority=${priority},${match.length === 0 ? '' : `${printMatch(match)},`}actions=${actions}`

/** In the order in which OVS tries them: table, then falling priority, then match. */
export const compareFlows = (a: Flow, b: Flow): number =>
  byText(a.bridge, b.bridge) || a.table - b.table || b.priority - a.priority || byText(printMatch(a.match), printMatch(b.match))

/** Fields before the match that say nothing about what a flow does. */
const STATISTICS = /^(duration|n_packets|n_bytes|idle_age|hard_age|idle_timeout|hard_timeout|importance)=/
const FLAGS = /^(send_flow_rem|reset_counts|check_overlap|no_packet_counts|no_byte_counts)$/

function parseFlow(bridge: string, line: string, number: number, comment: string | null): Flow {
  const at = line.search(/(^|[\s,])actions=/)
  if (at < 0) throw new SyntaxFault(number, 'a flow needs actions=')
  const actions = line.slice(line.indexOf('actions=', at) + 'actions='.length)
  const numbers = { cookie: 0n, table: 0n, priority: 0x8000n }
  const match: string[] = []
  for (const part of splitTop(line.slice(0, at).replaceAll(/\s+/g, ','))) {
    const named = /^(cookie|table|priority)=(.*)$/.exec(part)
    if (named) {
      const value = readNumber(named[2] as string)
      if (value === null) throw new SyntaxFault(number, `${named[1]}=${named[2]} is not a number`)
      numbers[named[1] as keyof typeof numbers] = value
    } else if (!STATISTICS.test(part) && !FLAGS.test(part)) match.push(part)
  }
  return flow({
    bridge,
    table: Number(numbers.table),
    priority: Number(numbers.priority),
    cookie: numbers.cookie,
    match: match.join(','),
    actions,
    comment,
  })
}

/** A line, and the flow in it. */
interface Line {
  readonly text: string
  readonly flow: Flow
}

/** Reads the flows of one bridge, and remembers those of its last text by their lines: few of ten thousand change at a time. */
export function flowReader(bridge: string): (text: string) => readonly Flow[] {
  let before: ReadonlyMap<string, Line> = new Map()
  return (text) => {
    const flows: Flow[] = []
    const lines = new Map<string, Line>()
    let comment: string | null = null
    for (const [index, written] of text.split('\n').entries()) {
      const line = written.trim()
      if (line.startsWith('#')) comment = line.replace(/^#\s*/, '')
      else if (line === '' || /^(OFPST|NXST)_FLOW/.test(line)) comment = null
      else {
        const known = before.get(line)
        const read = known?.flow.comment === comment ? known : readLine(bridge, alone(line), index + 1, comment && alone(comment))
        flows.push(read.flow)
        lines.set(read.text, read)
        comment = null
      }
    }
    before = lines
    return flows
  }
}

const readLine = (bridge: string, text: string, number: number, comment: string | null): Line => ({
  text,
  flow: parseFlow(bridge, text, number, comment),
})

/** Asked for again and again by whoever compares. */
const keyOf = once(
  (entry: Flow): string =>
    [entry.bridge, `table=${entry.table}`, `priority=${entry.priority}`, printMatch(entry.match)].filter((part) => part !== '').join(' '),
  new WeakMap<Flow, string>(),
)

/**
 * The flows of one bridge: `openflow.<bridge>.flows`, and what `ovs-ofctl -O OpenFlow14 dump-flows --no-names` prints. The comment line right
 * above a flow is the flow's; others are not kept. Identity: table, priority and match. Meaning: the actions; cookies are judged by isOwn.
 */
export const openflow = (bridge: string): Language<Flow> => ({
  subsystem: 'openflow',
  parse: flowReader(bridge),
  print: (entries) =>
    [...entries]
      .sort(compareFlows)
      .map((entry) => `${entry.comment === null ? '' : `# ${entry.comment}\n`}${printFlow(entry)}\n`)
      .join(''),
  key: keyOf,
  same: (a, b) => a.actions === b.actions,
})
