/** A flow that a packet met, as `ofproto/trace` prints it (ovs-vswitchd(8)). */
export interface Met {
  readonly table: number
  readonly priority: number
  readonly match: string
  readonly cookie: bigint
}

/** What became of a packet. */
export interface Trace {
  /** Flows with a cookie that it met, in the order in which it met them. */
  readonly met: readonly Met[]
  /**
   * What the data path does, in order, over all passes through conntrack: `ct(…)`, `eth(…)`, and the port of each copy with the VLAN tag
   * that the copy carries there, such as `uplink vlan 100`. `over 1414: PORT` and `up to 1414: PORT` are the two ways of a packet that is
   * measured. Copies that follow each other are sorted: their order is no matter. Nothing is a drop.
   */
  readonly effects: readonly string[]
}

/** Reads a trace. `ports` names the ports of the data path, `vlan` is the tag that the packet comes with, 0 for none. */
export function readTrace(text: string, ports: ReadonlyMap<string, string>, vlan: number): Trace {
  const met: Met[] = []
  const effects: string[] = []
  let tag = vlan
  for (const line of text.split('\n')) {
    const flow = /^\s*(\d+)\. (?:(.*), )?priority (\d+), cookie (0x[0-9a-f]+)$/.exec(line)
    if (flow) met.push({ table: Number(flow[1]), match: flow[2] ?? '', priority: Number(flow[3]), cookie: BigInt(flow[4] as string) })
    const actions = /^Datapath actions: (.*)$/.exec(line)?.[1]
    if (actions === undefined) continue
    const done = readActions(actions, ports, tag)
    effects.push(...done.effects)
    tag = done.tag
  }
  return { met, effects: inOrder(effects) }
}

const COPY = /^(?:over \d+: |up to \d+: )?(?:uplink|LOCAL|patch\(\w+\))(?: vlan \d+)?$/

/** Effects in which the copies of a packet that follow each other are sorted. */
export function inOrder(effects: readonly string[]): readonly string[] {
  const done: string[] = []
  let copies: string[] = []
  for (const effect of [...effects, null]) {
    if (effect !== null && COPY.test(effect)) copies.push(effect)
    else {
      done.push(...copies.sort())
      copies = []
      if (effect !== null) done.push(effect)
    }
  }
  return done
}

function readActions(text: string, ports: ReadonlyMap<string, string>, vlan: number) {
  const effects: string[] = []
  let tag = vlan
  for (const action of split(text)) {
    const [, name = '', rest = ''] = /^(\w+)(?:\((.*)\))?$/.exec(action) ?? []
    if (name === 'push_vlan') tag = Number(/vid=(\d+)/.exec(rest)?.[1])
    else if (name === 'pop_vlan') tag = 0
    else if (name === 'ct') effects.push(action.replaceAll(/\/0xffffffff\b/g, ''))
    else if (name === 'set') effects.push(rest)
    else if (name === 'check_pkt_len') {
      const [, size = '', over = '', upTo = ''] = /^size=(\d+),gt\((.*)\),le\((.*)\)$/.exec(rest) ?? []
      effects.push(...readActions(over, ports, tag).effects.map((effect) => `over ${size}: ${effect}`))
      effects.push(...readActions(upTo, ports, tag).effects.map((effect) => `up to ${size}: ${effect}`))
    } else if (/^\d+$/.test(name)) effects.push(`${ports.get(name) ?? `port ${name}`}${tag === 0 ? '' : ` vlan ${tag}`}`)
    else if (name !== 'recirc' && name !== 'drop') effects.push(action)
  }
  return { effects, tag }
}

/** The parts between commas that stand in no parentheses. */
function split(text: string): readonly string[] {
  const parts: string[] = []
  let [depth, from] = [0, 0]
  for (let at = 0; at <= text.length; at++) {
    const sign = text[at]
    if (sign === '(') depth++
    else if (sign === ')') depth--
    else if (depth === 0 && (sign === ',' || sign === undefined)) {
      if (at > from) parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return parts
}
