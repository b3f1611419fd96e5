import { type Family, parseAddress } from '../model/address.js'

/**
 * One step from the current assignment to the planned one. `remove`: the address leaves `from`. `wait`: go on when it is off `from`, as
 * the status of its CloudPrivateIPConfig says. `move`: it leaves `from` and comes up on `to`. `add`: it comes up on `to`.
 */
export interface PlanStep {
  /** From 1. */
  readonly step: number
  readonly action: 'remove' | 'wait' | 'move' | 'add'
  readonly egressIP: string
  readonly object: string
  readonly from: string | null
  readonly to: string | null
}

/** An address that goes from one node to another; null is none. */
export interface Transfer {
  readonly egressIP: string
  readonly object: string
  readonly from: string | null
  readonly to: string | null
}

type Arrival = Transfer & { readonly to: string }

/** An address where it stands at first. */
export interface Resident {
  readonly egressIP: string
  readonly object: string
  readonly node: string
}

/** Most addresses of a node: of both families, and of each. Null is no limit. */
export interface Limits {
  readonly ip: number | null
  readonly ipv4: number | null
  readonly ipv6: number | null
}

/**
 * The order in which no node holds more than it may, or two addresses of one object, and no address is on two nodes, however long each
 * takes to leave. What only leaves goes first. An address moves as soon as its new node has room; where that room depends on one that
 * has just left, it waits for it. When full nodes wait for each other in a circle, one address of the circle is removed first, and
 * added when its turn comes. A node that holds too much from the start only loses. Pure; among equals the order of `transfers` decides.
 */
export function orderSteps(
  transfers: readonly Transfer[],
  residents: readonly Resident[],
  limitsOf: (node: string) => Limits,
): readonly PlanStep[] {
  const stage = new Stage(residents, limitsOf)
  for (const transfer of transfers) if (transfer.to === null) stage.remove(transfer)
  /** Node to those for which it has no room. */
  const waiting = new Map<string, Arrival[]>()
  let queue = transfers.filter((transfer): transfer is Arrival => transfer.to !== null)
  const left = (node: string | null) => {
    if (node === null) return
    queue.push(...(waiting.get(node) ?? []))
    waiting.delete(node)
  }
  for (;;) {
    // Grows while it is read: whoever leaves a node wakes those that wait for it.
    for (const transfer of queue) {
      if (stage.enter(transfer)) left(transfer.from)
      else waiting.set(transfer.to, [...(waiting.get(transfer.to) ?? []), transfer])
    }
    queue = []
    const blocked = [...waiting.values()].flat()
    const [first] = blocked
    if (!first) return stage.steps
    const broken = new Set(circles(blocked, stage))
    // Only inputs that contradict themselves have a node without room and nothing that leaves it.
    const forced = broken.size === 0 ? first : null
    if (forced) stage.enter(forced, true)
    for (const transfer of broken) stage.remove(transfer)
    for (const [node, list] of waiting) {
      const rest = list.flatMap((one) => (one === forced ? [] : [broken.has(one) ? { ...one, from: null } : one]))
      waiting.set(node, rest)
    }
    for (const { from } of forced ? [forced] : broken) left(from)
  }
}

/** One transfer of every circle in which each waits for the next one to leave. */
function circles(blocked: readonly Arrival[], stage: Stage): readonly Arrival[] {
  const byOrigin = new Map<string, Arrival[]>()
  for (const one of blocked) if (one.from !== null) byOrigin.set(one.from, [...(byOrigin.get(one.from) ?? []), one])
  const seen = new Map<Arrival, Arrival>()
  return blocked.flatMap((start) => {
    let here: Arrival | undefined = start
    while (here && !seen.has(here)) {
      seen.set(here, start)
      const waiting: Arrival = here
      here = byOrigin.get(waiting.to)?.find((other) => stage.blocks(other, waiting))
    }
    return here && seen.get(here) === start && here.from !== null ? [here] : []
  })
}

/** What stands on a node. */
interface Occupancy {
  readonly count: Record<Family, number>
  /** Number of addresses of each object. */
  readonly objects: Map<string, number>
  /** What a step has sent away and no `wait` has seen off yet. */
  leavers: Transfer[]
}

const familyOf = ({ egressIP }: { readonly egressIP: string }): Family => parseAddress(egressIP)?.family ?? 4

/** The nodes while the steps are taken. */
class Stage {
  readonly steps: PlanStep[] = []
  readonly #nodes = new Map<string, Occupancy>()
  /** Address to the nodes that a step has removed it from. */
  readonly #removed = new Map<string, readonly string[]>()
  readonly #limitsOf: (node: string) => Limits

  constructor(residents: readonly Resident[], limitsOf: (node: string) => Limits) {
    this.#limitsOf = limitsOf
    const distinct = new Map(residents.map((resident) => [`${resident.egressIP} ${resident.node}`, resident]))
    for (const resident of distinct.values()) this.#count(resident, resident.node, 1)
  }

  remove(transfer: Transfer): void {
    const from = transfer.from as string
    this.#emit('remove', transfer, from, null)
    this.#leave(transfer, from)
    this.#removed.set(transfer.egressIP, [...(this.#removed.get(transfer.egressIP) ?? []), from])
  }

  /** False, and nothing happens, where the node has no room even without those that are leaving. */
  enter(transfer: Arrival, anyway = false): boolean {
    const { egressIP, from, to } = transfer
    const node = this.#at(to)
    if (!anyway && !this.#fits(transfer, node, [])) return false
    for (const former of this.#removed.get(egressIP) ?? []) {
      for (const one of this.#at(former).leavers) if (one.egressIP === egressIP) this.#seeOff(one, former)
    }
    while (node.leavers.length > 0 && !this.#fits(transfer, node, node.leavers)) this.#seeOff(node.leavers[0] as Transfer, to)
    this.#emit(from === null ? 'add' : 'move', transfer, from, to)
    this.#count(transfer, to, 1)
    if (from !== null) this.#leave(transfer, from)
    return true
  }

  /** Whether `other`, by leaving, lifts what keeps `transfer` from its node first. */
  blocks(other: Transfer, transfer: Arrival): boolean {
    const { count, objects } = this.#at(transfer.to)
    const { ip } = this.#limitsOf(transfer.to)
    if ((objects.get(transfer.object) ?? 0) > 0) return other.object === transfer.object
    return (ip !== null && count[4] + count[6] >= ip) || familyOf(other) === familyOf(transfer)
  }

  #fits(transfer: Arrival, { count, objects }: Occupancy, leavers: readonly Transfer[]): boolean {
    const family = familyOf(transfer)
    const { ip, ipv4, ipv6 } = this.#limitsOf(transfer.to)
    const limit = family === 4 ? ipv4 : ipv6
    if ((objects.get(transfer.object) ?? 0) > 0 || leavers.some(({ object }) => object === transfer.object)) return false
    if (ip !== null && count[4] + count[6] + leavers.length >= ip) return false
    return limit === null || count[family] + leavers.filter((one) => familyOf(one) === family).length < limit
  }

  #leave(transfer: Transfer, from: string): void {
    this.#count(transfer, from, -1)
    this.#at(from).leavers.push(transfer)
  }

  #seeOff(transfer: Transfer, from: string): void {
    this.#emit('wait', transfer, from, null)
    const node = this.#at(from)
    node.leavers = node.leavers.filter((one) => one !== transfer)
  }

  #emit(action: PlanStep['action'], { egressIP, object }: Transfer, from: string | null, to: string | null): void {
    this.steps.push({ step: this.steps.length + 1, action, egressIP, object, from, to })
  }

  #count(one: Pick<Transfer, 'egressIP' | 'object'>, node: string, by: 1 | -1): void {
    const { count, objects } = this.#at(node)
    count[familyOf(one)] += by
    objects.set(one.object, (objects.get(one.object) ?? 0) + by)
  }

  #at(node: string): Occupancy {
    const found = this.#nodes.get(node) ?? { count: { 4: 0, 6: 0 }, objects: new Map(), leavers: [] }
    this.#nodes.set(node, found)
    return found
  }
}
