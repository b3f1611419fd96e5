import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verify } from '../../src/agent/verify.js'
import { parseAddress } from '../../src/model/address.js'
import { describeWith } from '../requires.js'
import { BRIDGE, NODE } from './bundles.js'
import { type Node, openNode } from './node.js'
import { CARD, CHAIN, CONTENT, type Hands, POD, PRIMARY, playOvnkube, SECONDARY, writeVerified } from './ovnkube.js'
import { anew, FAULTS, MAP } from './ovnkube-faults.js'

const whereIs = (name: string): string =>
  ['/usr/sbin', '/usr/bin', '/sbin', '/bin'].map((folder) => join(folder, name)).find(existsSync) ?? name

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'agent', 'main.ts')

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

  it('has an address that ovnkube-node tagged, says a newer ip', async () => {
    const bin = join(node.folder, 'newer')
    mkdirSync(bin)
    const script = '#!/bin/sh\n/usr/sbin/ip "$@" | sed \'s/"local":"198.51.100.61"/&,"protocol":"85"/\'\n'
    writeFileSync(join(bin, 'ip'), script, { mode: 0o755 })
    hands.ip(`addr add 198.51.100.61/32 dev ${CARD}`)
    const exec = { prefix: node.prefix, path: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin` }
    const { findings } = await verify({ bundle: node.bundle, node: NODE, rundir: node.ovs.rundir, exec })
    hands.ip(`addr del 198.51.100.61/32 dev ${CARD}`)
    expect(findings).toMatchObject([{ what: 'stale', key: '198.51.100.61/32 dev eth1', says: expect.stringContaining('tagged') }])
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
      expect.arrayContaining([
        expect.stringMatching(/^missing rules .*: eth1, which has an address in .*, is down$/),
        expect.stringMatching(/^missing nftables 10\.244\.1\.3 through network\(198\.51\.100\.0\/24\) as 198\.51\.100\.50: eth1/),
      ]),
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
