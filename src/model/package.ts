/** Program to the packages that hold it: Debian's, then RHEL's. */
const PACKAGES: Readonly<Record<string, readonly [debian: string, rhel: string]>> = {
  nft: ['nftables', 'nftables'],
  ip: ['iproute2', 'iproute'],
  'ovs-ofctl': ['openvswitch-switch', 'openvswitch'],
  'ovs-appctl': ['openvswitch-switch', 'openvswitch'],
  conntrack: ['conntrack', 'conntrack-tools'],
  flock: ['util-linux', 'util-linux'],
  setpriv: ['util-linux', 'util-linux'],
  sysctl: ['procps', 'procps-ng'],
  arping: ['iputils-arping', 'iputils'],
  ndisc6: ['ndisc6', 'ndisc6'],
  ndptool: ['libndp-tools', 'libndp'],
}

/** The package of a program, as a phrase: `the package iproute2 (Debian) or iproute (RHEL)`. */
export function packageOf(program: string): string {
  const [debian, rhel] = PACKAGES[program] ?? [program, program]
  return debian === rhel ? `the package ${debian}` : `the package ${debian} (Debian) or ${rhel} (RHEL)`
}
