import { OWN_COOKIE } from '../../src/model/numbers.js'
import { flow, openflow } from '../../src/syntax/openflow.js'
import { cable } from '../lab/netns.js'
import { addPatch } from '../lab/ovs.js'
import { artefacts, BRIDGE, type Content, DEVICE, withFile, writeBundle } from './bundles.js'
import type { Node } from './node.js'

export const CARD = 'eth1'
/** The chain of releases up to v1.3.0. */
export const CHAIN = 'OVN-KUBE-EGRESS-IP-MULTI-NIC'
export const POD = { ipv4: '10.244.1.3', ipv6: 'fd00:10:244:1::3' }
export const SECONDARY = { ipv4: '198.51.100.50', ipv6: '2001:db8:1::50' }
export const PRIMARY = '192.0.2.50'
/** An egress IP of the bridge that no flow translates to: ovnkube has it in OVN alone. */
const IN_OVN = '192.0.2.51'
const [MAC, OVNKUBE] = ['02:00:00:00:00:01', '0xdeff105']

export const CONTENT: Content = {
  egress: [PRIMARY, IN_OVN],
  secondary: [
    { network: '198.51.100.0/24', egressIP: SECONDARY.ipv4, pods: [POD.ipv4] },
    { network: '2001:db8:1::/64', egressIP: SECONDARY.ipv6, pods: [POD.ipv6] },
  ],
  hostMasquerade: ['169.254.0.2/17'],
  services: [['10.96.0.0/16', '169.254.0.4']],
  masquerade: ['169.254.0.1', '169.254.0.4', 'fd69::1'],
}

const row = (priority: number, match: string, actions: string, object: string) =>
  flow({ bridge: BRIDGE, priority, cookie: OWN_COOKIE, match, actions, comment: `${object}: why` })

/** Rows as egretta renders them; the last is spelled in another way by ovnkube. */
const ROWS = [
  row(
    105,
    `in_port=patch(blue_tenant),dl_src=${MAC},ip,pkt_mark=0xc350`,
    `ct(commit,zone=64000,nat(src=${PRIMARY}),exec(set_field:0x4->ct_mark)),output:uplink(${BRIDGE})`,
    'EgressIP/eip-a',
  ),
  row(
    105,
    `in_port=patch(default),dl_src=${MAC},ip,pkt_mark=0x3f0`,
    `ct(commit,zone=64000,nat(src=192.0.2.11),exec(set_field:0x1->ct_mark)),output:uplink(${BRIDGE})`,
    'Node/node-a',
  ),
  row(103, 'in_port=patch(default),ip,nw_src=10.244.0.0/16', 'drop', 'Node/node-a'),
  row(12, `dl_dst=${MAC},arp,arp_op=1,arp_tpa=192.0.2.11`, 'output:patch(default),NORMAL', 'Node/node-a'),
]

/** The bundle of a node of an ovnkube cluster. */
export const writeVerified = (folder: string, content: Content = CONTENT): string =>
  writeBundle(
    folder,
    content,
    withFile(artefacts(content), {
      path: `openflow.${BRIDGE}.flows`,
      text: openflow(BRIDGE).print(ROWS),
      phases: ['steady', 'startup', 'shutdown'],
    }),
  )

/** Who works on the node. A line is a command and its words; one for nft stands behind `nft`. */
export interface Hands {
  ip(line: string): string
  nft(script: string): void
  run(line: string): void
  addFlow(flow: string): void
  delFlows(match: string): void
  /** Table of the second card. */
  table(): number
  /** OpenFlow number of the port that joins the bridge to a network. */
  port(network: 'default' | 'blue_tenant'): string
}

export function handsOn({ namespace, ovs }: Node): Hands {
  const run = (line: string) => {
    const [command = '', ...words] = line.split(' ')
    return namespace.exec(command, words).stdout
  }
  return {
    run,
    ip: (line) => run(`ip ${line}`),
    nft: (script) => void namespace.exec('nft', ['-f', '-'], { input: script }),
    addFlow: (text) => void ovs.ofctl('add-flow', BRIDGE, text),
    delFlows: (match) => void ovs.ofctl('del-flows', BRIDGE, match),
    table: () => 1000 + Number(/^(\d+):/.exec(run(`ip -o link show dev ${CARD}`))?.[1]),
    port: (network) =>
      ovs.vsctl('get', 'interface', `patch-${BRIDGE}_${network === 'default' ? '' : `${network}_`}node-a-to-br-int`, 'ofport'),
  }
}

/** What releases after v1.3.0 have in nftables. */
export const MAPS = `table inet ovn-kubernetes {
  map egress-ip-snat-v4 { type ipv4_addr . ifname : ipv4_addr; elements = { ${POD.ipv4} . "${CARD}" comment "eip-b" : ${SECONDARY.ipv4} } }
  map egress-ip-snat-v6 { type ipv6_addr . ifname : ipv6_addr; elements = { ${POD.ipv6} . "${CARD}" comment "eip-b" : ${SECONDARY.ipv6} } }
  chain egress-ip-snat { type nat hook postrouting priority srcnat;
    snat ip to ip saddr . meta oifname map @egress-ip-snat-v4
    snat ip6 to ip6 saddr . meta oifname map @egress-ip-snat-v6
  }
  chain egress-ip-sec-filter { type filter hook postrouting priority srcnat + 1;
    meta mark 1009 ip saddr 10.244.0.0/16 counter drop
    meta mark 1009 ip6 saddr fd00:10:244::/48 counter drop
  }
  chain other { tcp dport 80 counter; }
}`

/** The flows, which its node puts back every 15 seconds. */
export const egressFlow = ({ port }: Hands, mark = '0xc350', egressIP = PRIMARY): string =>
  `cookie=${OVNKUBE},priority=105,in_port=${port('blue_tenant')},dl_src=${MAC},ip,pkt_mark=${mark},` +
  `actions=ct(commit,zone=64000,nat(src=${egressIP}),exec(set_field:0x4->ct_mark)),output:${DEVICE}`

/** Makes the host one on which ovnkube-node has done what the bundle says. */
export function playOvnkube(node: Node): Hands {
  const { namespace, ovs } = node
  const hands = handsOn(node)
  const { ip, run, nft, table } = hands
  addPatch(ovs, BRIDGE, 'blue_tenant_node-a')
  ovs.vsctl('add-port', BRIDGE, DEVICE)
  cable({ namespace, device: CARD }, { namespace, device: 'wire1' })
  for (const line of [
    `addr add 198.51.100.11/24 dev ${CARD}`,
    `addr add 2001:db8:1::11/64 dev ${CARD} nodad`,
    `route add 203.0.113.0/24 via 198.51.100.1 dev ${CARD}`,
    `addr add ${SECONDARY.ipv4}/32 dev ${CARD}`,
    `addr add ${SECONDARY.ipv6}/128 dev ${CARD} preferred_lft 0 nodad`,
    `addr add ${PRIMARY}/32 dev ${BRIDGE}`,
    `addr add 169.254.0.2/17 dev ${BRIDGE}`,
    `route add 10.96.0.0/16 via 169.254.0.4 dev ${BRIDGE} mtu 1400 proto boot`,
    `neigh replace 169.254.0.1 lladdr 0a:58:a9:fe:00:01 dev ${BRIDGE} nud permanent`,
    `neigh replace 169.254.0.4 lladdr 0a:58:a9:fe:00:04 dev ${BRIDGE} nud permanent`,
    `neigh replace fd69::1 lladdr 0a:58:37:85:74:a5 dev ${BRIDGE} nud permanent`,
    `rule add from ${POD.ipv4} priority 6000 table ${table()}`,
    `-6 rule add from ${POD.ipv6} priority 6000 table ${table()}`,
    `route add 198.51.100.0/24 dev ${CARD} scope link table ${table()}`,
    `route add 203.0.113.0/24 via 198.51.100.1 dev ${CARD} table ${table()} onlink`,
    `route add default dev ${CARD} scope global table ${table()}`,
    `-6 route add 2001:db8:1::/64 dev ${CARD} table ${table()}`,
    `-6 route add fe80::/64 dev ${CARD} table ${table()} metric 256`,
    `-6 route add default dev ${CARD} table ${table()}`,
  ])
    ip(line)
  for (const each of ROWS.slice(1, 3)) {
    const text = each.match.map(([field, value]) => (value ? `${field}=${value}` : field)).join(',')
    hands.addFlow(
      `cookie=${OVNKUBE},priority=${each.priority},${text},actions=${each.actions}`
        .replaceAll('patch(default)', hands.port('default'))
        .replaceAll(`output:uplink(${BRIDGE})`, `output:${DEVICE}`),
    )
  }
  hands.addFlow(egressFlow(hands))
  nft(MAPS)
  run('ip link set dev wire up')
  return hands
}
