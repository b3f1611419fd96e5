import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Capture, capture, type Heard } from './capture.js'
import { type Count, count } from './handover.js'
import { type ClusterPod, NAMESPACE, SECOND_CARD, type Wanted } from './inputs.js'
import type { Namespace } from './netns.js'
import { CLIENT, CLIENT_CARD, type LabNode } from './network.js'
import type { Running } from './probe.js'
import { ask, speak } from './probe.js'
import { SERVER, type SecondaryLab, secondMac } from './secondary.js'
import { leavingFrom, PODS, WAYS } from './shop.js'

/** Questions a second and address. */
const ASKED = 20
/** How often a second the node that has an address sends from it. */
const SPOKEN = 2

/** Where the stations are that ask for an address. */
type Side = 'primary' | 'secondary'

interface Moving {
  readonly address: string
  readonly side: Side
}

const PRIMARY: readonly { readonly pod: ClusterPod; readonly address: string }[] = [
  { pod: { name: 'till', node: 'node-a', addresses: ['10.128.11.7'] }, address: '192.0.2.50' },
  { pod: { name: 'desk', node: 'node-a', addresses: ['fd01:0:0:11::8'] }, address: '2001:db8:1::50' },
]

/** An egress IP of each family on each network. */
const MOVING: readonly Moving[] = [
  ...PRIMARY.map(({ address }) => ({ address, side: 'primary' as const })),
  ...WAYS.map(({ egressIP }) => ({ address: egressIP, side: 'secondary' as const })),
]

/** All of them on one node. */
export const held = (node: string): Wanted =>
  leavingFrom(node, 'shared', {
    pods: [...PODS, ...PRIMARY.map(({ pod }) => pod)],
    egress: [
      ...(leavingFrom(node, 'shared').egress ?? []),
      ...PRIMARY.map(({ pod, address }) => ({ name: pod.name, addresses: [address], node, namespace: NAMESPACE, app: pod.name })),
    ],
  })

/** What the stations of both networks hear, and who asks there. */
interface Ears {
  /** The MAC with which a node answers for an address. */
  macOf(node: LabNode, address: string): string
  /** What was heard about an address so far. */
  about(address: string): readonly Heard[]
  /** Ends it all and keeps what was heard. Throws when a capture lost packets. */
  stop(): Promise<void>
}

/** Listens on both networks, and asks there for every moving address all the time. */
async function listen(lab: SecondaryLab, name: string): Promise<Ears> {
  const sides: Readonly<Record<Side, { namespace: Namespace; card: string; station: { ipv4: string; ipv6: string } }>> = {
    primary: { namespace: lab.client, card: CLIENT_CARD, station: CLIENT },
    secondary: { namespace: lab.server, card: SECOND_CARD, station: SERVER.near },
  }
  const captures = new Map<Side, Capture>()
  for (const side of ['primary', 'secondary'] as const) {
    const { namespace, card } = sides[side]
    captures.set(side, await capture(namespace, card, join(lab.dir, `${name}-${side}.pcap`)))
  }
  const asking = MOVING.map(({ address, side }) => {
    const { namespace, card, station } = sides[side]
    return ask(namespace, card, address.includes(':') ? station.ipv6 : station.ipv4, [address], ASKED)
  })
  let kept: ReadonlyMap<Side, readonly Heard[]> | null = null
  const sideOf = (address: string): Side => MOVING.find((one) => one.address === address)?.side ?? 'primary'
  return {
    macOf: (node, address) => (sideOf(address) === 'primary' ? node.mac : secondMac(node.mac)),
    about: (address) =>
      (kept?.get(sideOf(address)) ?? captures.get(sideOf(address))?.read() ?? []).filter((one) => one.address === address),
    async stop() {
      for (const one of asking) one.stop()
      kept = new Map(await Promise.all([...captures].map(async ([side, one]) => [side, await one.stop()] as const)))
    },
  }
}

/** Sends from the addresses all the time, and makes the kernel ask for its peer with them as the sender. */
function speakFrom(node: LabNode): Running {
  const each = MOVING.map(({ address, side }) => {
    const [device, peer] = side === 'primary' ? ([node.bridge, CLIENT] as const) : ([SECOND_CARD, SERVER.near] as const)
    return speak(node.namespace, device, address, address.includes(':') ? peer.ipv6 : peer.ipv4, SPOKEN)
  })
  return {
    stop() {
      for (const one of each) one.stop()
    },
  }
}

/** A move of all the addresses, in milliseconds since 1970. */
interface Move {
  readonly from: LabNode
  readonly to: LabNode
  /** The later of the moments at which the two nodes were told. */
  readonly told: number
}

/** Waits until the new node answers for every address and the old one holds none. Seldom looks: what it costs, the nodes are without. */
async function arrived(ears: Ears, { from, to, told }: Move, seconds: number): Promise<void> {
  const missing = (): readonly string[] =>
    MOVING.map(({ address }) => address).filter((address) => {
      const mac = ears.macOf(to, address)
      return !ears.about(address).some((one) => one.kind === 'answer' && one.mac === mac && one.at >= told)
    })
  for (let looks = 0; missing().length + holding(from).length > 0; looks++) {
    if (looks > seconds * 4) throw new Error(`${to.name} does not answer for [${missing()}], ${from.name} holds [${holding(from)}]`)
    await sleep(250)
  }
}

/** The moving addresses on a node. */
export function holding(node: LabNode): readonly string[] {
  const listed = node.namespace.exec('ip', ['-o', 'addr', 'show']).stdout
  return MOVING.map(({ address }) => address).filter((address) => new RegExp(` ${address}/`).test(listed))
}

/** What a move was like for one address. */
export interface Moved {
  readonly address: string
  /** Milliseconds from the moment when the later node was told to the first answer of the new one; null: none. */
  readonly silence: number | null
  /** From the first answer of the new node to the end. */
  readonly after: Count
}

/** What was heard of a move from its start until another one began, or whatever it is that ended it. */
function judge(ears: Ears, { from, to, told }: Move, start: number, end: number): readonly Moved[] {
  return MOVING.map(({ address }) => {
    const about = ears.about(address)
    const [old, now] = [ears.macOf(from, address), ears.macOf(to, address)]
    const first = about.find(({ at, kind, mac }) => kind === 'answer' && mac === now && at >= start && at < end)
    return { address, silence: first ? first.at - told : null, after: count(about, old, now, first?.at ?? end, end) }
  })
}

/**
 * Moves all the addresses to and fro while both networks ask for them and the old node sends from them. `tell` tells the nodes of one move and
 * answers when the later of them was told. What was heard of each move.
 */
export async function moveAround(
  lab: SecondaryLab,
  name: string,
  moves: number,
  tell: (index: number, from: LabNode, to: LabNode) => Promise<number>,
): Promise<readonly (readonly Moved[])[]> {
  const nodes = lab.nodes as readonly [LabNode, LabNode]
  const ears = await listen(lab, name)
  const done: { readonly move: Move; readonly start: number }[] = []
  for (let index = 0; index < moves; index++) {
    const [from, to] = index % 2 === 0 ? nodes : [nodes[1], nodes[0]]
    const speaking = speakFrom(from)
    await sleep(300)
    const start = Date.now()
    const move = { from, to, told: await tell(index, from, to) }
    await arrived(ears, move, 20)
    speaking.stop()
    done.push({ move, start })
  }
  await sleep(1000)
  await ears.stop()
  return done.map(({ move, start }, index) => judge(ears, move, start, done[index + 1]?.start ?? Date.now()))
}

/** The longest silence of a move, in milliseconds from the moment when the later of the two nodes was told; infinite where an address never came. */
export const silenceOf = (moved: readonly Moved[]): number => Math.max(...moved.map(({ silence }) => silence ?? Number.POSITIVE_INFINITY))
