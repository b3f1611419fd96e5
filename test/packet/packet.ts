import type { ExternalBridge } from '../../src/model/node-state.js'
import type { Sent } from './bridge.js'
import { MAC, NEXT_HOP, type Scenario, type Words } from './scenario.js'
import { inOrder } from './trace.js'

/** A packet of every family, and what must become of it. */
export interface Packet {
  readonly name: string
  /** Scenarios that it is sent in; all unless said. */
  readonly on?: (bridge: ExternalBridge) => boolean
  /** Family that it exists in; both unless said. */
  readonly only?: 4 | 6
  /** `uplink`, `LOCAL` or `patch(NETWORK)`. */
  readonly in: string
  /** Sender; unless said the bridge's MAC, on the uplink the next hop's. */
  readonly by?: string
  /** Receiver; unless said the next hop's MAC, on the uplink the bridge's. */
  readonly to?: string | ((words: Words) => string)
  readonly packet: (words: Words) => string
  /** It comes without a tag also where the gateway has a VLAN. */
  readonly untagged?: boolean
  /** The bridge has not learned yet behind which port its own MAC is: the host has not sent anything since the bridge is there. */
  readonly unlearned?: boolean
  /** What conntrack says each time it is asked; a new connection unless said. */
  readonly tracked?: readonly string[]
  /** Ids of the rows that it meets, in this order. */
  readonly rows: readonly string[]
  /** What the data path does with it, see Trace; without VLAN tags, which follow from the port. */
  readonly effects: (words: Words) => readonly string[]
}

export const isShared = ({ mode }: ExternalBridge): boolean => mode === 'shared'
export const isLocal = ({ mode }: ExternalBridge): boolean => mode === 'local'
export const isTagged = ({ vlan }: ExternalBridge): boolean => vlan !== 0
export const hasNetworks = ({ networks }: ExternalBridge): boolean => networks.length > 1
export const isAlone = ({ networks }: ExternalBridge): boolean => networks.length === 1
export const isMeasured = ({ mtu }: ExternalBridge): boolean => mtu !== null
/** All of the conditions. */
export const both =
  (...conditions: readonly ((bridge: ExternalBridge) => boolean)[]) =>
  (bridge: ExternalBridge): boolean =>
    conditions.every((holds) => holds(bridge))
export const not =
  (condition: (bridge: ExternalBridge) => boolean) =>
  (bridge: ExternalBridge): boolean =>
    !condition(bridge)

/** `ct(commit,…)` as the data path prints it. */
export const commit = (zone: number, mark: number | null, nat?: string): string =>
  `ct(commit,zone=${zone}${mark === null ? '' : `,mark=0x${mark.toString(16)}`}${nat ? `,nat(${nat})` : ''})`

export const nothing = (): readonly string[] => []

export const NETWORKS = ['default', 'blue', 'red', 'green', 'attic'] as const
/** The host and all networks. */
export const everyNetwork = (): readonly string[] => ['LOCAL', ...NETWORKS.map((network) => `patch(${network})`)]

/** The packet as the bridge of a scenario gets it. */
export function sent(packet: Packet, { bridge }: Scenario, words: Words): Sent {
  const isIncoming = packet.in === 'uplink'
  const to = typeof packet.to === 'function' ? packet.to(words) : (packet.to ?? (isIncoming ? MAC : NEXT_HOP))
  const from = packet.by ?? (isIncoming ? NEXT_HOP : MAC)
  return {
    in: packet.in,
    packet: `dl_src=${from},dl_dst=${to},${packet.packet(words)}`,
    vlan: packet.in === 'LOCAL' || packet.untagged ? 0 : bridge.vlan,
    unlearned: packet.unlearned ?? false,
    tracked: packet.tracked ?? [],
  }
}

/** The expected effects in a scenario: every copy is tagged but those for the host. */
export function expectedEffects(packet: Packet, { bridge }: Scenario, words: Words): readonly string[] {
  const tag = bridge.vlan === 0 || packet.untagged ? '' : ` vlan ${bridge.vlan}`
  return inOrder(packet.effects(words).map((effect) => (/(^|: )(uplink|patch\(\w+\))$/.test(effect) ? `${effect}${tag}` : effect)))
}
