import { both, commit, hasNetworks, isAlone, isLocal, type Packet } from './packet.js'
import { IDS } from './scenario.js'

const TO_BRIDGE = 'eth(dst=02:00:00:00:00:0a)'
const TO_HOST = 'eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:0a)'
/** pkt_mark of a user-defined network. */
const markOf = (id: number): number => 4096 + id

/** Packets of services, between the host and OVN. */
export const SERVICES: readonly Packet[] = [
  {
    name: 'a user-defined network comes through the host to a service of its own',
    on: hasNetworks,
    in: 'LOCAL',
    packet: (w) => `pkt_mark=${markOf(IDS.blue)},${w.tcp},${w.src}=${w.management(IDS.blue)},${w.dst}=${w.service}`,
    rows: ['service-from-network', 'to-network-by-mark'],
    effects: () => [commit(64001, null), TO_BRIDGE, 'patch(blue)'],
  },
  {
    name: 'a pod of an advertised network comes through the host to a service of its own',
    on: hasNetworks,
    in: 'LOCAL',
    packet: (w) => `pkt_mark=${markOf(IDS.green)},${w.tcp},${w.src}=${w.pod.green},${w.dst}=${w.service}`,
    rows: ['service-from-advertised', 'to-network-by-mark'],
    effects: () => [commit(64001, null), TO_BRIDGE, 'patch(green)'],
  },
  {
    name: 'a user-defined network comes through the host to a service of another network',
    on: hasNetworks,
    in: 'LOCAL',
    packet: (w) => `${w.tcp},${w.src}=${w.management(IDS.red)},${w.dst}=${w.service}`,
    rows: ['service-from-network', 'drop-foreign-service'],
    effects: () => [commit(64001, null)],
  },
  {
    name: 'a pod of an advertised network comes through the host to a service of another network',
    on: hasNetworks,
    in: 'LOCAL',
    packet: (w) => `${w.tcp},${w.src}=${w.farPod.green},${w.dst}=${w.service}`,
    rows: ['service-from-advertised', 'drop-foreign-service-of-advertised'],
    effects: () => [commit(64001, null)],
  },
  {
    name: 'the host speaks to a service',
    in: 'LOCAL',
    packet: (w) => `${w.tcp},${w.src}=${w.node},${w.dst}=${w.service}`,
    rows: ['service-from-host', 'to-default'],
    effects: (w) => [commit(64001, null, `src=${w.host}`), TO_BRIDGE, 'patch(default)'],
  },
  {
    name: 'the host speaks to a service of a user-defined network',
    on: hasNetworks,
    in: 'LOCAL',
    packet: (w) => `pkt_mark=${markOf(IDS.red)},${w.tcp},${w.src}=${w.node},${w.dst}=${w.service}`,
    rows: ['service-from-host', 'to-network-by-mark'],
    effects: (w) => [commit(64001, null, `src=${w.host}`), TO_BRIDGE, 'patch(red)'],
  },
  {
    name: 'a service answers the host',
    on: isAlone,
    in: 'patch(default)',
    tracked: ['trk,est'],
    packet: (w) => `${w.tcp},${w.src}=${w.service},${w.dst}=${w.host}`,
    rows: ['service-answer', 'to-host'],
    effects: () => ['ct(zone=64001,nat)', TO_HOST, 'LOCAL'],
  },
  ...(['default', 'blue'] as const).map(
    (network): Packet => ({
      name: `a service of ${network} answers through the host`,
      on: hasNetworks,
      in: `patch(${network})`,
      tracked: ['trk,est'],
      packet: (w) => `${w.tcp},${w.src}=${w.service},${w.dst}=${network === 'default' ? w.host : w.management(IDS.blue)}`,
      rows: ['service-answer-to-networks', 'to-host'],
      effects: () => ['ct(zone=64001,nat)', TO_HOST, 'LOCAL'],
    }),
  ),
  {
    name: 'a pod meets, through a service, an endpoint on its node',
    in: 'patch(default)',
    packet: (w) => `${w.tcp},${w.src}=${w.node},${w.dst}=${w.host}`,
    rows: ['hairpin-to-node', 'hairpin-as-ovn', 'to-host'],
    effects: (w) => [commit(64001, null, `dst=${w.node}`), commit(64002, null, `src=${w.ovn}`), TO_HOST, 'LOCAL'],
  },
  {
    name: 'a pod meets, through a service, an endpoint at another address of its node',
    in: 'patch(default)',
    packet: (w) => `${w.tcp},${w.src}=${w.node},${w.dst}=${w.extra}`,
    rows: ['hairpin-to-extra', 'hairpin-as-ovn', 'to-host'],
    effects: (w) => [commit(64001, null), commit(64002, null, `src=${w.ovn}`), TO_HOST, 'LOCAL'],
  },
  {
    name: 'the host answers a pod that met it through a service',
    in: 'LOCAL',
    tracked: ['trk,est', 'trk,est'],
    packet: (w) => `${w.tcp},${w.src}=${w.node},${w.dst}=${w.ovn}`,
    rows: ['hairpin-answer', 'answer-to-ovn', 'to-default'],
    effects: () => ['ct(zone=64002,nat)', 'ct(commit,zone=64001,nat)', TO_BRIDGE, 'patch(default)'],
  },
  {
    name: 'the host answers a pod of a network without overlay that met it through a service',
    on: both(isLocal, hasNetworks),
    in: 'LOCAL',
    tracked: ['trk,est'],
    packet: (w) => `ct_mark=5,${w.tcp},${w.src}=${w.node},${w.dst}=${w.router(IDS.red)}`,
    rows: ['hairpin-answer-to-network', 'answer-to-network'],
    effects: () => ['ct(zone=64002,nat)', 'ct(commit,zone=64001,nat)', TO_BRIDGE, 'patch(red)'],
  },
]
