import type { Address } from '../../src/model/address.js'
import type { BridgeNetwork, NodeState, SecondaryNetwork } from '../../src/model/node-state.js'
import { address, prefix } from '../compile/cluster.js'
import { BRIDGE } from './bridges.js'

/** The default network of a cluster, as it is on one node. */
export const defaultNetwork = (over: Partial<BridgeNetwork> = {}): BridgeNetwork => ({
  name: 'default',
  for: 'Node/node-a',
  id: 0,
  subnets: ['10.128.0.0/14', 'fd01::/48'].map(prefix),
  nodeSubnets: ['10.128.0.0/23', 'fd01::/64'].map(prefix),
  overlay: true,
  advertised: false,
  ...over,
})

/** What a dual-stack node holds that hosts nothing. */
export const state = (over: Partial<NodeState> = {}, bridge: Partial<NodeState['externalBridge']> = {}): NodeState => ({
  node: 'node-a',
  bridge: 'br-ex',
  guardDevice: null,
  nodeAddresses: ['192.0.2.11', '2001:db8::11'].map(address),
  egressAddresses: [],
  masqueradeAddresses: [],
  neighbors: [],
  announcing: ['default'],
  silenced: [],
  externalBridge: {
    ...BRIDGE,
    extraAddresses: [],
    serviceSubnets: ['172.30.0.0/16', 'fd02::/112'].map(prefix),
    masqueradeSubnets: ['169.254.169.0/29', 'fd69::/125'].map(prefix),
    clusterAddresses: ['192.0.2.11/32', '2001:db8::11/128'].map(prefix),
    networks: [defaultNetwork()],
    ...bridge,
  },
  routes: [],
  secondary: [],
  routeTableBase: 1000,
  conntrack: 'flush',
  nftVersion: '1.0.6',
  ...over,
})

/** A network of a secondary interface with one egress IP on it. */
export const secondary = (network: string, egressIP: string, object: string, ...pods: readonly string[]): SecondaryNetwork => ({
  network: prefix(network),
  egressIPs: [{ address: address(egressIP), for: `EgressIP/${object}`, pods: pods.map((pod): Address => address(pod)) }],
})
