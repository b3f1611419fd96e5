import type { BridgeNetwork, ExternalBridge } from '../model/node-state.js'

/** One row of the flow table: a flow for each combination of what it ranges over, where all of its conditions hold. */
export interface PipelineRow {
  /** Stable and speaking. */
  readonly id: string
  readonly table: number
  readonly priority: number
  /** Low 16 bits of the cookie; 0 unless said. */
  readonly cookie?: number
  /** One flow for each combination, from left to right. */
  readonly over?: readonly Dimension[]
  readonly when?: readonly PipelineCondition[]
  /** With `{placeholders}`, as ovs-ofctl takes it. */
  readonly match: string
  readonly actions: string
  /** One sentence: stands above each flow, behind the object that it comes from. */
  readonly why: string
}

/** What a row can range over, and the placeholders that it gives a value. */
export const DIMENSIONS = {
  family: 'each family in which the node has an address: `{node}`, `{host}`, `{ovn}`, `{masquerade}`, and the words of the family',
  network: 'each network with a patch port: `{patch}`, `{ct-mark}`, `{pkt-mark}`, `{router}`, `{management}`',
  protocol: 'TCP, UDP and SCTP: `{protocol}`',
  state: 'packets of an established connection, and those that are related to one: `{state}`',
  service: 'each service subnet: `{service}`',
  pods: 'each pod subnet of the network, cluster-wide: `{pods}`',
  'own-pods': 'each pod subnet of the network on this node: `{own-pods}`',
  'host-subnet': 'each network of the addresses on the bridge: `{host-subnet}`',
  extra: 'each other address of the node: `{extra}`',
  'cluster-node': 'the addresses of all nodes of the cluster, in as few prefixes as possible: `{cluster-node}`',
  'egress-mark': 'each egress IP on the primary network of this node that pods of the network leave with: `{egress-ip}`, `{egress-mark}`',
} as const
export type Dimension = keyof typeof DIMENSIONS

/** What a condition looks at: the bridge, and what the row ranges over at this flow. */
export interface Situation {
  readonly bridge: ExternalBridge
  readonly family: 4 | 6 | null
  readonly network: BridgeNetwork | null
}

const isAdvertised = ({ network }: Situation): boolean => network?.advertised === true
const isDefault = ({ network }: Situation): boolean => network?.id === 0
const isMeasured = ({ bridge }: Situation): boolean => bridge.mode === 'local' && bridge.mtu !== null
const isTagged = ({ bridge }: Situation): boolean => bridge.vlan !== 0
const throughHost = (situation: Situation): boolean => isAdvertised(situation) && situation.bridge.mode === 'local'

/** The conditions of rows, each with what it says and whether it holds. */
export const CONDITIONS = {
  shared: { says: 'shared gateway mode', holds: ({ bridge }) => bridge.mode === 'shared' },
  local: { says: 'local gateway mode', holds: ({ bridge }) => bridge.mode === 'local' },
  segmentation: { says: 'network segmentation is enabled', holds: ({ bridge }) => bridge.segmentation },
  'no-segmentation': { says: 'network segmentation is not enabled', holds: ({ bridge }) => !bridge.segmentation },
  'user-networks': { says: 'a user-defined network has a patch port', holds: ({ bridge }) => bridge.networks.some(({ id }) => id !== 0) },
  default: { says: 'the default network', holds: isDefault },
  'user-defined': { says: 'user-defined networks', holds: (situation) => situation.network !== null && !isDefault(situation) },
  'no-overlay': { says: 'networks without overlay', holds: ({ network }) => network?.overlay === false },
  advertised: { says: 'advertised networks', holds: isAdvertised },
  'not-translated': {
    says: 'advertised networks; the default one with disable-snat-multiple-gws',
    holds: (situation) => isAdvertised(situation) || (isDefault(situation) && situation.bridge.routedPods),
  },
  'through-host': { says: 'advertised in local gateway mode', holds: throughHost },
  'through-ovn': { says: 'not advertised, or in shared gateway mode', holds: (situation) => !throughHost(situation) },
  measured: { says: 'local gateway mode, unless the MTU check is off', holds: isMeasured },
  'not-measured': { says: 'shared gateway mode, or the MTU check is off', holds: (situation) => !isMeasured(situation) },
  tagged: { says: 'with a gateway VLAN', holds: isTagged },
  untagged: { says: 'without a gateway VLAN', holds: (situation) => !isTagged(situation) },
  ipv6: { says: 'IPv6', holds: ({ family }) => family === 6 },
} satisfies Record<string, { readonly says: string; readonly holds: (situation: Situation) => boolean }>
export type PipelineCondition = keyof typeof CONDITIONS
