import { both, everyNetwork, hasNetworks, isAlone, isMeasured, isTagged, NETWORKS, not, type Packet } from './packet.js'
import { IDS } from './scenario.js'

/** ct_mark of connections of a network. */
const markOf = (network: (typeof NETWORKS)[number]): number => (network === 'default' ? 1 : 3 + IDS[network])

/** A reply from the wire to a connection with a mark. */
const reply = (mark: number, state: string): Pick<Packet, 'in' | 'tracked' | 'packet'> => ({
  in: 'uplink',
  tracked: [state],
  packet: (w) => `ct_mark=${mark},${w.tcp},${w.src}=${w.outside},${w.dst}=${w.node}`,
})

/** Packets for the MAC of the bridge: conntrack says what they belong to. */
export const REPLIES: readonly Packet[] = [
  ...NETWORKS.flatMap((network): readonly Packet[] => {
    const has = network === 'default' ? () => true : hasNetworks
    const out = `patch(${network})`
    const fits = network === 'default' ? 'fits-default' : 'fits-network'
    return ['trk,est', 'trk,rel'].flatMap((state): readonly Packet[] => [
      {
        ...reply(markOf(network), state),
        name: `a reply (${state}) to a pod of ${network}`,
        on: both(has, not(isMeasured)),
        rows: ['ingress', 'reply-to-network'],
        effects: () => ['ct(zone=64000,nat)', out],
      },
      {
        ...reply(markOf(network), state),
        name: `a reply (${state}) to a pod of ${network} that may be too large`,
        on: both(has, isMeasured),
        rows: ['ingress', 'reply-to-network-measured', 'too-large', fits],
        effects: () => ['ct(zone=64000,nat)', 'over 1414: LOCAL', `up to 1414: ${out}`],
      },
    ])
  }),
  {
    name: 'a reply to an egress IP finds its network by the mark',
    on: both(hasNetworks, not(isMeasured)),
    in: 'uplink',
    tracked: ['trk,est'],
    packet: (w) => `ct_mark=${markOf('blue')},${w.tcp},${w.src}=${w.outside},${w.dst}=${w.egressIP}`,
    rows: ['ingress', 'reply-to-network'],
    effects: () => ['ct(zone=64000,nat)', 'patch(blue)'],
  },
  ...['trk,est', 'trk,rel'].map(
    (state): Packet => ({
      ...reply(2, state),
      name: `a reply (${state}) to the host`,
      rows: ['ingress', 'reply-to-host'],
      effects: () => ['ct(zone=64000,nat)', 'LOCAL'],
    }),
  ),
  {
    name: 'a reply to the host that looks like BFD is for the host alone',
    in: 'uplink',
    tracked: ['trk,est'],
    packet: (w) => `ct_mark=2,${w.udp},${w.src}=${w.outside},${w.dst}=${w.node},udp_src=53,udp_dst=3784`,
    rows: ['ingress', 'reply-to-host'],
    effects: () => ['ct(zone=64000,nat)', 'LOCAL'],
  },
  ...(['router', 'neighbor'] as const).flatMap((sender): readonly Packet[] =>
    (['alone', 'untagged', 'tagged'] as const).map((kind) => ({
      name: `a ${sender} advertisement for the MAC of the bridge (${kind})`,
      only: 6,
      on: kind === 'alone' ? isAlone : both(hasNetworks, kind === 'tagged' ? isTagged : not(isTagged)),
      in: 'uplink',
      packet: (w) => (sender === 'router' ? 'icmp6,icmpv6_type=134,ipv6_src=fe80::1' : w.answer(w.neighbor)),
      tracked: ['trk,inv'],
      rows: ['ingress', `${sender}-advertisement${kind === 'tagged' ? '-tagged' : ''}`],
      effects: () => ['ct(zone=64000,nat)', ...(kind === 'alone' ? ['LOCAL', 'patch(default)'] : everyNetwork())],
    })),
  ),
  {
    name: 'BFD of a peer',
    in: 'uplink',
    packet: (w) => `${w.udp},${w.src}=${w.neighbor},${w.dst}=${w.node},udp_src=49152,udp_dst=3784`,
    rows: ['ingress', 'bfd-to-node'],
    effects: () => ['ct(zone=64000,nat)', 'LOCAL', 'patch(default)'],
  },
  {
    name: 'a new connection to the node',
    in: 'uplink',
    packet: (w) => `${w.tcp},${w.src}=${w.outside},${w.dst}=${w.node}`,
    rows: ['ingress', 'ingress-to-host'],
    effects: () => ['ct(zone=64000,nat)', 'LOCAL'],
  },
  {
    name: 'a new connection to the node, before the host has sent anything',
    in: 'uplink',
    unlearned: true,
    packet: (w) => `${w.tcp},${w.src}=${w.outside},${w.dst}=${w.node}`,
    rows: ['ingress', 'ingress-to-host'],
    effects: () => ['ct(zone=64000,nat)', 'LOCAL'],
  },
  {
    name: 'an untagged packet from the wire for the MAC of the bridge reaches nothing that speaks in the VLAN of the gateway',
    on: isTagged,
    in: 'uplink',
    untagged: true,
    packet: (w) => `${w.tcp},${w.src}=${w.outside},${w.dst}=${w.node}`,
    rows: ['ingress', 'switch-tracked'],
    effects: () => ['ct(zone=64000,nat)', 'patch(default)'],
  },
]
