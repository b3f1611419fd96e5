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
