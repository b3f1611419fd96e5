import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createExec } from '../../src/host/exec.js'
import { readFacts } from '../../src/host/facts.js'
import { factsObject, type HostFacts } from '../../src/model/host-facts.js'
import { HOST_FACTS_SCHEMA } from '../../src/model/host-facts-schema.js'
import { schemaCheck } from '../../src/model/schema.js'
import { cable, createNamespace, entering, type Namespace } from '../lab/netns.js'
import { describeWith } from '../requires.js'

describeWith(['root', 'linux', 'ip', 'nft', 'conntrack', 'arping', 'ndisc6', 'ndptool'], 'facts of a host', () => {
  let namespace: Namespace
  let peer: Namespace
  let facts: HostFacts
  const ip = (text: string) => namespace.exec('ip', text.split(' '))

  beforeAll(() => {
    namespace = createNamespace('facts')
    peer = createNamespace('facts-peer')
    for (const device of ['eth1', 'eth2.7', 'eth3']) cable({ namespace, device }, { namespace: peer, device })
    ip('address add 198.51.100.11/24 dev eth1')
    ip('address add 198.51.100.12/24 dev eth1')
    ip('address add 203.0.113.11/24 dev eth2.7 label eth2.7:vip')
    ip('address add 2001:db8:1::11/64 dev eth2.7 nodad')
    ip('address add 2001:db8:1::50/128 dev eth2.7 nodad preferred_lft 0')
    ip('link set eth2.7 up')
    ip('link set eth1 down')
    ip('rule add priority 100 from 10.128.0.0/14 lookup 77')
    ip('rule add priority 101 iif eth1 lookup 78')
    ip('rule add priority 102 fwmark 0x3f0 lookup main')
    ip('rule add priority 6000 from 10.128.0.5 lookup 1003 protocol 230')
    ip('-6 rule add priority 103 from all blackhole')
    ip('route add 10.1.0.0/16 dev eth2.7 table 1003')
    ip('route add 10.2.0.0/16 dev eth2.7 table 1003 protocol 230')
    ip('route add 10.3.0.0/16 dev eth2.7 table 77')
    ip('-6 route add 2001:db8:9::/48 dev eth2.7 table 1003')
    ip('neighbor add 203.0.113.1 lladdr 02:00:00:00:00:01 dev eth2.7 nud permanent')
    ip('neighbor add 203.0.113.2 lladdr 02:00:00:00:00:02 dev eth2.7 nud stale')
    namespace.exec('sysctl', ['-w', 'net.ipv4.conf.eth2/7.rp_filter=1', 'net.ipv4.ip_forward=0', 'net.ipv4.conf.eth1.forwarding=1'])
  })
  afterAll(() => {
    namespace.close()
    peer.close()
  })
  beforeEach(async () => {
    facts = await readFacts(createExec({ prefix: ['nsenter', ...entering(namespace.name)] }), 'node-a', '/nowhere')
  })

  it('are an object that its schema knows, and the same when they are read again', async () => {
    expect(schemaCheck(HOST_FACTS_SCHEMA)(factsObject(facts))).toEqual([])
    expect(await readFacts(createExec({ prefix: ['nsenter', ...entering(namespace.name)] }), 'node-a', '/nowhere')).toEqual(facts)
  })

  it('name interfaces with what their addresses are', () => {
    expect(facts.interfaces.map(({ index, ...rest }) => rest).sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      {
        name: 'eth1',
        up: false,
        addresses: [
          { address: '198.51.100.11/24', scope: 'global' },
          { address: '198.51.100.12/24', scope: 'global', secondary: true },
        ],
      },
      {
        name: 'eth2.7',
        up: true,
        addresses: expect.arrayContaining([
          { address: '203.0.113.11/24', scope: 'global', label: 'eth2.7:vip' },
          { address: '2001:db8:1::11/64', scope: 'global' },
          { address: '2001:db8:1::50/128', scope: 'global', deprecated: true },
        ]),
      },
    ])
  })

  it('have the parameters of the namespace and its interfaces, by the names of sysctl', () => {
    expect(facts.sysctls).toMatchObject({
      'net.ipv4.conf.eth2/7.rp_filter': 1,
      'net.ipv4.ip_forward': 0,
      'net.ipv4.conf.eth1.forwarding': 1,
      'net.ipv4.conf.eth2/7.forwarding': 0,
    })
    expect(Object.keys(facts.sysctls)).not.toContain('net.ipv4.conf.eth3.forwarding')
  })

  it('have rules and routes of others, and neither the kernel nor egretta is one', () => {
    expect(facts.rules).toEqual([
      { priority: 100, src: '10.128.0.0/14', table: 77 },
      { priority: 101, src: '0.0.0.0/0', iif: 'eth1', table: 78 },
      { priority: 102, src: '0.0.0.0/0', table: 254, conditional: true },
      { priority: 103, src: '::/0', table: null },
    ])
    expect(facts.routes).toEqual([
      { family: 'inet', table: 1003, dst: '10.1.0.0/16' },
      { family: 'inet6', table: 1003, dst: '2001:db8:9::/48' },
    ])
  })

  it('count neighbors that are not permanent', () => {
    expect(facts.neighbors.ipv4).toBe(1)
  })

  it('name the programs of this machine with their versions', () => {
    const version = (name: string) => facts.tools.find((tool) => tool.name === name)?.version
    for (const name of ['arping', 'conntrack', 'ip', 'ndisc6', 'nft']) expect(version(name), name).toMatch(/^\d[\d.]*$/)
    expect(version('ndptool')).toBeNull()
  })

  it('leave out programs that are not installed', async () => {
    const exec = createExec({ prefix: ['nsenter', ...entering(namespace.name)] })
    const without: typeof exec = (command, ...rest) =>
      exec(command === 'nft' || command === 'arping' ? 'egretta-nothing' : command, ...rest)
    const { tools } = await readFacts(without, 'node-a', '/nowhere')
    expect(tools.map(({ name }) => name)).not.toContain('nft')
    expect(tools.map(({ name }) => name)).toContain('ip')
  })
})
