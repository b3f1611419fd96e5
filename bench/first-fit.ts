import { type Address, compareAddresses } from '../src/model/address.js'
import { cloudOf, hosting } from '../src/model/hosting.js'
import type { Inputs } from '../src/model/inputs.js'
import { matches } from '../src/model/selector.js'
import type { ClusterNode } from '../src/model/topology.js'

/** What a placement comes to. */
export interface Score {
  readonly assigned: number
  /** Addresses that lost their node and have another one now. */
  readonly moves: number
  /** Sum over the nodes of the square of the addresses that they hold: the smaller, the better balanced. */
  readonly sumOfSquares: number
}

interface Seat {
  readonly node: ClusterNode
  ipv4: number
  ipv6: number
}

const heldBy = ({ ipv4, ipv6 }: Seat): number => ipv4 + ipv6

function add(seat: Seat, { family }: Address): void {
  if (family === 4) seat.ipv4++
  else seat.ipv6++
}

/**
 * The plain way, as the yardstick: what is valid stays; then object by object, the older first, the nodes that fit are sorted once by the
 * number of addresses that they hold, and each address takes the first that hosts it. The same rules, no look ahead. The inputs of the
 * bench have no address that is refused for itself, so nothing is checked for that.
 */
export function firstFit({ intent, topology, current }: Inputs): Score {
  const { facts } = topology
  const seats = topology.nodes.filter(({ ready, invalid }) => ready && invalid === null).map((node): Seat => ({ node, ipv4: 0, ipv6: 0 }))
  const seatOf = new Map(seats.map((seat) => [seat.node.name, seat]))
  const objects = [...intent.objects].sort((a, b) => (a.created ?? Infinity) - (b.created ?? Infinity) || (a.name < b.name ? -1 : 1))
  let assigned = 0
  let moves = 0
  const open = objects.map((object) => {
    const taken = new Set<Seat>()
    const addresses = object.addresses.flatMap(({ address }) => address ?? []).sort(compareAddresses)
    const waiting = addresses.filter((address) => {
      const seat = seatOf.get(current.get(object.name)?.get(address.text) ?? '')
      if (!seat || taken.has(seat) || !matches(object.egressNodeSelector, seat.node.labels) || !hosting(seat.node, facts, address))
        return true
      taken.add(seat)
      add(seat, address)
      assigned++
      return false
    })
    return { object, waiting, taken }
  })
  for (const { object, waiting, taken } of open) {
    if (waiting.length === 0) continue
    const fitting = seats.filter(({ node }) => matches(object.egressNodeSelector, node.labels))
    fitting.sort((a, b) => heldBy(a) - heldBy(b))
    for (const address of waiting) {
      const seat = fitting.find((one) => !taken.has(one) && hasRoom(one, address) && hosting(one.node, facts, address) !== null)
      if (!seat) continue
      taken.add(seat)
      add(seat, address)
      assigned++
      if (current.get(object.name)?.has(address.text)) moves++
    }
  }
  return { assigned, moves, sumOfSquares: seats.reduce((sum, seat) => sum + heldBy(seat) ** 2, 0) }

  function hasRoom(seat: Seat, { family }: Address): boolean {
    const limit = cloudOf(seat.node, facts)?.capacity
    const under = (most: number | null | undefined, count: number) => most === null || most === undefined || count < most
    return under(limit?.ip, heldBy(seat)) && (family === 4 ? under(limit?.ipv4, seat.ipv4) : under(limit?.ipv6, seat.ipv6))
  }
}
