/** Numbers of OVN-Kubernetes and of egretta, each named once. Sources: the seeds and `docs/guide.md`. */

/** OpenFlow cookie of the GARP guard (seed 000). */
export const GUARD_COOKIE = 0x0305n
/** OpenFlow cookie of every other flow of ours, under OWN_COOKIE_MASK. */
export const OWN_COOKIE = 0xe6e70000n
export const OWN_COOKIE_MASK = 0xffff0000n
/** Cookie of ovnkube-node's default flows: never ours. */
export const OVNKUBE_COOKIE = 0xdeff105n

/** `protocol` of our neighbors, rules and routes. A number that rtnetlink.h and rt_protos leave free: 186 would be BGP. */
export const OWN_PROTOCOL = 230
/** IFA_PROTO with which ovnkube tags the egress addresses it adds (since August 2026). */
export const OVNKUBE_ADDRESS_PROTOCOL = 85

/** Range of the egress mark, annotation k8s.ovn.org/egressip-mark: 5,001 values. */
export const FIRST_MARK = 50000
export const LAST_MARK = 55000

/** Offsets in the masquerade subnet (seed 002). */
export const OVN_MASQUERADE = 1
export const DUMMY_NEXT_HOP = 4
export const NETWORK_MASQUERADE_BASE = 10

/** nft table of the shutdown guard (seed 000), family netdev. */
export const GUARD_TABLE = 'ovn-kubernetes-egressip'
/** nft table of the guard of secondary interfaces, family netdev. Not the seed's: ovnkube deletes that one whole. */
export const SECONDARY_GUARD_TABLE = 'egretta-guard'
/** How the nft table begins that hears who answers a probe, family netdev; it is there while the probe lasts. */
export const PROBE_TABLE = 'egretta-probe'
/** nft table of secondary egress IPs, family inet. */
export const EGRESS_TABLE = 'egretta'

/** Further offsets in the masquerade subnet (seed 002). */
export const HOST_MASQUERADE = 2
export const HOST_ETP_LOCAL_MASQUERADE = 3

/** ct_mark of connections of the default network, of the host, and what the id of a user-defined network is added to. */
export const OVN_CT_MARK = 1
export const HOST_CT_MARK = 2
export const NETWORK_CT_MARK_BASE = 3

/** pkt_mark: egress pod to the node's address, egress IP of a secondary interface, what a network id is added to. */
export const EGRESS_NODE_MARK = 0x3f0
export const EGRESS_SECONDARY_MARK = 0x3f1
export const NETWORK_MARK_BASE = 4096

/** First conntrack zone of OVN-Kubernetes; host masquerade, OVN masquerade, nodeport and reassembly follow it in this order. */
export const FIRST_CONNTRACK_ZONE = 64000

/** Port of Geneve (RFC 8926). */
export const GENEVE_PORT = 6081
/** MTU of pods, in bytes, where ovnkube is not told another. */
export const DEFAULT_MTU = 1400

/** Tables of secondary interfaces: this plus the index of the interface; also the least that a cluster may configure. */
export const ROUTE_TABLE_BASE = 1000
/** Metric of the route that ends such a table, behind all others: the one that the kernel's documentation gives for VRFs (vrf.rst). */
export const LAST_METRIC = 4278198272
/** Priority of the rule that sends a pod to the table of its egress IP, and of the one for marked packets in local gateway mode. */
export const EGRESS_RULE_PRIORITY = 6000
export const MARK_RULE_PRIORITY = 5999
