import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verify } from '../../src/agent/verify.js'
import { parseAddress } from '../../src/model/address.js'
import { describeWith } from '../requires.js'
import { BRIDGE, NODE } from './bundles.js'
import { type Node, openNode } from './node.js'
import { CARD, CONTENT, egressFlow, type Hands, MAPS, POD, PRIMARY, playOvnkube, SECONDARY, writeVerified } from './ovnkube.js'

const whereIs = (name: string): string =>
  ['/usr/sbin', '/usr/bin', '/sbin', '/bin'].map((folder) => join(folder, name)).find(existsSync) ?? name

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'agent', 'main.ts')
const CHAIN = 'OVN-KUBE-EGRESS-IP-MULTI-NIC'

describeWith(['root', 'linux', 'ip', 'nft', 'ovs', 'iptables'], 'a host on which ovnkube-node works', () => {
  let node: Node
  let hands: Hands
  beforeAll(() => {
    node = openNode('verify')
    writeVerified(node.bundle)
    hands = playOvnkube(node)
  })
  afterAll(() => node?.close())

  const look = (annotated: readonly string[] = []) =>
    verify({
      bundle: node.bundle,
      node: NODE,
      rundir: node.ovs.rundir,
      annotated: annotated.flatMap((text) => parseAddress(text) ?? []),
      exec: { prefix: node.prefix },
    })
  const found = async (annotated: readonly string[] = []) => {
    const { exitCode, findings, problems } = await look(annotated)
    return { exitCode, findings: findings.map(({ what, subsystem, key, says }) => `${what} ${subsystem} ${key}: ${says}`), problems }
  }
  const RIGHT = { exitCode: 0, findings: [], problems: [] }

  it('does what its bundle says, and is not changed by the question', async () => {
    const before = node.state()
    expect(await found()).toEqual(RIGHT)
    expect(node.state()).toBe(before)
  })

  it('holds addresses, translations and flows, and says so', async () => {
    const { held } = await look()
    expect(held.filter(({ egressIP }) => egressIP)).toEqual(
      [
        [PRIMARY, `address on ${BRIDGE}`],
        [PRIMARY, `flow of ${BRIDGE}`],
        [SECONDARY.ipv4, `address on ${CARD}`],
        [SECONDARY.ipv4, `translation through ${CARD}`],
        [SECONDARY.ipv6, `address on ${CARD}`],
        [SECONDARY.ipv6, `translation through ${CARD}`],
      ].map(([address, by]) => ({ address, by, egressIP: true })),
    )
  })

  /** A fault, how it is mended, and the one thing that is said of it. */
  interface Fault {
    readonly breaks: (hands: Hands) => void
    readonly mends: (hands: Hands) => void
    readonly says: RegExp
    /** What else is said, because the kernel takes it along. */
    readonly also?: readonly RegExp[]
    readonly annotated?: readonly string[]
  }
  const MAP = 'inet ovn-kubernetes egress-ip-snat-v4'
  const element = (pod: string, egressIP: string) => `{ ${pod} . "${CARD}" : ${egressIP} }`
  const anew = ({ nft }: Hands) => nft(`delete table inet ovn-kubernetes; ${MAPS}`)
  const FAULTS: Readonly<Record<string, Fault>> = {
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
      breaks: ({ nft }) =>
        nft(`delete element ${MAP} { ${POD.ipv4} . "${CARD}" }; add element ${MAP} ${element(POD.ipv4, '198.51.100.77')}`),
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

  it.each(Object.entries(FAULTS))('is told apart: %s', async (_, { breaks, mends, says, also = [], annotated = [] }) => {
    breaks(hands)
    const broken = await found(annotated)
    mends(hands)
    expect(broken).toEqual({ exitCode: 2, findings: [says, ...also].map((line) => expect.stringMatching(line)), problems: [] })
    expect(await found(annotated)).toEqual(RIGHT)
  })

  it('has an address that another node is to have, says the rendering', async () => {
    const { digest } = JSON.parse(readFileSync(join(node.bundle, 'bundle.json'), 'utf8')) as { digest: string }
    const assignments = [{ egressIP: '198.51.100.60', object: 'eip-c', node: 'node-b' }]
    const index = join(node.bundle, '..', '..', 'index.json')
    writeFileSync(index, JSON.stringify({ assignments, nodes: { [NODE]: digest } }))
    hands.ip(`addr add 198.51.100.60/32 dev ${CARD}`)
    const broken = await found()
    hands.ip(`addr del 198.51.100.60/32 dev ${CARD}`)
    rmSync(index)
    expect(broken.findings).toEqual(['stale addresses 198.51.100.60/32 dev eth1: the node answers for it; another node is to have it'])
  })

  it('is refused with the bundle of another node', async () => {
    const other = { bundle: node.bundle, node: 'node-b', rundir: node.ovs.rundir, exec: { prefix: node.prefix } }
    expect(await verify(other)).toMatchObject({ exitCode: 1, findings: [], problems: [{ code: 'WrongNode' }] })
  })

  it('leaves out the parts that the bundle leaves alone', async () => {
    writeVerified(node.bundle, { ...CONTENT, ownership: { rules: 'off', nftables: 'off' } })
    hands.ip(`rule del from ${POD.ipv4} priority 6000`)
    hands.nft(`flush map ${MAP}`)
    const without = await found()
    writeVerified(node.bundle)
    hands.ip(`rule add from ${POD.ipv4} priority 6000 table ${hands.table()}`)
    anew(hands)
    expect(without).toEqual(RIGHT)
    expect(await found()).toEqual(RIGHT)
  })

  const agent = (...args: readonly string[]) => {
    const words = [...node.prefix.slice(1), process.execPath, '--import', 'tsx', MAIN, ...args]
    const env = { ...process.env, OVS_RUNDIR: node.ovs.rundir }
    const { status, stdout, stderr } = spawnSync(node.prefix[0] ?? '', words, { encoding: 'utf8', env })
    return { status, stdout, stderr }
  }

  it('is judged by commands, and its report beside those of others', () => {
    const usual = ['verify', '--bundle', node.bundle, '--node', NODE]
    expect(agent(...usual)).toEqual({ status: 0, stdout: 'node-a: does what its bundle says.\n', stderr: '' })
    const json = agent(...usual, '-o', 'json')
    expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'Verification', node: NODE, findings: [], problems: [] })
    const [one, two] = ['one.json', 'two.json'].map((name) => join(node.folder, name)) as [string, string]
    writeFileSync(one, json.stdout)
    const other = { kind: 'Verification', node: 'node-b', bundle: '0', findings: [], problems: [] }
    writeFileSync(two, JSON.stringify({ ...other, held: [{ address: PRIMARY, by: 'address on br-ex', egressIP: false }] }))
    const shared = `  ${PRIMARY} is on several nodes: node-a (address on br-ex, flow of br-ex), node-b (address on br-ex)\n`
    const stdout = `${shared}2 nodes: 1 egress IP on several nodes.\n`
    expect(agent('verify-reports', one, two)).toEqual({ status: 2, stdout, stderr: '' })
    writeFileSync(two, JSON.stringify({ ...other, held: [] }))
    expect(agent('verify-reports', one, two)).toEqual({ status: 0, stdout: '2 nodes: no egress IP is on several nodes.\n', stderr: '' })

    const object = join(node.folder, 'node.json')
    writeFileSync(object, JSON.stringify({ metadata: { annotations: { 'k8s.ovn.org/bridge-egress-ips': '["192.0.2.60"]' } } }))
    hands.ip(`addr add 192.0.2.60/32 dev ${BRIDGE}`)
    const broken = agent(...usual, '--node-object', object)
    hands.ip(`addr del 192.0.2.60/32 dev ${BRIDGE}`)
    expect(broken).toEqual({
      status: 2,
      stdout:
        '  stale      addresses  192.0.2.60/32 dev br-ex: the node answers for it; the node itself calls it an egress IP\nnode-a: does not do what its bundle says: 1 finding.\n',
      stderr: '',
    })
    expect(agent('verify-reports', one, join(node.folder, 'none'))).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('is not there'),
    })
  })

  it('is missing all that its interface has when that is down', async () => {
    hands.ip(`link set ${CARD} down`)
    const { exitCode, findings } = await found()
    hands.ip(`link set ${CARD} up`)
    expect(exitCode).toBe(2)
    expect(findings).toEqual(
      expect.arrayContaining([expect.stringMatching(/^missing rules .*: eth1, which has an address in .*, is down$/)]),
    )
  })
})

describeWith(['root', 'linux', 'ip', 'nft', 'ovs', 'iptables'], 'a host of a release up to v1.3.0', () => {
  let node: Node
  let hands: Hands
  beforeAll(() => {
    node = openNode('verify13')
    writeVerified(node.bundle, { ...CONTENT, mode: 'local' })
    hands = playOvnkube(node)
    hands.nft('delete table inet ovn-kubernetes')
    for (const [iptables, pod, egressIP] of FAMILIES) {
      hands.run(`${iptables} -t nat -N ${CHAIN}`)
      hands.run(`${iptables} -t nat -A POSTROUTING -j ${CHAIN}`)
      hands.run(`${iptables} -t nat -A ${CHAIN} -s ${pod} -o ${CARD} -j SNAT --to-source ${egressIP}`)
      hands.run(`${iptables} -t mangle -A PREROUTING -m mark --mark 1008 -j CONNMARK --save-mark`)
      hands.run(`${iptables} -t mangle -A PREROUTING -m mark --mark 0 -j CONNMARK --restore-mark`)
    }
    for (const family of ['-4', '-6']) hands.ip(`${family} rule add fwmark 0x3f0 priority 5999 table main`)
    hands.run('sysctl -qw net.ipv4.conf.all.src_valid_mark=1')
  })
  afterAll(() => node?.close())

  const FAMILIES = [
    ['iptables', POD.ipv4, SECONDARY.ipv4],
    ['ip6tables', POD.ipv6, SECONDARY.ipv6],
  ] as const
  const found = async () => {
    const { exitCode, findings, problems } = await verify({
      bundle: node.bundle,
      node: NODE,
      rundir: node.ovs.rundir,
      exec: { prefix: node.prefix },
    })
    return { exitCode, findings: findings.map(({ what, subsystem, key, says }) => `${what} ${subsystem} ${key}: ${says}`), problems }
  }
  const RIGHT = { exitCode: 0, findings: [], problems: [] }

  it('does what its bundle says in the form of its time', async () => {
    expect(await found()).toEqual(RIGHT)
  })

  it.each([
    [
      'a pod is not translated',
      `-t nat -D ${CHAIN} -s ${POD.ipv4} -o ${CARD} -j SNAT --to-source ${SECONDARY.ipv4}`,
      /^missing nftables 10\.244\.1\.3 through eth1 as 198\.51\.100\.50: no rule of the chain/,
    ],
    ['nothing leads to the chain', `-t nat -D POSTROUTING -j ${CHAIN}`, /^missing nftables jump from POSTROUTING \(IPv4\)/],
    [
      'marks are not kept',
      '-t mangle -D PREROUTING -m mark --mark 1008 -j CONNMARK --save-mark',
      /^missing nftables CONNMARK in PREROUTING \(IPv4\)/,
    ],
  ])('is told apart: %s', async (_, words, says) => {
    hands.run(`iptables ${words}`)
    const broken = await found()
    hands.run(`iptables ${words.replace(' -D ', ' -A ')}`)
    expect(broken).toEqual({ exitCode: 2, findings: [expect.stringMatching(says)], problems: [] })
    expect(await found()).toEqual(RIGHT)
  })

  it('is told apart: a pod that moved on is still translated', async () => {
    const rule = `${CHAIN} -s 10.244.9.9 -o ${CARD} -j SNAT --to-source 198.51.100.77`
    hands.run(`iptables -t nat -A ${rule}`)
    const broken = await found()
    hands.run(`iptables -t nat -D ${rule}`)
    expect(broken.findings).toEqual([
      'stale nftables 10.244.9.9 through eth1 as 198.51.100.77: the node translates to an address that it does not hold',
    ])
  })

  it('is told apart: the kernel does not look at marks', async () => {
    hands.run('sysctl -qw net.ipv4.conf.all.src_valid_mark=0')
    const broken = await found()
    hands.run('sysctl -qw net.ipv4.conf.all.src_valid_mark=1')
    expect(broken.findings).toEqual([expect.stringMatching(/^different rules 5999 .*: net\.ipv4\.conf\.all\.src_valid_mark is not 1$/)])
  })

  it('is not judged without a program that reads the chain', async () => {
    const bin = join(node.folder, 'bin')
    mkdirSync(bin)
    for (const name of ['nsenter', 'ip', 'nft', 'ovs-ofctl', 'sysctl']) symlinkSync(realpathSync(whereIs(name)), join(bin, name))
    const { exitCode, problems } = await verify({
      bundle: node.bundle,
      node: NODE,
      rundir: node.ovs.rundir,
      exec: { prefix: node.prefix, path: bin },
    })
    expect(exitCode).toBe(1)
    expect(problems).toMatchObject([{ code: 'MissingTool', message: expect.stringContaining(CHAIN) }])
  })
})
