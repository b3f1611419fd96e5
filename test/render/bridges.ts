import { type Address, type Prefix, parseAddress, parsePrefix } from '../../src/model/address.js'
import type { BridgeNetwork, ExternalBridge } from '../../src/model/node-state.js'

export const addressesOf = (...texts: readonly string[]): readonly Address[] => texts.flatMap((text) => parseAddress(text) ?? [])
export const prefixesOf = (...texts: readonly string[]): readonly Prefix[] => texts.flatMap((text) => parsePrefix(text) ?? [])

export const DEFAULT_NETWORK: BridgeNetwork = {
  name: 'default',
  for: 'Node/node-a',
  id: 0,
  subnets: prefixesOf('10.244.0.0/16', '10.245.0.0/16', 'fd00:10:244::/48'),
  nodeSubnets: prefixesOf('10.244.1.0/24', 'fd00:10:244:1::/64'),
  overlay: true,
  advertised: false,
}

/** A user-defined network; of two with other ids the pods may have the same addresses. */
export const userNetwork = (name: string, id: number, more: Partial<BridgeNetwork> = {}): BridgeNetwork => ({
  name,
  for: `ClusterUserDefinedNetwork/${name}`,
  id,
  subnets: prefixesOf('10.20.0.0/16', 'fd00:20::/48'),
  nodeSubnets: prefixesOf('10.20.1.0/24', 'fd00:20:0:1::/64'),
  overlay: true,
  advertised: false,
  ...more,
})

/** A dual-stack node in shared gateway mode with the default network alone. */
export const BRIDGE: ExternalBridge = {
  mode: 'shared',
  mac: '02:00:00:00:00:0a',
  vlan: 0,
  mtu: null,
  genevePort: 6081,
  zone: 64000,
  segmentation: false,
  routedPods: false,
  nodeAddresses: addressesOf('192.0.2.11', '2001:db8::11'),
  hostSubnets: prefixesOf('192.0.2.0/24', '2001:db8::/64'),
  extraAddresses: addressesOf('198.51.100.11', '2001:db8:1::11'),
  serviceSubnets: prefixesOf('10.96.0.0/16', '10.97.0.0/16', 'fd00:10:96::/112'),
  masqueradeSubnets: prefixesOf('169.254.0.0/17', 'fd69::/112'),
  clusterAddresses: prefixesOf('192.0.2.10/31', '192.0.2.12/32', '2001:db8::10/127'),
  networks: [DEFAULT_NETWORK],
  closed: [],
  egressMarks: [],
}

const blue = userNetwork('blue', 1)
const NETWORKS: Partial<ExternalBridge> = {
  segmentation: true,
  networks: [DEFAULT_NETWORK, blue, userNetwork('red', 2)],
  egressMarks: [
    { mark: 50000, address: addressesOf('192.0.2.50')[0] as Address, network: 'blue', for: 'EgressIP/eip-a' },
    { mark: 50000, address: addressesOf('2001:db8::50')[0] as Address, network: 'blue', for: 'EgressIP/eip-a' },
    { mark: 50001, address: addressesOf('192.0.2.51')[0] as Address, network: 'red', for: 'EgressIP/eip-b' },
  ],
}
const FABRIC: Partial<ExternalBridge> = {
  segmentation: true,
  closed: [{ name: 'grey', for: 'ClusterUserDefinedNetwork/grey' }],
  networks: [
    { ...DEFAULT_NETWORK, advertised: true },
    userNetwork('blue', 1, { overlay: false, advertised: true }),
    userNetwork('attic', 40000),
    userNetwork('red', 2, {
      advertised: true,
      subnets: prefixesOf('10.30.0.0/16', 'fd00:30::/48'),
      nodeSubnets: prefixesOf('10.30.1.0/24', 'fd00:30:0:1::/64'),
    }),
  ],
}
const only = (family: 4 | 6): Partial<ExternalBridge> => ({
  nodeAddresses: BRIDGE.nodeAddresses.filter((address) => address.family === family),
  hostSubnets: BRIDGE.hostSubnets.filter(({ address }) => address.family === family),
  masqueradeSubnets: BRIDGE.masqueradeSubnets.filter(({ address }) => address.family === family),
  serviceSubnets: BRIDGE.serviceSubnets.filter(({ address }) => address.family === family),
})
const LOCAL: Partial<ExternalBridge> = { mode: 'local', mtu: 1400 }

/** Bridges that together have every row of the flow table. */
export const BRIDGES: Readonly<Record<string, ExternalBridge>> = {
  shared: BRIDGE,
  'shared, IPv4': { ...BRIDGE, ...only(4) },
  'shared, IPv6': { ...BRIDGE, ...only(6) },
  'shared, user-defined networks': { ...BRIDGE, ...NETWORKS },
  'shared, VLAN': { ...BRIDGE, ...NETWORKS, vlan: 100 },
  'shared, fabric': { ...BRIDGE, ...FABRIC },
  'shared, routed pods': { ...BRIDGE, routedPods: true },
  local: { ...BRIDGE, ...LOCAL },
  'local, no MTU check': { ...BRIDGE, ...LOCAL, mtu: null },
  'local, user-defined networks': { ...BRIDGE, ...LOCAL, ...NETWORKS },
  'local, VLAN': { ...BRIDGE, ...LOCAL, ...NETWORKS, vlan: 100 },
  'local, fabric': { ...BRIDGE, ...LOCAL, ...FABRIC },
  'local, fabric, VLAN': { ...BRIDGE, ...LOCAL, ...FABRIC, vlan: 100 },
}
