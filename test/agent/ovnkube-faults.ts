import { BRIDGE } from './bundles.js'
import { CARD, CHAIN, egressFlow, type Hands, MAPS, POD, PRIMARY, SECONDARY } from './ovnkube.js'

/** A fault, how it is mended, and the one thing that is said of it. */
export interface Fault {
  readonly breaks: (hands: Hands) => void
  readonly mends: (hands: Hands) => void
  readonly says: RegExp
  /** What else is said, because the kernel takes it along. */
  readonly also?: readonly RegExp[]
  readonly annotated?: readonly string[]
}
export const MAP = 'inet ovn-kubernetes egress-ip-snat-v4'
const element = (pod: string, egressIP: string) => `{ ${pod} . "${CARD}" : ${egressIP} }`
/** The table as it was. */
export const anew = ({ nft }: Hands) => nft(`delete table inet ovn-kubernetes; ${MAPS}`)
export const FAULTS: Readonly<Record<string, Fault>> = {
  'an element of the map is missing': {
    breaks: ({ nft }) => nft(`flush map ${MAP}`),
    mends: anew,
    says: /^missing nftables 10\.244\.1\.3 through eth1 as 198\.51\.100\.50: no element of the map/,
  },
  'an element of the map is stale': {
    breaks: ({ nft }) => nft(`add element ${MAP} ${element('10.244.9.9', SECONDARY.ipv4)}`),
    mends: anew,
    says: /^stale nftables 10\.244\.9\.9 through eth1 as 198\.51\.100\.50: the bundle has no such pod/,
  },
  'a pod leaves with another address': {
    breaks: ({ nft }) => nft(`delete element ${MAP} { ${POD.ipv4} . "${CARD}" }; add element ${MAP} ${element(POD.ipv4, '198.51.100.77')}`),
    mends: anew,
    says: /^different nftables 10\.244\.1\.3 through eth1 as 198\.51\.100\.50: the pod leaves with 198\.51\.100\.77$/,
  },
  'no rule uses the map of IPv6': {
    breaks: ({ nft }) =>
      nft(
        'flush chain inet ovn-kubernetes egress-ip-snat; add rule inet ovn-kubernetes egress-ip-snat snat ip to ip saddr . meta oifname map @egress-ip-snat-v4',
      ),
    mends: anew,
    says: /^missing nftables rule with @egress-ip-snat-v6/,
  },
  'the filter knows not all pods': {
    breaks: ({ nft }) =>
      nft(
        'flush chain inet ovn-kubernetes egress-ip-sec-filter; add rule inet ovn-kubernetes egress-ip-sec-filter meta mark 1009 ip saddr 10.244.0.0/16 drop',
      ),
    mends: anew,
    says: /^missing nftables rule 2 of egress-ip-sec-filter/,
  },
  'the release before left its chain behind': {
    breaks: ({ run }) => {
      run(`iptables -t nat -N ${CHAIN}`)
      run(`iptables -t nat -A ${CHAIN} -s 10.244.9.9/32 -o ${CARD} -j SNAT --to-source ${SECONDARY.ipv4}`)
    },
    mends: ({ run }) => {
      run(`iptables -t nat -F ${CHAIN}`)
      run(`iptables -t nat -X ${CHAIN}`)
    },
    says: /^stale nftables 10\.244\.9\.9 through eth1 as 198\.51\.100\.50: a release up to v1\.3\.0/,
  },
  'the IPv4 address is missing': {
    breaks: ({ ip }) => ip(`addr del ${SECONDARY.ipv4}/32 dev ${CARD}`),
    mends: ({ ip }) => ip(`addr add ${SECONDARY.ipv4}/32 dev ${CARD}`),
    says: /^missing addresses 198\.51\.100\.50\/32 dev eth1/,
  },
  'the address is on another interface': {
    breaks: ({ ip }) => {
      ip(`addr del ${SECONDARY.ipv4}/32 dev ${CARD}`)
      ip(`addr add ${SECONDARY.ipv4}/32 dev ${BRIDGE}`)
    },
    mends: ({ ip }) => {
      ip(`addr del ${SECONDARY.ipv4}/32 dev ${BRIDGE}`)
      ip(`addr add ${SECONDARY.ipv4}/32 dev ${CARD}`)
    },
    says: /^different addresses 198\.51\.100\.50\/32 dev eth1: it is 198\.51\.100\.50\/32 on br-ex$/,
  },
  'the host speaks with the IPv6 address': {
    breaks: ({ ip }) => ip(`addr change ${SECONDARY.ipv6}/128 dev ${CARD} preferred_lft forever valid_lft forever`),
    mends: ({ ip }) => ip(`addr change ${SECONDARY.ipv6}/128 dev ${CARD} preferred_lft 0 valid_lft forever`),
    says: /^different addresses 2001:db8:1::50\/128 dev eth1: the host may choose it/,
  },
  'an IPv6 address of before is still there': {
    breaks: ({ ip }) => ip(`addr add 2001:db8:1::99/128 dev ${CARD} preferred_lft 0 nodad`),
    mends: ({ ip }) => ip(`addr del 2001:db8:1::99/128 dev ${CARD}`),
    says: /^stale addresses 2001:db8:1::99\/128 dev eth1: the node answers for it; the node itself calls it an egress IP$/,
    annotated: ['2001:db8:1::99'],
  },
  'the address of the bridge is missing where a flow translates to it': {
    breaks: ({ ip }) => ip(`addr del ${PRIMARY}/32 dev ${BRIDGE}`),
    mends: ({ ip }) => ip(`addr add ${PRIMARY}/32 dev ${BRIDGE}`),
    says: /^missing addresses 192\.0\.2\.50\/32 dev br-ex/,
  },
  'the host masquerade address is missing': {
    breaks: ({ ip }) => ip(`addr del 169.254.0.2/17 dev ${BRIDGE}`),
    mends: ({ ip }) => {
      ip(`addr add 169.254.0.2/17 dev ${BRIDGE}`)
      ip(`route replace 10.96.0.0/16 via 169.254.0.4 dev ${BRIDGE} mtu 1400 proto boot`)
    },
    says: /^missing addresses 169\.254\.0\.2\/17 dev br-ex/,
  },
  'a rule is missing': {
    breaks: ({ ip }) => ip(`rule del from ${POD.ipv4} priority 6000`),
    mends: ({ ip, table }) => ip(`rule add from ${POD.ipv4} priority 6000 table ${table()}`),
    says: /^missing rules 6000 from 10\.244\.1\.3\/32 lookup \d+/,
  },
  'a rule leads to another table': {
    breaks: ({ ip }) => {
      ip(`rule del from ${POD.ipv4} priority 6000`)
      ip(`rule add from ${POD.ipv4} priority 6000 table 1999`)
    },
    mends: ({ ip, table }) => {
      ip(`rule del from ${POD.ipv4} priority 6000`)
      ip(`rule add from ${POD.ipv4} priority 6000 table ${table()}`)
    },
    says: /^different rules 6000 from 10\.244\.1\.3\/32 lookup \d+: the rule leads to table 1999$/,
  },
  'the rule of a pod that went is still there': {
    breaks: ({ ip, table }) => ip(`-6 rule add from fd00:10:244:9::9 priority 6000 table ${table()}`),
    mends: ({ ip }) => ip('-6 rule del from fd00:10:244:9::9 priority 6000'),
    says: /^stale rules 6000 from fd00:10:244:9::9\/128 lookup \d+: the bundle has no such pod/,
  },
  'the rule of local gateway mode was left behind': {
    breaks: ({ ip }) => ip('rule add fwmark 0x3f0 priority 5999 table main'),
    mends: ({ ip }) => ip('rule del fwmark 0x3f0 priority 5999 table main'),
    says: /^stale rules 5999 from 0\.0\.0\.0\/0 fwmark 0x3f0 lookup main: it is of local gateway mode/,
  },
  'the table is empty': {
    breaks: ({ ip, table }) => ip(`-6 route flush table ${table()}`),
    mends: ({ ip, table }) => {
      for (const dst of ['2001:db8:1::/64', 'fe80::/64', 'default']) ip(`-6 route add ${dst} dev ${CARD} table ${table()}`)
    },
    says: /^missing routes table \d+ \(IPv6\): it is empty/,
  },
  'the table lacks a route': {
    breaks: ({ ip, table }) => ip(`route del 203.0.113.0/24 table ${table()}`),
    mends: ({ ip, table }) => ip(`route add 203.0.113.0/24 via 198.51.100.1 dev ${CARD} table ${table()} onlink`),
    says: /^missing routes 203\.0\.113\.0\/24 table \d+: it should be "203\.0\.113\.0\/24 via 198\.51\.100\.1 dev eth1"$/,
  },
  'a route of the table has another gateway': {
    breaks: ({ ip, table }) => ip(`route replace 203.0.113.0/24 via 198.51.100.9 dev ${CARD} table ${table()} onlink`),
    mends: ({ ip, table }) => ip(`route replace 203.0.113.0/24 via 198.51.100.1 dev ${CARD} table ${table()} onlink`),
    says: /^different routes 203\.0\.113\.0\/24 table \d+: it is "203\.0\.113\.0\/24 via 198\.51\.100\.9 dev eth1"/,
  },
  'a route of the table leads out of another interface': {
    breaks: ({ ip, table }) => ip(`route add 203.0.113.128/25 dev ${BRIDGE} table ${table()}`),
    mends: ({ ip, table }) => ip(`route del 203.0.113.128/25 table ${table()}`),
    says: /^stale routes 203\.0\.113\.128\/25 table \d+: it leads out of another interface than eth1/,
  },
  'a route to services is of another release': {
    breaks: ({ ip }) => ip(`route replace 10.96.0.0/16 via 192.0.2.1 dev ${BRIDGE}`),
    mends: ({ ip }) => ip(`route replace 10.96.0.0/16 via 169.254.0.4 dev ${BRIDGE} mtu 1400 proto boot`),
    says: /^different routes 10\.96\.0\.0\/16 table main: .*the form of shared gateway mode before release 4\.10/,
  },
  'a neighbor is missing': {
    breaks: ({ ip }) => ip(`neigh del 169.254.0.4 dev ${BRIDGE}`),
    mends: ({ ip }) => ip(`neigh replace 169.254.0.4 lladdr 0a:58:a9:fe:00:04 dev ${BRIDGE} nud permanent`),
    says: /^missing neighbors 169\.254\.0\.4 dev br-ex: it should be permanent, with the MAC 0a:58:a9:fe:00:04$/,
  },
  'a neighbor has another MAC': {
    breaks: ({ ip }) => ip(`neigh replace 169.254.0.4 lladdr 0a:58:a9:fe:00:05 dev ${BRIDGE} nud permanent`),
    mends: ({ ip }) => ip(`neigh replace 169.254.0.4 lladdr 0a:58:a9:fe:00:04 dev ${BRIDGE} nud permanent`),
    says: /^different neighbors 169\.254\.0\.4 dev br-ex: its MAC is 0a:58:a9:fe:00:05/,
  },
  'the flow of a mark is missing': {
    breaks: ({ delFlows }) => delFlows('ip,pkt_mark=0xc350'),
    mends: (all) => all.addFlow(egressFlow(all)),
    says: /^missing openflow br-ex table=0 priority=105 in_port=\d+,dl_src=02:00:00:00:00:01,ip,pkt_mark=0xc350/,
  },
  'the flow of a mark translates to another address': {
    breaks: (all) => all.addFlow(egressFlow(all, '0xc350', '192.0.2.77')),
    mends: (all) => all.addFlow(egressFlow(all)),
    says: /^different openflow br-ex table=0 priority=105 .*pkt_mark=0xc350: its actions are .*192\.0\.2\.77/,
  },
  'a flow of an object that went is still there': {
    breaks: (all) => all.addFlow(egressFlow(all, '0xc351', PRIMARY)),
    mends: ({ delFlows }) => delFlows('ip,pkt_mark=0xc351'),
    says: /^stale openflow br-ex table=0 priority=105 .*pkt_mark=0xc351: pods leave with 192\.0\.2\.50/,
  },
  'untranslated packets of pods leave': {
    breaks: ({ delFlows }) => delFlows('ip,nw_src=10.244.0.0/16'),
    mends: (all) => all.addFlow(`cookie=0xdeff105,priority=103,in_port=${all.port('default')},ip,nw_src=10.244.0.0/16,actions=drop`),
    says: /^missing openflow br-ex table=0 priority=103 /,
  },
  'the guard of the start-up stayed': {
    breaks: (all) =>
      all.addFlow(`cookie=0x305,priority=498,in_port=${all.port('default')},dl_dst=ff:ff:ff:ff:ff:ff,arp,arp_op=1,actions=drop`),
    mends: ({ delFlows }) => delFlows('cookie=0x305/-1'),
    says: /^stale openflow br-ex table=0 priority=498 .*the guard of the start-up is still there$/,
  },
  'the guard of a shutdown stayed': {
    breaks: ({ nft }) => nft(`table netdev ovn-kubernetes-egressip { set egressip-v4 { type ipv4_addr; elements = { ${PRIMARY} }; }; }`),
    mends: ({ nft }) => nft('delete table netdev ovn-kubernetes-egressip'),
    says: /^stale nftables netdev ovn-kubernetes-egressip: .*192\.0\.2\.50$/,
  },
}
